//! Profiles: what the exit codes of commands mean.
//!
//! The knowledge is in the TOML files of this folder, one a topic, embedded in the program and read at the first run
//! that did not end with 0: a run that succeeded parses nothing. Users add their own in the same form, and theirs come
//! first. [`Profiles::interpret`] looks at how the run ended, then at the profile of the command behind its wrappers,
//! then at what a script says of its own exit codes.

pub mod documented;
mod meaning;
mod table;

use std::ffi::OsString;
use std::sync::OnceLock;

use selfheal_core::outcome::Outcome;
use selfheal_core::run::Run;
use selfheal_core::trace::Trace;

use table::Profile;
pub use table::ProfileError;

/// The shipped tables: name and content.
const SHIPPED: [(&str, &str); 8] = [
    ("archives.toml", include_str!("archives.toml")),
    ("containers.toml", include_str!("containers.toml")),
    ("databases.toml", include_str!("databases.toml")),
    ("development.toml", include_str!("development.toml")),
    ("files.toml", include_str!("files.toml")),
    ("network.toml", include_str!("network.toml")),
    ("system.toml", include_str!("system.toml")),
    ("text.toml", include_str!("text.toml")),
];

/// What the exit codes of commands mean: the shipped tables and the user's.
#[derive(Debug, Default)]
pub struct Profiles {
    user: Vec<Profile>,
    shipped: OnceLock<Vec<Profile>>,
}

/// A run, and what is known about it that bears on its meaning.
#[derive(Clone, Copy, Debug)]
pub struct InterpretInput<'a> {
    /// The command as it was run.
    pub argv: &'a [OsString],
    /// How it ended and what it printed.
    pub run: &'a Run,
    /// The text of the script behind the command, if there is one.
    pub script: Option<&'a str>,
    /// What a probe saw of a run that ended the same way, if there was one.
    pub trace: Option<&'a Trace>,
}

impl Profiles {
    /// The shipped profiles. Nothing is read before the first run that did not end with 0.
    #[must_use]
    pub fn builtin() -> Self {
        Self::default()
    }

    /// The shipped profiles with the user's before them.
    ///
    /// # Errors
    /// When the text is no table of profiles, or one of its examples does not hold; the error names file and line.
    pub fn with_user(toml_text: &str, file_name: &str) -> Result<Self, ProfileError> {
        let user = table::read(toml_text, file_name)?;
        let profiles = Self { user, ..Self::default() };
        profiles.check_examples(&profiles.user, file_name)?;
        Ok(profiles)
    }

    /// What a run means.
    #[must_use]
    pub fn interpret(&self, input: &InterpretInput<'_>) -> Outcome {
        meaning::interpret(self, input)
    }

    /// What an exit code of a command means by its profile alone, as far as its output does not matter.
    #[must_use]
    pub fn interpret_code(&self, argv: &[OsString], code: i32) -> Outcome {
        meaning::by_code(self, argv, code)
    }

    /// The names of all commands that have a profile, sorted.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all().flat_map(|profile| profile.command.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn all(&self) -> impl Iterator<Item = &Profile> {
        self.user.iter().chain(self.shipped.get_or_init(shipped))
    }

    fn check_examples(&self, profiles: &[Profile], file: &str) -> Result<(), ProfileError> {
        profiles
            .iter()
            .flat_map(|profile| &profile.examples)
            .find_map(|example| meaning::contradiction(self, example))
            .map_or(Ok(()), |what| Err(ProfileError::example(file, &what)))
    }
}

/// Reads the shipped tables. They are checked by tests; a table that could not be read would only leave its commands
/// without a profile.
fn shipped() -> Vec<Profile> {
    SHIPPED.iter().filter_map(|(name, text)| table::read(text, name).ok()).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_table_is_good_and_its_examples_hold() {
        let profiles = Profiles::builtin();
        for (name, text) in SHIPPED {
            let table = table::read(text, name).unwrap();
            assert!(
                table.iter().all(|profile| !profile.examples.is_empty()),
                "{name}: a profile has no example"
            );
            profiles.check_examples(&table, name).unwrap();
        }
        assert!(profiles.commands().len() >= 60, "{}", profiles.commands().len());
    }

    #[test]
    fn a_bad_user_table_names_its_file_and_line() {
        let error =
            Profiles::with_user("[[profile]]\ncommand = [\"x\"]\nwhat = 1\n", "mine.toml").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("mine.toml") && text.contains("line 3"), "{text}");
    }

    #[test]
    fn a_user_profile_comes_first_and_its_examples_are_checked() {
        let text = r#"
[[profile]]
command = ["grep"]
codes = [{ code = [1], outcome = "failed", class = "logic", meaning = "must be there" }]
examples = [{ argv = "grep x f", code = 1, outcome = "failed" }]
"#;
        assert!(Profiles::with_user(text, "mine.toml").is_ok());
        let wrong = text.replace("code = 1, outcome = \"failed\"", "code = 1, outcome = \"negative\"");
        let error = Profiles::with_user(&wrong, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("grep x f"), "{error}");
    }
}
