//! Several boxes at once over the same tree.

use selfheal_core::ports::{BoxOrder, BoxedRun, Boxes};

/// Boxes that run at once at most: more would only take each other's time.
const AT_ONCE: usize = 4;

/// How many boxes run at once here.
#[must_use]
pub(super) fn width() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(AT_ONCE)
}

/// Runs all orders, as many at once as the machine has processors for; `None` where there is no order or it could not run.
pub(super) fn run_all(boxes: &(dyn Boxes + Sync), orders: &[Option<BoxOrder>]) -> Vec<Option<BoxedRun>> {
    let mut out = Vec::with_capacity(orders.len());
    for some in orders.chunks(width()) {
        out.extend(std::thread::scope(|scope| {
            let running: Vec<_> =
                some.iter().map(|order| scope.spawn(move || boxes.run(order.as_ref()?).ok())).collect();
            running.into_iter().map(|run| run.join().ok().flatten()).collect::<Vec<_>>()
        }));
    }
    out
}
