//! Vital tasks: each has a name, and the worker ends when one of them panics, so that none dies unseen.
//!
//! A panic in a task is caught by the runtime and would otherwise only show where the task is awaited, which for a
//! task that lives as long as the worker is never. Short-lived tasks of one owner (connections, say) live in that
//! owner's `JoinSet` instead.

use std::future::Future;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Tells the composition root that a vital task is gone.
#[derive(Debug, Clone)]
pub(crate) struct Alarm(mpsc::Sender<&'static str>);

impl Alarm {
    /// An alarm, and where it is heard: the name of the first task that raised it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<&'static str>) {
        // One place is enough: the first alarm ends the worker, later ones add nothing.
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }
}

/// A running task. Dropping it lets the task go on.
#[derive(Debug)]
pub(crate) struct Task {
    name: &'static str,
    handle: JoinHandle<()>,
}

impl Task {
    /// Waits until it has ended, however it ended.
    pub(crate) async fn ended(self) {
        if let Err(error) = self.handle.await {
            tracing::debug!(task = self.name, %error, "task did not end by itself");
        }
    }
}

/// Starts a task that the worker cannot go on without.
pub(crate) fn spawn_vital(name: &'static str, alarm: Alarm, work: impl Future<Output = ()> + Send + 'static) -> Task {
    let guard = PanicGuard { name, alarm };
    let handle = tokio::spawn(async move {
        let guard = guard;
        work.await;
        drop(guard);
    });
    Task { name, handle }
}

/// Dropped while its task unwinds, it raises the alarm.
struct PanicGuard {
    name: &'static str,
    alarm: Alarm,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        tracing::error!(task = self.name, "task panicked");
        // Full means that an alarm is already on its way.
        let _raised = self.alarm.0.try_send(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_vital_task_that_panics_raises_the_alarm() {
        let (alarm, mut heard) = Alarm::new();
        spawn_vital("doomed", alarm.clone(), async { panic!("as meant") }).ended().await;
        assert_eq!(heard.recv().await, Some("doomed"));
        spawn_vital("fine", alarm, async {}).ended().await;
        assert_eq!(heard.recv().await, None);
    }
}
