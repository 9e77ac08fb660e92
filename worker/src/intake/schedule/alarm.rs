//! Rings at a moment of the wall clock: one timer of the kernel, which also ends when the machine comes back from a
//! suspend past that moment, and when somebody sets the clock. Nothing polls.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use weir_shared::ids::Timestamp;

use crate::process::watch;

/// The timer.
#[derive(Debug)]
pub(super) struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// A timer that is not set. Needs the runtime.
    pub(super) fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self(watch(timer)?))
    }

    /// Sets it to a moment, or to none. `now` is what the worker takes for now; the timer runs by the kernel's clock.
    pub(super) fn set(&self, at: Option<Timestamp>, now: Timestamp) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let Some(at) = at else {
            let never = Itimerspec { it_interval: zero, it_value: zero };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &never)?;
            return Ok(());
        };
        let kernel = clock_gettime(ClockId::Realtime);
        let wait = at.0.saturating_sub(now.0).max(0);
        let nanoseconds = kernel.tv_nsec + wait % 1_000 * 1_000_000;
        let value = Timespec {
            tv_sec: kernel.tv_sec + wait / 1_000 + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000,
        };
        let once = Itimerspec { it_interval: zero, it_value: value };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET, &once)?;
        Ok(())
    }

    /// Returns when the moment has come or the clock was set. May return for no reason.
    pub(super) async fn rings(&self) -> io::Result<()> {
        let mut guard = self.0.readable().await?;
        // What is read is how often it rang; an error tells that the clock was set. Either way: look again.
        let _count = rustix::io::read(self.0.get_ref(), &mut [0; 8]);
        guard.clear_ready();
        Ok(())
    }
}
