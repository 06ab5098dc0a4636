//! Work that may never end, on a thread of its own, with an end for whoever waits for it.
//!
//! Work that is begun inside of such work is done where it is: one limit counts for all of it, and nothing is handed from
//! thread to thread for every short text.
//!
//! A thread cannot be stopped from outside, so one that does not end in time is left alone and counted. With `MAX_LEFT`
//! of them nothing more is begun: what is made to be slow is refused instead of taking every processor.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How many threads may be left alone at once.
const MAX_LEFT: usize = 2;

/// The stack of a thread, in bytes: as much as the first thread of a program has.
const STACK: usize = 8 << 20;

/// How many threads were left alone and still run.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// A piece of work.
type Work = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The thread that works for this one: starting one for each text costs more than most texts.
    static WORKER: Cell<Option<mpsc::Sender<Work>>> = const { Cell::new(None) };
    /// Whether this is such a thread.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is already a thread that somebody watches.
#[must_use]
pub fn is_watched() -> bool {
    WATCHED.get()
}

/// The result of some work, or nothing when it takes longer than a limit, panics, or too much was left alone already.
pub fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if is_watched() {
        return Some(work());
    }
    counted(&LEFT, limit, work)
}

/// The same, with the count of those that were left alone.
fn counted<T: Send + 'static>(
    left: &'static AtomicUsize,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if left.load(Ordering::SeqCst) >= MAX_LEFT {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    // Set by whoever comes first: the work that ends, or the one that waits no longer.
    let settled = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&settled);
    let worker = WORKER.take().or_else(start)?;
    let sent = worker.send(Box::new(move || {
        let result = work();
        // Nobody waits any more when this fails.
        let _ = sender.send(result);
        if own.swap(true, Ordering::SeqCst) {
            left.fetch_sub(1, Ordering::SeqCst);
        }
    }));
    sent.ok()?;
    let result = receiver.recv_timeout(limit);
    if let Err(mpsc::RecvTimeoutError::Timeout) = result {
        left.fetch_add(1, Ordering::SeqCst);
        if settled.swap(true, Ordering::SeqCst) {
            left.fetch_sub(1, Ordering::SeqCst);
            return receiver.try_recv().ok();
        }
    }
    // One that panicked or is left alone takes no more work.
    if result.is_ok() {
        WORKER.set(Some(worker));
    }
    result.ok()
}

/// Starts a thread that does one piece of work after the other, as long as somebody can send it some.
fn start() -> Option<mpsc::Sender<Work>> {
    let (sender, receiver) = mpsc::channel::<Work>();
    let thread = std::thread::Builder::new().name("parser".to_owned()).stack_size(STACK);
    let run = move || {
        WATCHED.set(true);
        receiver.into_iter().for_each(|work| work());
    };
    thread.spawn(run).ok()?;
    Some(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_end_is_left_alone_and_work_that_does_gives_its_result() {
        static OWN: AtomicUsize = AtomicUsize::new(0);
        let forever = Duration::from_secs(3_600);
        let (sender, receiver) = mpsc::channel::<()>();
        assert_eq!(counted(&OWN, Duration::from_millis(1), move || receiver.recv().is_ok()), None);
        assert_eq!(counted(&OWN, forever, || 7), Some(7));
        let (other, receiver) = mpsc::channel::<()>();
        assert_eq!(counted(&OWN, Duration::from_millis(1), move || receiver.recv().is_ok()), None);
        assert_eq!(counted(&OWN, forever, || 7), None, "too many are left alone");
        // What was left alone and ends later no longer counts.
        drop((sender, other));
        while OWN.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        assert_eq!(counted(&OWN, forever, || 7), Some(7));
    }
}
