//! Complaints of common tools that no table knows: `TOOL: message`. Who is called wrongly or gets what it cannot use says
//! so in its own words; that it is the call or the input is known all the same.

use selfheal_core::outcome::Class;

use super::{Found, Line};

/// Tools that end at once over what they are given: coreutils, findutils, and their like.
const TOOLS: [&str; 76] = [
    "awk", "base64", "basename", "bc", "bunzip2", "bzip2", "cat", "chgrp", "chmod", "chown", "cmp", "comm",
    "cp", "csplit", "cut", "date", "dd", "df", "diff", "dirname", "du", "env", "expand", "expr", "file",
    "find", "fold", "gawk", "grep", "gunzip", "gzip", "head", "iconv", "install", "join", "jq", "ln", "ls",
    "mawk", "mkdir", "mkfifo", "mktemp", "mount", "mv", "nl", "numfmt", "od", "paste", "patch", "printf",
    "readlink", "realpath", "rm", "rmdir", "sed", "seq", "shuf", "sort", "split", "stat", "tac", "tail",
    "tee", "touch", "tr", "truncate", "tsort", "umount", "uniq", "unzip", "wc", "xargs", "xmllint", "xz",
    "zip", "zstd",
];

/// The weight of such a complaint: more than a line that only sounds like an error, less than one with a place.
const WEIGHT: u8 = 24;

/// Reads a complaint of a common tool.
pub fn line(line: &Line<'_>) -> Option<Found> {
    let (tool, message) = line.rest.split_once(": ")?;
    let base = tool.rsplit('/').next().unwrap_or(tool);
    (TOOLS.contains(&base) && !message.trim().is_empty())
        .then(|| Found { weight: WEIGHT, ..Found::plain(Class::Logic, line) })
}

#[cfg(test)]
mod tests {
    use selfheal_core::outcome::Class;

    #[test]
    fn a_common_tool_that_complains_was_called_wrongly() {
        let found = super::super::read_text(
            "cut: fields are numbered from 1\nTry 'cut --help' for more information.\n",
        );
        assert_eq!(found[0].class, Some(Class::Logic));
        assert_eq!(found[0].tool.as_deref(), Some("cut"));
        let strange = super::super::read_text("frobnicate: fields are bad\n");
        assert!(strange.iter().all(|found| found.class.is_none()));
    }
}
