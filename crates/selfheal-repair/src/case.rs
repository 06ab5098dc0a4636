//! One failure with all that is known of it, and the questions that rules ask about it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::job::Job;
use selfheal_core::report::Report;
use selfheal_core::scene::{Kind, Scene, absolute};
use selfheal_core::trace::Trace;

/// The largest file that a rule reads, in bytes: what is larger is no script and no list of settings.
pub(crate) const LARGEST: usize = 1 << 20;

/// One failure with all that is known of it.
pub struct Case<'a> {
    /// The job.
    pub job: &'a Job,
    /// The command as it was run.
    pub argv: &'a [OsString],
    /// What is known of the failure.
    pub report: &'a Report,
    /// The script behind the command, if there is one.
    pub script: Option<&'a ScriptFile>,
    /// What an instrumented run saw.
    pub trace: Option<&'a Trace>,
    /// The machine, with the changes of earlier proposals of the same chain laid over it.
    pub scene: &'a dyn Scene,
}

/// A text file of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// Its permission bits.
    pub mode: u32,
    /// What it is written in.
    pub language: Language,
}

/// What a file is written in, as far as rules tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// bash, or a shell script that does not say.
    Bash,
    /// A shell script for `sh`.
    Sh,
    /// Python.
    Python,
    /// JavaScript.
    Node,
    /// Perl.
    Perl,
    /// A makefile.
    Make,
    /// Anything else.
    Other,
}

impl Language {
    /// Tells the language from the first line, else from the name.
    #[must_use]
    pub fn of(path: &Path, text: &str) -> Self {
        let first = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default().trim_end();
        if let Some(line) = first.strip_prefix("#!") {
            let program = interpreter_name(line);
            let known = [
                ("bash", Self::Bash),
                ("python", Self::Python),
                ("node", Self::Node),
                ("perl", Self::Perl),
                ("make", Self::Make),
            ];
            if matches!(program, "sh" | "dash" | "ash") {
                return Self::Sh;
            }
            if let Some((_, language)) = known.iter().find(|(name, _)| program.starts_with(name)) {
                return *language;
            }
        }
        Self::of_name(path)
    }

    fn of_name(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if matches!(&*name, "Makefile" | "makefile" | "GNUmakefile") {
            return Self::Make;
        }
        match path.extension().unwrap_or_default().to_string_lossy().as_ref() {
            "sh" | "bash" => Self::Bash,
            "py" => Self::Python,
            "js" | "mjs" | "cjs" => Self::Node,
            "pl" | "pm" => Self::Perl,
            "mk" => Self::Make,
            _ => Self::Other,
        }
    }

    /// Whether it is a shell script of any dialect.
    #[must_use]
    pub fn is_shell(self) -> bool {
        matches!(self, Self::Bash | Self::Sh)
    }
}

/// The program that the rest of a `#!` line names, `env` looked through: `bash` of `/usr/bin/env -S bash -e`.
pub(crate) fn interpreter_name(line: &str) -> &str {
    let base = |word: &'_ str| word.rsplit('/').next().map_or(0, |last| word.len() - last.len());
    let mut words = line.split_whitespace().map(|word| word.get(base(word)..).unwrap_or(word));
    let first = words.next().unwrap_or_default();
    if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default()
    } else {
        first
    }
}

impl ScriptFile {
    /// A file whose language is told from its first line and name.
    #[must_use]
    pub fn new(path: PathBuf, text: String, mode: u32) -> Self {
        let language = Language::of(&path, &text);
        Self { path, text, mode, language }
    }

    /// The folder that it lies in.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

impl<'a> Case<'a> {
    /// The faults, most telling first.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &'a Fault> + use<'a> {
        self.report.faults.iter()
    }

    /// The folders whose files a repair may change: the script's and the one that the job runs in. A folder that holds
    /// half of the machine is nobody's own.
    fn roots(&self) -> Vec<PathBuf> {
        let script = self.job.script.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let mut roots: Vec<PathBuf> = script.into_iter().chain([self.job.cwd.clone()]).collect();
        roots.retain(|root| root.components().count() > 2);
        roots.dedup();
        roots
    }

    /// Whether a path (absolute) lies in one of the job's own folders.
    pub(crate) fn owns(&self, path: &Path) -> bool {
        let path = absolute(&self.job.cwd, path);
        self.roots().iter().any(|root| path.starts_with(root)) || self.job.script.as_deref() == Some(&path)
    }

    /// Every place that a path of a message or a script may mean: from the job's folder and, since many scripts go to
    /// their own folder first, from the script's.
    pub(crate) fn places(&self, path: &Path) -> Vec<PathBuf> {
        let mut bases = Vec::new();
        if let Some(pwd) = self.trace.and_then(|trace| trace.value("PWD")).filter(|pwd| pwd.starts_with('/'))
        {
            bases.push(PathBuf::from(pwd));
        }
        if self.goes_home() {
            bases.extend(self.home());
        }
        bases.push(self.job.cwd.clone());
        bases.extend(self.home());
        let mut places: Vec<PathBuf> = Vec::new();
        for place in bases.iter().map(|base| absolute(base, path)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The folder that relative paths of the job are taken from, as well as it can be told.
    pub(crate) fn base(&self) -> PathBuf {
        self.places(Path::new(".")).into_iter().next().unwrap_or_else(|| self.job.cwd.clone())
    }

    /// Where a path is: the first place where there is something.
    pub(crate) fn find(&self, path: &Path) -> Option<PathBuf> {
        self.places(path).into_iter().find(|place| self.scene.facts(place).is_some())
    }

    /// The script's folder.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.script.and_then(|script| script.path.parent()).map(Path::to_path_buf)
    }

    /// Whether the script changes into its own folder.
    fn goes_home(&self) -> bool {
        let text = self.script.map_or("", |script| script.text.as_str());
        text.lines().map(str::trim_start).any(|line| {
            let cd = line.starts_with("cd ") && (line.contains("dirname") || line.contains("%/*"));
            cd || (line.starts_with("os.chdir(") && line.contains("__file__"))
                || (line.starts_with("process.chdir(") && line.contains("__dirname"))
        })
    }

    /// A text file of the job, if it is one of its own and not too large.
    pub(crate) fn file(&self, path: &Path) -> Option<ScriptFile> {
        if let Some(script) = self.script.filter(|script| script.path == path) {
            return Some(script.clone());
        }
        let facts =
            self.scene.facts(path).filter(|facts| facts.kind == Kind::File && facts.len <= LARGEST as u64)?;
        let text = String::from_utf8(self.scene.read(path, LARGEST)?).ok()?;
        self.owns(path).then(|| ScriptFile::new(path.to_path_buf(), text, facts.mode))
    }

    /// The file in which the failure happened, else the script. A location on another host is nobody's to edit.
    pub(crate) fn failing_file(&self) -> Option<ScriptFile> {
        let place = self.report.location.as_ref();
        if place.is_some_and(|place| place.remote.is_some()) {
            return None;
        }
        place
            .and_then(|place| self.find(&place.file))
            .and_then(|path| self.file(&path))
            .or_else(|| self.script.cloned())
    }

    /// A file of the job that the core error names at its beginning (`steps/1.sh: 2: …`), with the line.
    pub(crate) fn named_file(&self) -> Option<(ScriptFile, u32)> {
        let mut parts = self.report.core_error.splitn(3, ':');
        let (name, line) = (parts.next()?.trim(), parts.next()?.trim());
        let line = line.strip_prefix("line ").unwrap_or(line).parse().ok()?;
        Some((self.file(&self.find(Path::new(name))?)?, line))
    }

    /// The line of the failure if it lies in this file.
    pub(crate) fn line_in(&self, file: &ScriptFile) -> Option<u32> {
        let place = self.report.location.as_ref()?;
        self.places(&place.file).contains(&file.path).then_some(place.line)
    }

    /// Files in which a repair may be needed: where the failure happened, then the script, then files of the trace.
    pub(crate) fn files(&self) -> Vec<ScriptFile> {
        let mut files: Vec<ScriptFile> = self.failing_file().into_iter().collect();
        let traced = self.trace.map_or_else(Vec::new, |trace| trace.lines.keys().cloned().collect());
        let framed =
            self.trace.map_or_else(Vec::new, |trace| trace.frames.iter().map(|f| f.file.clone()).collect());
        for path in self.job.script.clone().into_iter().chain(framed).chain(traced).take(20) {
            if !files.iter().any(|file| file.path == path) {
                files.extend(self.file(&path));
            }
        }
        if let Some(script) = self.script.filter(|script| !files.iter().any(|file| file.path == script.path))
        {
            files.push(script.clone());
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfheal_core::trace::Frame;

    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn own_are_the_scripts_folder_and_the_jobs() {
        let case = TestCase::new("jobs/x.sh", "true\n", TestScene::new());
        let case = case.case();
        assert!(case.owns(Path::new("/srv/job/jobs/lib/a.sh")) && case.owns(Path::new("out/x")));
        assert!(!case.owns(Path::new("/etc/passwd")) && !case.owns(Path::new("/srv/job/../other")));
    }

    #[test]
    fn relative_paths_are_taken_from_where_the_job_went() {
        let home = TestCase::new("jobs/x.sh", "cd \"$(dirname \"$0\")\"\n", TestScene::new());
        assert_eq!(home.case().base(), Path::new("/srv/job/jobs"));
        let values = BTreeMap::from([("PWD".to_owned(), "/srv/job/stage".to_owned())]);
        let trace = Trace { frames: vec![Frame { values, ..Frame::default() }], ..Trace::default() };
        let seen = TestCase::new("x.sh", "cd stage\n", TestScene::new()).trace(trace);
        assert_eq!(seen.case().base(), Path::new("/srv/job/stage"));
    }

    #[test]
    fn a_file_on_another_host_is_nobodys_to_edit() {
        let mut case = TestCase::new("x.sh", "ssh h x\n", TestScene::new()).at(1);
        if let Some(place) = &mut case.report.location {
            place.remote = Some("h".to_owned());
        }
        assert!(case.case().failing_file().is_none());
    }

    #[test]
    fn languages_are_told_by_first_line_and_name() {
        let of = |path: &str, text: &str| Language::of(Path::new(path), text);
        assert_eq!(of("job", "#!/usr/bin/env -S python3.11 -u\n"), Language::Python);
        assert_eq!(of("job.py", "#!/bin/sh\n"), Language::Sh);
        assert_eq!((of("a.js", ""), of("Makefile", "all:\n")), (Language::Node, Language::Make));
        assert_eq!(of("notes.txt", "hello"), Language::Other);
    }
}
