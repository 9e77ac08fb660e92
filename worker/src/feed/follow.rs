//! Following a run: the journal from where the follower left off, then the feed, without a gap or a repeat.
//!
//! A follower that falls behind the feed is sent back to the journal, so it never slows the run. Frames without an id
//! (output) may be missed; events never.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use weir_shared::ids::{RunId, Seq};
use weir_shared::plan::Plan;
use weir_shared::run::event::{Event, Recorded};
use weir_shared::tool::Catalog;

use super::wire::{Frame, Schemas};
use crate::shutdown::{ShutdownWatch, Stage};
use crate::store::Store;

/// Events read from the journal at a time.
const PAGE: usize = 256;

/// A follower's place.
pub(crate) struct Follower {
    store: Store,
    catalog: Arc<Catalog>,
    shutdown: ShutdownWatch,
    run: RunId,
    plan: Option<Arc<Plan>>,
    /// The last event that was given out.
    last: Seq,
    /// Frames to give out next.
    ready: VecDeque<Frame>,
    feed: Option<Receiver<Frame>>,
    /// Output to give out once the journal has been read.
    recent: Vec<Frame>,
    journal_is_ahead: bool,
    over: bool,
}

impl Follower {
    /// Follows `run` from after `last`; `feed` is what a live run's feed gave, taken before the journal is read.
    pub(crate) fn new(
        store: Store,
        catalog: Arc<Catalog>,
        shutdown: ShutdownWatch,
        (run, last): (RunId, Seq),
        feed: Option<(Receiver<Frame>, Vec<Frame>)>,
    ) -> Self {
        let (feed, recent) = feed.unzip();
        Self {
            store,
            catalog,
            shutdown,
            run,
            plan: None,
            last,
            ready: VecDeque::new(),
            feed,
            recent: recent.unwrap_or_default(),
            journal_is_ahead: true,
            over: false,
        }
    }

    /// The frames. Ends after the terminal event, and when the worker ends.
    pub(crate) fn frames(self) -> impl Stream<Item = Frame> + Send + 'static {
        stream::unfold(self, |mut follower| async move { follower.next().await.map(|frame| (frame, follower)) })
    }

    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                self.over |= frame.is_terminal();
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if self.journal_is_ahead {
                self.read_journal()?;
                continue;
            }
            let feed = self.feed.as_mut()?;
            let received = tokio::select! {
                received = feed.recv() => received,
                () = self.shutdown.reached(Stage::Draining) => return None,
            };
            match received {
                Ok(frame) => self.take(frame),
                // Behind, or the run is over: the journal has the rest.
                Err(RecvError::Lagged(_)) => self.journal_is_ahead = true,
                Err(RecvError::Closed) => {
                    self.feed = None;
                    self.journal_is_ahead = true;
                }
            }
        }
    }

    /// Takes a frame of the feed: what was given out before is dropped, a gap is read from the journal.
    fn take(&mut self, frame: Frame) {
        match frame.id {
            None => self.ready.push_back(frame),
            Some(seq) if seq <= self.last => {}
            Some(seq) if seq == self.last.next() => {
                self.last = seq;
                self.ready.push_back(frame);
            }
            Some(_) => self.journal_is_ahead = true,
        }
    }

    /// Reads on in the journal. `None` when it cannot be read: the stream ends, and the client asks again.
    fn read_journal(&mut self) -> Option<()> {
        let events = self.store.events(&self.run, self.last, PAGE).inspect_err(|error| {
            tracing::warn!(run = %self.run, %error, "a stream ends: the journal cannot be read");
        });
        let events = events.ok()?;
        self.journal_is_ahead = events.len() == PAGE;
        for recorded in &events {
            self.last = recorded.seq;
            let frame = self.frame(recorded);
            self.ready.push_back(frame);
        }
        if !self.journal_is_ahead {
            self.ready.extend(self.recent.drain(..));
        }
        Some(())
    }

    fn frame(&mut self, recorded: &Recorded) -> Frame {
        if let Event::PlanReady(plan) = &recorded.event {
            self.plan = Some(plan.clone());
        }
        if self.plan.is_none() && recorded.seq > Seq(2) {
            self.plan = self.find_plan();
        }
        Schemas { catalog: &self.catalog, plan: self.plan.as_deref() }.frame(recorded)
    }

    /// The plan of a run that is followed from its middle, for masking: it stands near the journal's beginning.
    fn find_plan(&self) -> Option<Arc<Plan>> {
        let events = self.store.events(&self.run, Seq(0), 16).ok()?;
        events.into_iter().rev().find_map(|recorded| match recorded.event {
            Event::PlanReady(plan) => Some(plan),
            _ => None,
        })
    }
}
