//! The one error of the program: what could not be done, why, and what to do about it.

use std::fmt;

use selfheal_core::ports::PortError;

use crate::exit_code;

/// What could not be done.
#[derive(Debug)]
pub struct CommandError {
    /// The exit code.
    pub code: i32,
    /// What and where; a sentence without a period at its end.
    pub what: String,
    /// What stood in the way, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
}

impl CommandError {
    /// An error of the machine or of selfheal.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { code: exit_code::ERROR, what: what.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// An error of the command line or of the settings.
    #[must_use]
    pub fn usage(what: impl Into<String>) -> Self {
        Self { code: exit_code::USAGE, ..Self::new(what) }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds what stood in the way.
    #[must_use]
    pub fn because(mut self, source: &dyn std::error::Error) -> Self {
        let mut next = Some(source);
        while let Some(error) = next {
            let text = error.to_string();
            // Some errors say the same once more, with a number in front.
            if self.causes.last().is_none_or(|last| !text.ends_with(last.as_str())) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// On one line, for a fault of selfheal that must not stop a job.
    #[must_use]
    pub fn one_line(&self) -> String {
        std::iter::once(&self.what)
            .chain(&self.causes)
            .cloned()
            .collect::<Vec<_>>()
            .join(": ")
            .replace('\n', " ")
    }
}

impl From<PortError> for CommandError {
    fn from(error: PortError) -> Self {
        let outer = Self::new(format!("failed to {}", error.doing));
        match &error.source {
            Some(source) => outer.because(source.as_ref()),
            None => outer,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
