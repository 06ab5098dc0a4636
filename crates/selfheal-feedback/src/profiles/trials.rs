//! Examples that can really be run: whether the command on this machine does what its profile says.

use std::collections::BTreeMap;
use std::ffi::OsString;

use selfheal_core::run::{Ended, Run};

use super::meaning;
use super::table::Example;
use super::{InterpretInput, Profiles};

/// One example that can be run in an empty folder with a few files.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    example: &'a Example,
    /// The files of the folder: name and content.
    pub files: &'a BTreeMap<String, String>,
}

impl Trial<'_> {
    /// The command.
    #[must_use]
    pub fn argv(&self) -> Vec<OsString> {
        self.example.argv.get_ref().split(' ').map(OsString::from).collect()
    }

    /// As one line, with the code that is expected.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} -> {}", self.example.argv.get_ref(), self.example.code)
    }
}

impl Profiles {
    /// The examples of a command that can be run, of the profiles that are for its version.
    pub fn trials<'a>(
        &'a self,
        command: &'a str,
        version: Option<&'a str>,
    ) -> impl Iterator<Item = Trial<'a>> {
        let named =
            self.all().filter(move |profile| profile.command.get_ref().iter().any(|name| name == command));
        let here = named.filter(move |profile| {
            profile.versions.as_ref().is_none_or(|range| version.is_none_or(|said| range.contains(said)))
        });
        here.flat_map(|profile| &profile.examples)
            .filter(move |example| example.argv.get_ref().split(' ').next() == Some(command))
            .filter_map(|example| Some(Trial { example, files: example.files.as_ref()? }))
    }

    /// How a real run of an example contradicts it, if it does.
    #[must_use]
    pub fn contradicted(&self, trial: &Trial<'_>, run: &Run) -> Option<String> {
        let example = trial.example;
        if run.ended != Ended::Exited(example.code) {
            return Some(format!(
                "`{}` ended with {} and not {}",
                example.argv.get_ref(),
                run.ended.code(),
                example.code
            ));
        }
        let argv = trial.argv();
        let outcome = self.interpret(&InterpretInput { argv: &argv, run, script: None, trace: None });
        (!meaning::agrees(&outcome, example)).then(|| {
            format!(
                "`{}` with code {} means {}",
                example.argv.get_ref(),
                example.code,
                meaning::in_words(&outcome)
            )
        })
    }

    /// The commands with examples that can be run, sorted.
    #[must_use]
    pub fn tryable(&self) -> Vec<String> {
        self.commands().into_iter().filter(|command| self.trials(command, None).next().is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_shipped_commands_can_be_tried_and_a_wrong_code_is_told() {
        let profiles = Profiles::builtin();
        assert!(profiles.tryable().len() >= 30, "{:?}", profiles.tryable());
        let text = "[[profile]]\ncommand = [\"x\"]\ncodes = [{ code = [1], outcome = \"negative\", meaning = \"m\" }]\n\
                    examples = [{ argv = \"x y\", code = 1, outcome = \"negative\", files = { f = \"a\" } }]\n";
        let profiles = Profiles::with_user(text, "mine.toml").unwrap();
        let trial = profiles.trials("x", None).next().unwrap();
        assert_eq!(trial.files.len(), 1);
        let ended = |code| meaning::run_with(code, "", "");
        assert_eq!(profiles.contradicted(&trial, &ended(1)), None);
        assert!(profiles.contradicted(&trial, &ended(2)).unwrap().contains("ended with 2 and not 1"));
    }
}
