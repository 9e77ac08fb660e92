//! The API through a real server on a free port, with a client that sends exactly what it is told.

mod client;
mod described;
mod door;
mod foreign_pages;
mod hook;
mod library;
mod plugins;
mod runs;
mod schedules;
mod server;
mod session;
mod tasks;
mod webhook_triggers;
mod webhooks;
