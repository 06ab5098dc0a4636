//! The hidden commands: words that the program gives itself when it starts its own executable again.

use std::ffi::OsString;

use crate::{boxes, supervise};

/// Supervises one real run.
pub(crate) const SUPERVISE: &str = "__supervise";

/// Builds one box and runs one job in it.
pub(crate) const BOX: &str = "__box";

/// Does the work of a hidden command and returns its exit code, when the first argument is one of our hidden words.
///
/// The program calls it before anything else, with its arguments after its own name. For all other words it is a
/// comparison and nothing more.
#[must_use]
pub fn hidden_command(args: &[OsString]) -> Option<i32> {
    let (word, rest) = args.split_first()?;
    match word.to_str()? {
        SUPERVISE => Some(supervise::main(rest)),
        BOX => Some(boxes::hidden_box()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_none_of_ours() {
        for args in [&[][..], &["run"], &["--help"], &["__Supervise"]] {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(hidden_command(&args), None);
        }
    }
}
