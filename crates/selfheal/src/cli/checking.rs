//! The command that judges scripts: `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Judge scripts.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The scripts; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "diff", conflicts_with = "diff")]
    pub files: Vec<PathBuf>,
    /// Judge what the change from one version to the other hides, and what harm it can newly do
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    pub diff: Option<Vec<PathBuf>>,
    /// The language, where the first line or the name of the file does not tell
    #[arg(long)]
    pub language: Option<CheckLanguage>,
    /// Print it as one JSON object
    #[arg(long, conflicts_with = "sarif")]
    pub json: bool,
    /// Print it as SARIF 2.1.0
    #[arg(long)]
    pub sarif: bool,
    /// The level from which on the exit code says so
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    pub fail_on: FailOn,
}

/// From when on `check` ends with another code than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Medium danger or risk
    Medium,
    /// High danger or risk
    High,
    /// The exit code is 0 whatever was found
    Never,
}

/// The languages that `check` judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckLanguage {
    /// Shells: bash, sh, dash, ksh
    #[value(alias = "sh", alias = "shell", alias = "dash", alias = "ksh", alias = "zsh")]
    Bash,
    /// Python
    #[value(alias = "py", alias = "python3")]
    Python,
    /// Perl
    #[value(alias = "pl")]
    Perl,
    /// JavaScript for node
    #[value(alias = "js", alias = "javascript")]
    Node,
    /// Ruby
    #[value(alias = "rb")]
    Ruby,
    /// SQL
    Sql,
    /// Makefiles
    #[value(alias = "makefile")]
    Make,
    /// Pipelines and playbooks in YAML
    #[value(alias = "yml")]
    Yaml,
    /// Dockerfiles
    #[value(alias = "dockerfile")]
    Docker,
}

impl From<CheckLanguage> for selfheal_syntax::Language {
    fn from(language: CheckLanguage) -> Self {
        match language {
            CheckLanguage::Bash => Self::Shell,
            CheckLanguage::Python => Self::Python,
            CheckLanguage::Perl => Self::Perl,
            CheckLanguage::Node => Self::Node,
            CheckLanguage::Ruby => Self::Ruby,
            CheckLanguage::Sql => Self::Sql,
            CheckLanguage::Make => Self::Make,
            CheckLanguage::Yaml => Self::Yaml,
            CheckLanguage::Docker => Self::Docker,
        }
    }
}
