//! Reading what is checked: files, and standard input for `-`.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selfheal_syntax::{Language, language, tree::MAX_BYTES};

use crate::command_error::CommandError;

/// One text to check.
pub struct Source {
    /// As it was named; `-` is standard input.
    pub file: PathBuf,
    /// Its text; `None` when it is too large or no text.
    pub text: Option<String>,
    /// Whether its bytes are UTF-8.
    pub utf8: bool,
    /// Permission bits and owner, of a file that has a name.
    pub facts: Option<(u32, u32)>,
    large: bool,
}

impl Source {
    /// Reads a file, or standard input for `-`; never more than can be judged.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(file: &Path) -> Result<Self, CommandError> {
        let most = MAX_BYTES as u64 + 1;
        let mut bytes = Vec::new();
        let done = if file == Path::new("-") {
            std::io::stdin().lock().take(most).read_to_end(&mut bytes)
        } else {
            std::fs::File::open(file).and_then(|open| open.take(most).read_to_end(&mut bytes))
        };
        done.map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::IsADirectory => "name its files, as in selfheal check DIR/*.sh",
                std::io::ErrorKind::NotFound => "name a file that is there, or - for standard input",
                _ => "see that it can be read",
            };
            CommandError::new(format!("failed to read {}", file.display())).because(&error).hint(hint)
        })?;
        let large = bytes.len() > MAX_BYTES;
        let is_text = !large && !bytes.contains(&0);
        let utf8 = std::str::from_utf8(&bytes).is_ok();
        // Scripts in Latin-1 are judged too: what is not UTF-8 stands in comments and messages.
        let text = is_text.then(|| {
            String::from_utf8(bytes)
                .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
        });
        let facts = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file);
        let facts = facts.map(|facts| (facts.mode() & 0o7777, facts.uid()));
        Ok(Self { file: file.to_owned(), text, utf8, facts, large })
    }

    /// Why there is no text.
    pub fn reason(&self) -> &'static str {
        if self.large { "it is too large to be judged" } else { "it is not text, so it cannot be judged" }
    }

    /// The language: as given, by first line, by name. `None` for a file of many that is no script.
    ///
    /// # Errors
    /// When it is the only one and nobody knows its language.
    pub fn language(&self, given: Option<Language>, many: bool) -> Result<Option<Language>, CommandError> {
        let first = self.text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
        match given.unwrap_or_else(|| Language::of(&self.file, first, None)) {
            Language::Other if many && language::interpreter_of(first).is_none() => Ok(None),
            Language::Other if self.text.is_none() => Ok(Some(Language::Other)),
            Language::Other => {
                Err(CommandError::usage(format!("{}: its language is not known", self.file.display()))
                    .hint("say it with --language bash|python|perl|node|ruby|sql|make|yaml|docker"))
            }
            known => Ok(Some(known)),
        }
    }
}
