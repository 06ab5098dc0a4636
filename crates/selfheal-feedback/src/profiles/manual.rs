//! Profiles as people read them: one command for `selfheal profile show`, all of them as `docs/profiles.md`.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Profiles;
use super::table::{Kind, Meaning, Profile};

impl Profiles {
    /// What is known of a command, a line a meaning, the most special profile first; empty where nothing is. With what the
    /// command says of its version, a profile that was written for others says so.
    #[must_use]
    pub fn describe(&self, command: &str, version: Option<&str>) -> String {
        let mut out = String::new();
        let named = self.all().filter(|profile| profile.command.get_ref().iter().any(|name| name == command));
        let mut profiles: Vec<&Profile> = named.collect();
        profiles.sort_by_key(|profile| std::cmp::Reverse(profile.sub.len() + profile.needs.len().min(1)));
        for profile in profiles {
            let versions = profile.versions.as_ref().map(|range| match version {
                Some(said) if !range.contains(said) => {
                    format!("  (versions {}; not the one here, so it does not count)", range.text())
                }
                _ => format!("  (versions {})", range.text()),
            });
            let _ = writeln!(out, "{}{}", profile.title(command), versions.unwrap_or_default());
            for meaning in &profile.codes {
                let _ = writeln!(out, "  {:<12} {:<22} {}", codes(meaning), kind(meaning), words(meaning));
            }
        }
        out
    }

    /// The page of all shipped profiles.
    #[must_use]
    pub fn manual() -> String {
        let profiles = Self::builtin();
        let telling: BTreeSet<&String> = profiles
            .all()
            .filter(|profile| profile.says_more())
            .flat_map(|profile| profile.command.get_ref())
            .collect();
        let mut out = format!(
            "# Profiles: what exit codes mean\n\n\
             Made by `selfheal generate profiles` from `crates/selfheal-feedback/src/profiles/*.toml`; a test holds it \
             to them. They say more than zero and non-zero of {} commands. 0 is success; a code that is not listed is a \
             failure. 124 to 127, 128+n and the wrappers (`timeout`, `flock -E`, `sudo`, `nice`, …) are understood for \
             every command.\n\n\
             Your own come first: `/etc/selfheal/profiles/*.toml` and `~/.config/selfheal/profiles/*.toml`, in the same \
             form; `selfheal profile test` checks them, and runs the examples that name \
             the `files` of an empty folder against the commands that are here, in a box, once a version (`selfheal profile \
             show COMMAND` says `verified with VERSION` or `unverified`); `selfheal profile learn COMMAND --write` proposes one, which counts after `selfheal profile accept COMMAND`. A \
             script's own codes are declared in the same way, by its file name, or with `run --answer CODE`. A file \
             `selfheal-profiles.toml` in the job's folder may call codes failures, never harmless.\n\n\
             ```toml\n\
             [[profile]]\n\
             command = [\"import.sh\"]\n\
             # versions = \">=2.1\"\n\
             codes = [\n    \
             {{ code = [3], outcome = \"negative\", meaning = \"there was nothing to import\" }},\n    \
             {{ code = [4], outcome = \"failed\", class = \"transient\", meaning = \"the server is busy\" }},\n\
             ]\n\
             examples = [{{ argv = \"import.sh daily\", code = 3, outcome = \"negative\" }}]\n\
             ```\n\n\
             | command | code | is | meaning |\n|---|---|---|---|\n",
            telling.len()
        );
        for profile in profiles.all() {
            rows(profile, &mut out);
        }
        out
    }
}

fn rows(profile: &Profile, out: &mut String) {
    let names: Vec<String> = profile
        .command
        .get_ref()
        .iter()
        .map(|name| format!("`{}`", profile.title(name).replace('|', "\\|")))
        .collect();
    let mut title = names.join(", ");
    if let Some(range) = &profile.versions {
        let _ = write!(title, " {}", range.text());
    }
    for meaning in &profile.codes {
        let _ = writeln!(
            out,
            "| {title} | {} | {} | {} |",
            codes(meaning),
            kind(meaning),
            words(meaning).replace('|', "\\|")
        );
        title.clear();
    }
}

fn codes(meaning: &Meaning) -> String {
    meaning.code.get_ref().iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

fn kind(meaning: &Meaning) -> String {
    match (meaning.outcome, meaning.class) {
        (Kind::Succeeded, _) => "success".to_owned(),
        (Kind::Negative, _) => "an answer".to_owned(),
        (Kind::Failed, Some(class)) => format!("failure, {}", class.word()),
        (Kind::Failed, None) => "failure".to_owned(),
    }
}

fn words(meaning: &Meaning) -> String {
    let mut out = meaning.meaning.clone();
    for (stream, texts) in
        [("standard error", &meaning.stderr_contains), ("standard output", &meaning.stdout_contains)]
    {
        if !texts.is_empty() {
            let _ = write!(out, "; when {stream} says \"{}\"", texts.join("\" or \""));
        }
    }
    if meaning.silent {
        out.push_str("; when standard error is empty");
    }
    out
}
