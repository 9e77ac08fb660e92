//! Journeys through the whole of Weir: each test is a story that a user could tell.

#![expect(clippy::unwrap_used, reason = "in a test an unexpected error should panic where it is met")]

mod as_it_was_shown;
mod bodies;
mod browser;
mod cancelling;
mod closed_objects;
mod command_line;
mod conflicts;
mod crashes;
mod curl;
mod deadlines;
mod described;
mod fixtures;
mod foreign_pages;
mod forgetting;
mod full_disk;
mod joins;
mod live_output;
mod many_clients;
mod owners;
mod publishing;
mod queue;
mod restarts;
mod resuming;
mod samples;
mod saving_by_rename;
mod schedules;
mod secrets;
mod service;
mod soak;
mod webhooks;
mod without_a_worker;
