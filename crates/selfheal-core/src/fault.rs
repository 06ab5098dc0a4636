//! What went wrong, in one vocabulary for all languages: parsers write it, rules read it.
//!
//! A `cp: cannot stat 'x'`, a Python `FileNotFoundError` and a node `ENOENT` are all [`Fault::NoSuchPath`], so that a
//! rule never has to read a message again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing that went wrong, with the words that tell it from others of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// A path that something wanted to use does not exist (ENOENT). As written in the message, not resolved.
    NoSuchPath {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// A component of a path is not a directory (ENOTDIR).
    NotADirectory {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// A directory stands where a file was wanted (EISDIR).
    IsADirectory {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Something exists that must not (EEXIST).
    PathExists {
        /// The path.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// Access was refused (EACCES, EPERM).
    PermissionDenied {
        /// The path, if the message names one.
        #[serde(with = "crate::path_text::option", default)]
        path: Option<PathBuf>,
    },
    /// A file was started that lacks its execute bit.
    NotExecutable {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
    },
    /// The interpreter that a script's first line names does not exist.
    BadInterpreter {
        /// The script.
        #[serde(with = "crate::path_text")]
        script: PathBuf,
        /// What its first line names, with a trailing `^M` kept as `\r`.
        interpreter: String,
    },
    /// A command is not on the PATH.
    CommandNotFound {
        /// Its name as written; may be a path.
        name: String,
    },
    /// A variable that the job needs is not set (`set -u`, `${X:?}`).
    UnsetVariable {
        /// Its name.
        name: String,
    },
    /// The program text does not parse.
    Syntax {
        /// The token that the parser stopped at, if it says so.
        near: Option<String>,
        /// The message.
        message: String,
    },
    /// Text of one dialect was run by the interpreter of another (bash by sh).
    Dialect {
        /// What the interpreter did not understand.
        construct: String,
    },
    /// Line ends of another system (CRLF) got into words.
    CarriageReturn {
        /// The file that holds them, if known.
        #[serde(with = "crate::path_text::option", default)]
        path: Option<PathBuf>,
    },
    /// A file-name pattern matched nothing and was used as a name.
    UnmatchedGlob {
        /// The pattern as the command got it.
        pattern: String,
    },
    /// A module or package cannot be found.
    MissingModule {
        /// Its name.
        name: String,
    },
    /// A module exists but lacks a name (`cannot import name`, `has no attribute`, `is not a function`).
    MissingName {
        /// The module or type.
        owner: String,
        /// The name.
        name: String,
    },
    /// A name is not defined in the program.
    UndefinedName {
        /// The name.
        name: String,
    },
    /// A key is not in a mapping.
    KeyMissing {
        /// The key.
        key: String,
    },
    /// An index is out of range, or there are too few or too many fields.
    IndexOutOfRange {
        /// The message.
        message: String,
    },
    /// A value has the wrong type (bytes for text, naive for aware time).
    WrongType {
        /// The message.
        message: String,
    },
    /// A value cannot be read as what it should be (a number, a date).
    BadValue {
        /// The value, if the message shows it.
        value: Option<String>,
        /// The message.
        message: String,
    },
    /// Bytes are not valid in the encoding that they were read with.
    Encoding {
        /// The encoding that failed.
        codec: String,
    },
    /// A tool does not know an option (any more).
    UnknownOption {
        /// The tool.
        command: String,
        /// The option.
        option: String,
    },
    /// Input that must be in order is not (`comm`, `join`).
    NotSorted {
        /// The input, if named.
        #[serde(with = "crate::path_text::option", default)]
        path: Option<PathBuf>,
    },
    /// A database lacks a table, column or other object.
    NoSuchObject {
        /// `table`, `column`, …
        kind: String,
        /// Its name.
        name: String,
    },
    /// A name in a repository or service does not exist (branch, ref, remote, unit, container).
    NoSuchReference {
        /// The name.
        name: String,
    },
    /// Two things that must agree do not (checksums, counts).
    Mismatch {
        /// The message.
        message: String,
    },
    /// Another process holds a lock, or a lock file is in the way.
    LockHeld {
        /// The lock file, if named.
        #[serde(with = "crate::path_text::option", default)]
        path: Option<PathBuf>,
        /// The process that it names, if any.
        pid: Option<u32>,
    },
    /// A network operation failed.
    Network {
        /// What failed: `refused`, `timeout`, `reset`, `resolve`, `unreachable`, `tls`.
        how: String,
        /// The host or address, if named.
        host: Option<String>,
    },
    /// A server answered with an error status.
    HttpStatus {
        /// The status code.
        code: u16,
        /// Seconds that the server asks to wait.
        retry_after_s: Option<u64>,
    },
    /// No space, quota or inodes left.
    NoSpace {
        /// The path, if named.
        #[serde(with = "crate::path_text::option", default)]
        path: Option<PathBuf>,
    },
    /// Memory ran out, or the kernel ended the process for it.
    OutOfMemory,
    /// The device failed or is read-only (EIO, EROFS).
    DeviceError {
        /// The message.
        message: String,
    },
    /// A program waited for a terminal or a password.
    NeedsTerminal,
    /// A command ended with an exit code and said nothing.
    SilentExit {
        /// The code.
        code: i32,
    },
    /// The job ended well, and what it should have done is not there.
    Unfulfilled {
        /// What is not there.
        message: String,
    },
    /// The deadline hit.
    TimedOut,
    /// Something with a message that no parser knows.
    Other {
        /// The message.
        message: String,
    },
}

impl Fault {
    /// The path, name, option, host or value that it is about, for sentences; `None` where it names nothing.
    #[must_use]
    pub fn subject(&self) -> Option<String> {
        let path = |path: &PathBuf| path.display().to_string();
        let text = match self {
            Self::NoSuchPath { path: it }
            | Self::NotADirectory { path: it }
            | Self::IsADirectory { path: it }
            | Self::PathExists { path: it }
            | Self::NotExecutable { path: it } => path(it),
            Self::PermissionDenied { path: it }
            | Self::CarriageReturn { path: it }
            | Self::NotSorted { path: it }
            | Self::LockHeld { path: it, .. }
            | Self::NoSpace { path: it } => path(it.as_ref()?),
            Self::BadInterpreter { script, interpreter } if interpreter.is_empty() => path(script),
            Self::BadInterpreter { interpreter, .. } => interpreter.trim_end().to_owned(),
            Self::CommandNotFound { name }
            | Self::UnsetVariable { name }
            | Self::MissingModule { name }
            | Self::MissingName { name, .. }
            | Self::UndefinedName { name }
            | Self::NoSuchReference { name } => name.clone(),
            Self::NoSuchObject { kind, name } => format!("{kind} {name}"),
            Self::KeyMissing { key } => key.clone(),
            Self::Dialect { construct } => construct.clone(),
            Self::UnmatchedGlob { pattern } => pattern.clone(),
            Self::UnknownOption { option, .. } => option.clone(),
            Self::Encoding { codec } => codec.clone(),
            Self::Network { host, .. } => host.clone()?,
            Self::BadValue { value, .. } => value.clone()?,
            Self::Syntax { near, .. } => near.clone()?,
            Self::IndexOutOfRange { .. }
            | Self::WrongType { .. }
            | Self::Mismatch { .. }
            | Self::HttpStatus { .. }
            | Self::OutOfMemory
            | Self::DeviceError { .. }
            | Self::NeedsTerminal
            | Self::SilentExit { .. }
            | Self::TimedOut
            | Self::Unfulfilled { .. }
            | Self::Other { .. } => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// The tool that it is about, where it names one.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::UnknownOption { command, .. } => {
                Some(command.as_str()).filter(|command| !command.is_empty())
            }
            _ => None,
        }
    }
}
