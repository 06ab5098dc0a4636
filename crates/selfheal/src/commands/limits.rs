//! `selfheal limits`: in plain words, what selfheal protects and what not.

use super::{Ended, print};
use crate::exit_code;

const LIMITS: &str = include_str!("limits.txt");

/// Prints them.
///
/// # Errors
/// Never.
pub fn run() -> Ended {
    print(LIMITS);
    Ok(exit_code::OK)
}
