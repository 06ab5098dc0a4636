//! Failpoints: named places at which a test ends the process, to see that a crash there does no harm.
//!
//! A program that is built for tests registers what happens at them; in a release build there is nothing to register with
//! and nothing to reach.

#[cfg(debug_assertions)]
static HOOK: std::sync::OnceLock<fn(&str)> = std::sync::OnceLock::new();

/// Says what happens at a failpoint. The first word counts.
#[cfg(debug_assertions)]
pub fn register(hook: fn(&str)) {
    let _ = HOOK.set(hook);
}

/// The process is at a failpoint.
#[inline]
pub fn hit(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(hook) = HOOK.get() {
        hook(name);
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}
