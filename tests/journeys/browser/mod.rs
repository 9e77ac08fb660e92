//! Journeys in a real Chromium, with the page as the worker serves it.

mod chromium;
mod draw_and_run;
