//! Profiles: what the exit codes of commands mean.
//!
//! The knowledge is in the TOML files of this folder, one a topic, embedded in the program and read at the first run
//! that did not end with 0: a run that succeeded parses nothing. Users add their own in the same form, and theirs come
//! first. [`Profiles::interpret`] looks at how the run ended, then at the profile of the command behind its wrappers,
//! then at what a script says of its own exit codes.

pub mod documented;
pub mod learn;
mod manual;
mod meaning;
mod table;
mod trials;
mod versions;

use std::ffi::OsString;
use std::sync::OnceLock;

use selfheal_core::outcome::Outcome;
use selfheal_core::run::{Ended, Run};
use selfheal_core::trace::Trace;

pub use table::ProfileError;
use table::{Kind, Profile};
pub use trials::Trial;
pub use versions::VersionSource;

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

/// Who wrote a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user or the machine's administrator.
    Owner,
    /// Whoever brought the job's folder: may call a code a failure, never harmless.
    Project,
}

/// What the exit codes of commands mean: the shipped tables and the user's.
#[derive(Debug, Default)]
pub struct Profiles {
    user: Vec<Profile>,
    versions: Option<VersionSource>,
    answers: Vec<i32>,
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
        let mut profiles = Self::default();
        profiles.add(toml_text, file_name, Trust::Owner)?;
        Ok(profiles)
    }

    /// Adds a table behind those that were added before, and before the shipped ones. Profiles that nobody accepted are
    /// left out. What a project's table calls harmless is left out; the answer is how many such meanings there were.
    ///
    /// # Errors
    /// When the text is no table of profiles, or one of its examples does not hold; nothing of it is added then.
    pub fn add(&mut self, toml_text: &str, file_name: &str, trust: Trust) -> Result<usize, ProfileError> {
        let mut table = table::read(toml_text, file_name)?;
        table.retain(|profile| profile.accepted);
        let alone = Self { user: table, ..Self::default() };
        alone.check_examples(&alone.user, (file_name, toml_text))?;
        let mut table = alone.user;
        let mut loosening = 0;
        if trust == Trust::Project {
            for profile in &mut table {
                let before = profile.codes.len();
                profile.codes.retain(|meaning| meaning.outcome == Kind::Failed);
                loosening += before - profile.codes.len();
            }
        }
        self.user.extend(table);
        Ok(loosening)
    }

    /// The same, with somebody who knows the versions of commands. Asked only where a meaning depends on it.
    #[must_use]
    pub fn with_versions(self, versions: VersionSource) -> Self {
        Self { versions: Some(versions), ..self }
    }

    /// The same, with codes of the job itself that its owner declared to be answers.
    #[must_use]
    pub fn with_answers(self, answers: Vec<i32>) -> Self {
        Self { answers, ..self }
    }

    /// Checks the shipped tables and all that were added, examples included; how many examples hold.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn check(&self) -> Result<usize, ProfileError> {
        let mut count = 0;
        for (name, text) in SHIPPED {
            let table = table::read(text, name)?;
            Self::default().check_examples(&table, (name, text))?;
            count += table.iter().map(|profile| profile.examples.len()).sum::<usize>();
        }
        Ok(count + self.user.iter().map(|profile| profile.examples.len()).sum::<usize>())
    }

    /// Whether a profile holds for the version of the command that is on this machine, as far as that can be known.
    fn holds(&self, profile: &Profile, command: &str) -> bool {
        let Some(range) = &profile.versions else { return true };
        self.versions.as_ref().and_then(|source| source.ask(command)).is_none_or(|said| range.contains(&said))
    }

    /// What a run means.
    #[must_use]
    pub fn interpret(&self, input: &InterpretInput<'_>) -> Outcome {
        match input.run.ended {
            Ended::Exited(code) if self.answers.contains(&code) => {
                Outcome::Negative { meaning: "its owner says that this code is an answer".to_owned() }
            }
            _ => meaning::interpret(self, input),
        }
    }

    /// What an exit code of a command means by its profile alone, as far as its output does not matter.
    #[must_use]
    pub fn interpret_code(&self, argv: &[OsString], code: i32) -> Outcome {
        meaning::by_code(self, argv, code)
    }

    /// The names of all commands that have a profile, sorted.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.all().flat_map(|profile| profile.command.get_ref().clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The names of the commands of the tables that were added, sorted.
    #[must_use]
    pub fn own_commands(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.user.iter().flat_map(|profile| profile.command.get_ref().clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn all(&self) -> impl Iterator<Item = &Profile> {
        self.user.iter().chain(self.shipped.get_or_init(shipped))
    }

    fn check_examples(&self, profiles: &[Profile], (file, text): (&str, &str)) -> Result<(), ProfileError> {
        profiles
            .iter()
            .flat_map(|profile| &profile.examples)
            .find_map(|example| Some((example.argv.span().start, meaning::contradiction(self, example)?)))
            .map_or(Ok(()), |(at, what)| Err(ProfileError::at(text, file, at, &what)))
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
            profiles.check_examples(&table, (name, text)).unwrap();
        }
    }

    #[test]
    fn sixty_commands_say_more_than_zero_and_not_zero() {
        let profiles = Profiles::builtin();
        let mut telling: Vec<&str> = profiles
            .all()
            .filter(|profile| profile.says_more())
            .flat_map(|profile| profile.command.get_ref().iter().map(String::as_str))
            .collect();
        telling.sort_unstable();
        telling.dedup();
        assert!(telling.len() >= 60, "{}", telling.len());
        let by_table = profiles.all().filter(|profile| profile.says_more()).count();
        assert!(by_table >= 60, "{by_table}");
    }

    #[test]
    fn a_project_may_call_a_code_a_failure_but_not_harmless() {
        let text = r#"
[[profile]]
command = ["./job.sh"]
codes = [
    { code = [3], outcome = "negative", meaning = "nothing to do" },
    { code = [4], outcome = "failed", class = "logic", meaning = "bad data" },
]
"#
        .replace("./job.sh", "job.sh");
        let argv = ["./job.sh".into()];
        let mut profiles = Profiles::builtin();
        assert_eq!(profiles.add(&text, "mine.toml", Trust::Project).unwrap(), 1);
        assert!(matches!(profiles.interpret_code(&argv, 3), Outcome::Failed { meaning: None, .. }));
        assert!(matches!(profiles.interpret_code(&argv, 4), Outcome::Failed { meaning: Some(_), .. }));
        let mut profiles = Profiles::builtin();
        assert_eq!(profiles.add(&text, "mine.toml", Trust::Owner).unwrap(), 0);
        assert!(matches!(profiles.interpret_code(&argv, 3), Outcome::Negative { .. }));
    }

    #[test]
    fn what_nobody_accepted_does_not_count() {
        let text = "[[profile]]\naccepted = false\ncommand = [\"x\"]\ncodes = [{ code = [1], outcome = \"negative\", meaning = \"m\" }]\n";
        let profiles = Profiles::with_user(text, "learned.toml").unwrap();
        assert!(matches!(profiles.interpret_code(&["x".into()], 1), Outcome::Failed { .. }));
        let accepted = Profiles::with_user(&text.replace("false", "true"), "learned.toml").unwrap();
        assert!(matches!(accepted.interpret_code(&["x".into()], 1), Outcome::Negative { .. }));
    }

    #[test]
    fn a_meaning_of_other_versions_does_not_count() {
        let text = "[[profile]]\nversions = \">=2.0\"\ncommand = [\"x\"]\ncodes = [{ code = [1], outcome = \"negative\", meaning = \"m\" }]\n";
        let with = |version: &'static str| {
            Profiles::with_user(text, "mine.toml")
                .unwrap()
                .with_versions(VersionSource::new(move |_| Some(version.to_owned())))
                .interpret_code(&["x".into()], 1)
        };
        assert!(matches!(with("x version 2.4.1"), Outcome::Negative { .. }));
        assert!(matches!(with("x 1.9"), Outcome::Failed { .. }));
        let wrong = text.replace(">=2.0", "about 2");
        assert!(Profiles::with_user(&wrong, "mine.toml").unwrap_err().to_string().contains("line 2"));
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
