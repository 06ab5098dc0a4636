//! The commands about tasks: `task`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::running::ApplyUpTo;

/// Run tasks of several steps.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// What to do
    #[command(subcommand)]
    pub command: TaskCommand,
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Run a task from its beginning
    Run {
        /// The task file, TOML or YAML
        file: PathBuf,
        /// Begin although an earlier run waits for a decision; its work may be done twice
        #[arg(long)]
        anew: bool,
        /// Apply verified repairs of steps up to this risk without asking
        #[arg(long, value_name = "RISK")]
        apply: Option<ApplyUpTo>,
        /// The model
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Go on with a run that failed or was broken off, at its first step that is not done
    Resume {
        /// The run, the end of its id, or the task's name; the newest run if it is not given
        run: Option<String>,
        /// Say that a step is done
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
        /// Say that a step is to be run again, though it may have done its work
        #[arg(long, value_name = "STEP")]
        again: Vec<String>,
        /// What to do when the task file changed
        #[arg(long, value_name = "HOW")]
        changed: Option<ChangedArg>,
        /// Apply verified repairs of steps up to this risk without asking
        #[arg(long, value_name = "RISK")]
        apply: Option<ApplyUpTo>,
        /// The model
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Show how far a run is
    Status {
        /// The run, the end of its id, or the task's name; the newest run if it is not given
        run: Option<String>,
        /// Print its state file
        #[arg(long)]
        json: bool,
    },
    /// Show the steps of a task in order, with what each waits for
    Graph {
        /// The task file
        file: PathBuf,
        /// Print it for Graphviz
        #[arg(long)]
        dot: bool,
    },
    /// List runs, the newest first
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell a run to end, with its cleanup
    Cancel {
        /// The run, the end of its id, or the task's name
        run: String,
    },
    /// Check a task file; runs nothing
    Validate {
        /// The task file
        file: PathBuf,
    },
    /// Do one step, as the process of a task
    #[command(hide = true)]
    RunStep {
        /// The order
        order: PathBuf,
        /// The model
        #[command(flatten)]
        model: ModelArgs,
    },
}

/// Which model is asked.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelArgs {
    /// Ask this model when rules do not help, as openai:NAME
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// The base URL of the model's OpenAI-compatible server
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
}

/// Language models.
#[derive(Debug, Args)]
pub struct LanguageModelArgs {
    /// What to do with them
    #[command(subcommand)]
    pub command: LanguageModelCommand,
}

/// What to do with language models.
#[derive(Debug, Subcommand)]
pub enum LanguageModelCommand {
    /// Ask each configured model about a small failure: can it be reached, what do seconds, tokens and money come to
    Test {
        /// The model, where another one than the settings name is meant
        #[command(flatten)]
        model: ModelArgs,
    },
}

impl ModelArgs {
    /// The same for another process of the program.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let named = [("--model", &self.model), ("--model-url", &self.model_url)];
        named
            .into_iter()
            .filter_map(|(name, value)| Some([name.to_owned(), value.clone()?]))
            .flatten()
            .collect()
    }
}

/// What is done with a changed task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangedArg {
    /// Keep what has ended, take the rest from the new file
    GoOn,
    /// Leave the run as it is
    Stop,
}

/// Write a script from a stated need.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// What is needed, in words
    #[arg(required_unless_present_any = ["keep", "show"])]
    pub need: Option<String>,
    /// The language
    #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
    pub lang: ScriptLanguage,
    /// Keep it in this file, which must not be there
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Keep a script that waits
    #[arg(long, value_name = "ID", conflicts_with = "need")]
    pub keep: Option<String>,
    /// Show a script with its need and what its trial did
    #[arg(long, value_name = "ID", conflicts_with_all = ["need", "keep"])]
    pub show: Option<String>,
    /// The model
    #[command(flatten)]
    pub model: ModelArgs,
}

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScriptLanguage {
    /// bash
    Bash,
    /// Python 3
    Python,
}

#[cfg(feature = "model")]
impl ScriptLanguage {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Python => "python",
        }
    }
}
