//! Waiting for a lock that is about to be free.
//!
//! A process that is being started holds copies of its parent's descriptors, and so of its locks, until its `exec`
//! closes them. When the worker is killed in that moment, or opens its store again, the lock is still taken although
//! nobody works under it. This knows nothing of what is locked.

use std::thread;
use std::time::{Duration, Instant};

/// How long it is waited for: an `exec` takes under a millisecond, on a machine that has no time for it much longer.
const LONGEST: Duration = Duration::from_millis(500);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Tries until the answer is none of those that may pass by themselves, or until the patience is at its end.
pub(crate) fn try_while<T, E>(
    may_pass: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let deadline = Instant::now() + LONGEST;
    loop {
        match attempt() {
            Err(error) if may_pass(&error) && Instant::now() < deadline => thread::sleep(PAUSE),
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_waited_for_and_nothing_else() {
        let mut answers = vec![Ok(3), Err("held"), Err("held")];
        assert_eq!(try_while(|error| *error == "held", || answers.pop().unwrap()), Ok(3));
        let mut answers = vec![Ok(3), Err("broken"), Err("held")];
        assert_eq!(try_while(|error| *error == "held", || answers.pop().unwrap()), Err("broken"));
        assert_eq!(answers, [Ok(3)]);
    }

    #[test]
    fn patience_has_an_end() {
        assert_eq!(try_while(|_| true, || Err::<(), _>("held")), Err("held"));
    }
}
