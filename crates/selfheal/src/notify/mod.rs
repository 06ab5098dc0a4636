//! Who is told, and how: the channels of the settings, the delivery of what waits in the outbox, and a test of them.
//!
//! Theory of operation: every message is in the outbox before anybody is told, so a crash loses none. A delivery hands
//! what is new to all channels, then sends each channel what is due for it as one message, in a thread of its own and
//! within a limit. A channel that took something rests for `[notify] pause`; one that did not is tried again later and
//! later, and what it never takes is given up and told by `doctor` and `incidents`.

mod channels;
mod deliver;
mod secret;

pub use channels::{Channel, channels, host, secret_files};
pub use deliver::{at_end, in_tick, time_at_end};
