//! Admission: the judgement on a proposal before anything of it runs.
//!
//! [`admit`] looks at every changed file: whether it may be touched at all ([`scope`]), whether the change hides the
//! failure ([`masking`]), whether it can do harm that the original could not do ([`danger`]), whether it still parses, and
//! how large and how near to the failure it is ([`size`]). [`circumstance`] says when a file is held whatever the repair
//! is. Everything is a function of text and of a read-only look at the machine; what cannot be judged is held, never
//! allowed.
#![forbid(unsafe_code)]

mod admit;
pub mod circumstance;
pub mod danger;
mod evidence;
mod finding;
mod leads;
pub mod masking;
mod minimal;
mod packages;
pub mod policy;
pub mod scope;
pub mod size;

pub use admit::{AdmitInput, admit, judge_change};
pub use circumstance::{Surroundings, circumstances};
pub use danger::{Operation, danger_of};
pub use masking::masking_of;
pub use policy::Policy;
