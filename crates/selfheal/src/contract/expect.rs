//! Contracts as people write them: `[job.expect]` of a settings file.

use std::path::PathBuf;

use regex_lite::Regex;
use schemars::JsonSchema;
use selfheal_core::verification::Check;
use serde::Deserialize;

use super::Contract;

/// `[job.expect]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct ExpectOptions {
    /// The exit codes of a good run; a project's file may only name 0.
    pub exit_codes: Option<Vec<i32>>,
    /// An expression that standard output must match.
    pub stdout_matches: Option<String>,
    /// A text that standard error must not have.
    pub stderr_lacks: Option<String>,
    /// The shortest good run, in seconds.
    pub min_seconds: Option<f64>,
    /// The longest good run, in seconds.
    pub max_seconds: Option<f64>,
    /// A command that must succeed after it, with its arguments. Not from a project's file.
    pub command: Option<Vec<String>>,
    /// The files.
    pub files: Vec<FileOptions>,
}

/// One of `[[job.expect.files]]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct FileOptions {
    /// The file, relative to the job's folder; with `*`, `?` and `[…]` the newest that fits.
    pub path: String,
    /// It must not be there.
    pub absent: Option<bool>,
    /// The run itself must have written it.
    pub newer: Option<bool>,
    /// It was written at most so many hours ago.
    pub max_age_hours: Option<f64>,
    /// Its least number of bytes.
    pub min_bytes: Option<u64>,
    /// Its least number of lines.
    pub min_lines: Option<u32>,
    /// An expression that it must match somewhere.
    pub matches: Option<String>,
    /// It is JSON with a value at this pointer (RFC 6901): `/totals/0`, or `` for any JSON.
    pub json: Option<String>,
    /// It is CSV with these columns.
    pub columns: Option<Vec<String>>,
    /// It is CSV with at least so many rows below its first.
    pub min_rows: Option<u64>,
    /// It lists SHA-256 sums, and what it lists has them.
    pub checksums: Option<bool>,
}

impl ExpectOptions {
    /// As assertions.
    ///
    /// # Errors
    /// When a value makes no sense; in words, with the key.
    pub fn contract(&self) -> Result<Contract, String> {
        let mut checks = Vec::new();
        if let Some(codes) = &self.exit_codes {
            checks.push(Check::ExitCode { codes: codes.clone() });
        }
        if let Some(pattern) = &self.stdout_matches {
            checks.push(Check::StdoutMatches { pattern: expression("stdout-matches", pattern)? });
        }
        checks.extend(self.stderr_lacks.clone().map(|text| Check::StderrLacks { text }));
        if let Some(seconds) = self.min_seconds {
            checks.push(Check::MinDuration { ms: thousandths("min-seconds", seconds)? });
        }
        if let Some(seconds) = self.max_seconds {
            checks.push(Check::MaxDuration { ms: thousandths("max-seconds", seconds)? });
        }
        for file in &self.files {
            checks.extend(file.checks()?);
        }
        if self.command.as_ref().is_some_and(Vec::is_empty) {
            return Err("command is empty".to_owned());
        }
        Ok(Contract { checks, command: self.command.clone(), earlier: Vec::new() })
    }
}

impl FileOptions {
    fn checks(&self) -> Result<Vec<Check>, String> {
        if self.path.is_empty() {
            return Err("files without a path".to_owned());
        }
        let path = || PathBuf::from(&self.path);
        if self.absent == Some(true) {
            return Ok(vec![Check::Missing { path: path() }]);
        }
        let mut checks = vec![Check::Exists { path: path() }];
        if self.newer == Some(true) {
            checks.push(Check::Newer { path: path() });
        }
        if let Some(hours) = self.max_age_hours {
            let seconds = thousandths("max-age-hours", hours * 3_600.0)? / 1_000;
            checks.push(Check::MaxAge { path: path(), seconds });
        }
        checks.extend(self.min_bytes.map(|bytes| Check::MinBytes { path: path(), bytes }));
        checks.extend(self.min_lines.map(|lines| Check::MinLines { path: path(), lines }));
        if let Some(pattern) = &self.matches {
            checks.push(Check::Matches { path: path(), pattern: expression("matches", pattern)? });
        }
        checks.extend(self.json.clone().map(|pointer| Check::Json { path: path(), pointer }));
        checks.extend(self.columns.clone().map(|columns| Check::CsvColumns { path: path(), columns }));
        checks.extend(self.min_rows.map(|rows| Check::MinRows { path: path(), rows }));
        if self.checksums == Some(true) {
            checks.push(Check::Checksums { path: path() });
        }
        Ok(checks)
    }
}

fn expression(key: &str, pattern: &str) -> Result<String, String> {
    match Regex::new(pattern) {
        Ok(_) => Ok(pattern.to_owned()),
        Err(error) => Err(format!("{key}: `{pattern}` is no expression: {error}")),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is checked to lie in the range"
)]
fn thousandths(key: &str, seconds: f64) -> Result<u64, String> {
    match seconds {
        seconds if (0.0..=1e9).contains(&seconds) => Ok((seconds * 1_000.0) as u64),
        _ => Err(format!("{key}: {seconds} is no time")),
    }
}
