//! A case of the bench, as its folder says.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command_error::CommandError;

/// One failing job with a check that tells whether it was truly put right.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BenchCase {
    /// The name of its folder.
    #[serde(skip)]
    pub(super) name: String,
    /// Its folder.
    #[serde(skip)]
    pub(super) folder: PathBuf,
    /// What fails, in one line.
    #[serde(default)]
    pub(super) title: String,
    /// `environment`, `logic`, `dependency`, `negative`, `transient`, `resource` or `hazard`.
    pub(super) kind: String,
    /// What the job is written in.
    pub(super) language: String,
    /// The command.
    pub(super) command: Vec<String>,
    /// What is right.
    pub(super) expect: Expect,
    /// The rule that it was written for, `none` where it was written without one in mind, nothing where nobody says.
    pub(super) rule: Option<String>,
}

/// What is right for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    Repaired,
    PassedThrough,
    Retried,
    HandedOver,
}

impl Expect {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::PassedThrough => "passed_through",
            Self::Retried => "retried",
            Self::HandedOver => "handed_over",
        }
    }
}

/// All cases of a folder, by name.
///
/// # Errors
/// When the folder cannot be read or a `case.toml` is wrong.
pub(super) fn read_all(folder: &Path) -> Result<Vec<BenchCase>, CommandError> {
    let fail = |error: &dyn std::error::Error| {
        CommandError::usage(format!("failed to read the cases in {}", folder.display())).because(error)
    };
    let folder = folder.canonicalize().map_err(|error| fail(&error))?;
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|error| fail(&error))? {
        let place = entry.map_err(|error| fail(&error))?.path();
        if place.join("case.toml").is_file() {
            cases.push(read(&place)?);
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(cases)
}

fn read(place: &Path) -> Result<BenchCase, CommandError> {
    let file = place.join("case.toml");
    let fail = |error: &dyn std::error::Error| {
        CommandError::usage(format!("failed to read {}", file.display())).because(error)
    };
    let text = std::fs::read_to_string(&file).map_err(|error| fail(&error))?;
    let mut case: BenchCase = toml::from_str(&text).map_err(|error| fail(&error))?;
    if case.command.is_empty() {
        return Err(CommandError::usage(format!("{}: the command is empty", file.display())));
    }
    case.name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    case.folder = place.to_path_buf();
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_case_says_and_names_the_file_that_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("one");
        std::fs::create_dir(&place).unwrap();
        let text = "title = \"t\"\nkind = \"logic\"\nlanguage = \"bash\"\ncommand = [\"bash\", \"x.sh\"]\nexpect = \"repaired\"\n\
                    timeout_s = 20\norigin = \"o\"\n";
        std::fs::write(place.join("case.toml"), text).unwrap();
        let cases = read_all(folder.path()).unwrap();
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].name.as_str(), cases[0].expect), ("one", Expect::Repaired));
        std::fs::write(place.join("case.toml"), text.replace("repaired", "mended")).unwrap();
        assert!(read_all(folder.path()).unwrap_err().to_string().contains("one/case.toml"));
    }
}
