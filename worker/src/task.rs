//! Tasks with a name and a policy, so that none dies unseen.
//!
//! A panic in a task is caught by the runtime and would otherwise only show where the task is awaited, which for a
//! task that lives as long as the worker is never. Short-lived tasks of one owner (connections, say) live in that
//! owner's `JoinSet` instead.

use std::future::Future;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What a task's panic means.
#[derive(Debug, Clone)]
pub(crate) enum Policy {
    /// The worker cannot go on without it: it is told and ends.
    Vital(Alarm),
    /// The worker goes on; the panic is logged.
    Spare,
}

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

/// Starts a task.
pub(crate) fn spawn(name: &'static str, policy: Policy, work: impl Future<Output = ()> + Send + 'static) -> Task {
    let guard = PanicGuard { name, policy };
    let handle = tokio::spawn(async move {
        let guard = guard;
        work.await;
        drop(guard);
    });
    Task { name, handle }
}

/// Dropped while its task unwinds, it applies the policy.
struct PanicGuard {
    name: &'static str,
    policy: Policy,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        tracing::error!(task = self.name, "task panicked");
        match &self.policy {
            // Full means that an alarm is already on its way.
            Policy::Vital(alarm) => drop(alarm.0.try_send(self.name)),
            Policy::Spare => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_vital_task_that_panics_raises_the_alarm() {
        let (alarm, mut heard) = Alarm::new();
        spawn("doomed", Policy::Vital(alarm.clone()), async { panic!("as meant") }).ended().await;
        assert_eq!(heard.recv().await, Some("doomed"));
        spawn("fine", Policy::Vital(alarm), async {}).ended().await;
        spawn("spare", Policy::Spare, async { panic!("as meant") }).ended().await;
        assert_eq!(heard.recv().await, None);
    }
}
