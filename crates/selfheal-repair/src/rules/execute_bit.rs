//! # A script without its execute bit
//!
//! ## What it finds
//! The job, or a script of the job, starts a file of the job's own folders that has no execute bit.
//!
//! ## Why it fails
//! The kernel refuses to run a file without the bit. It gets lost in archives, uploads and on file systems without modes.
//!
//! ## Fix
//! The execute bit is set for everybody who may read the file. Files beside it that begin alike with `#!`, that the same
//! script starts and that lack the bit, too, are mended with it.
//!
//! ## Example
//! ```text
//! -rw-r--r-- steps/20-summarise
//! ```
//! ```text
//! -rwxr-xr-x steps/20-summarise
//! ```
//!
//! ## Safety
//! Only files in the job's own folders that begin with `#!`. No right to read or write is given to anybody.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;
use selfheal_core::verification::{Expect, SceneEdit};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};

rule!(ExecuteBit, "execute_bit", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let mut named: Vec<PathBuf> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::NotExecutable { path } | Fault::PermissionDenied { path: Some(path) } => {
                named.extend(case.find(path))
            }
            Fault::CommandNotFound { name } if name.contains('/') => named.extend(case.find(Path::new(name))),
            _ => {}
        }
    }
    let Some(first) = named.iter().find_map(|path| startable(case, path)) else { return Vec::new() };
    let mut files = vec![first.clone()];
    files.extend(siblings(case, &first));
    let name = shown(case, &first.path);
    let mut draft = Draft::new(
        "execute_bit",
        format!("{name} has no execute bit, so that it cannot be started"),
        "set the execute bit for those who may read the file",
    )
    .evidence(format!("the mode of {name} is {:04o}", first.mode));
    for file in &files {
        let mode = file.mode | (file.mode & 0o444) >> 2;
        draft = draft.mode(
            &file.path,
            file.text.as_bytes(),
            mode,
            format!("{}: mode {mode:04o}", shown(case, &file.path)),
        );
    }
    // Taken away again, the job must fail as before.
    let mode = SceneEdit::Mode { path: first.path.clone(), mode: first.mode };
    let broken = format!("{name} is not executable");
    let draft = draft.scenario("bit-missing", broken, Expect::SameAsOriginal, vec![mode]);
    draft.done().into_iter().collect()
}

fn shown(case: &Case, path: &Path) -> String {
    let base = case.base();
    path.strip_prefix(&base).unwrap_or(path).to_string_lossy().into_owned()
}

/// The file, if it is one of the job's own, begins with `#!` and lacks the bit.
fn startable(case: &Case, path: &Path) -> Option<ScriptFile> {
    let facts = case.scene.facts(path).filter(|facts| facts.kind == Kind::File && facts.mode & 0o111 == 0)?;
    let file = case.file(path).filter(|file| file.text.starts_with("#!"))?;
    Some(ScriptFile { mode: facts.mode, ..file })
}

/// Files in the same folder that lack the bit while the script starts all of the folder by a pattern.
fn siblings(case: &Case, first: &ScriptFile) -> Vec<ScriptFile> {
    let Some(folder) = first.path.parent().filter(|folder| Some(*folder) != case.home().as_deref()) else {
        return Vec::new();
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = case.script.map_or("", |script| script.text.as_str());
    let by_pattern = text.lines().any(|line| line.contains(&name) && line.contains(['*', '?', '[']));
    let named = |file: &str| text.contains(file);
    let names = case.scene.names(folder);
    let others = names.iter().filter(|file| by_pattern || named(file)).map(|file| folder.join(file));
    others.filter(|path| *path != first.path).filter_map(|path| startable(case, &path)).take(50).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn sets_the_bit_of_a_step_and_of_those_beside_it() {
        let scene = TestScene::new()
            .raw("steps/10-a", b"#!/bin/sh\n", 0o755)
            .raw("steps/20-b", b"#!/bin/sh\n", 0o640)
            .raw("steps/30-c", b"#!/bin/sh\n", 0o644)
            .raw("steps/40-notes", b"not a script\n", 0o644);
        let case = TestCase::new("run.sh", "for s in steps/[0-9]*; do \"./$s\"; done\n", scene)
            .fault(Fault::NotExecutable { path: "./steps/20-b".into() });
        assert!(case.heals(&ExecuteBit));
        let changes = &case.ask(&ExecuteBit)[0].proposal.changes;
        let modes: Vec<_> = changes.iter().map(|change| change.mode).collect();
        assert_eq!(modes, [Some(0o750), Some(0o755)]);
        assert!(changes.iter().all(|change| change.before == change.after));
    }

    #[test]
    fn sets_the_bit_of_the_job_itself() {
        let case = TestCase::new("run.sh", "#!/bin/sh\n", TestScene::new())
            .fault(Fault::PermissionDenied { path: Some("/srv/job/run.sh".into()) });
        assert!(case.heals(&ExecuteBit));
        assert_eq!(case.ask(&ExecuteBit)[0].proposal.changes[0].mode, Some(0o755));
    }

    #[test]
    fn leaves_data_and_files_of_others_alone() {
        let scene = TestScene::new().file("data.txt", "x\n").raw("/opt/tool/run", b"#!/bin/sh\n", 0o644);
        let data = TestCase::new("run.sh", "./data.txt\n", scene)
            .fault(Fault::NotExecutable { path: "data.txt".into() });
        assert!(data.silent(&ExecuteBit));
        let data = data.fault(Fault::NotExecutable { path: "/opt/tool/run".into() });
        assert!(data.silent(&ExecuteBit));
    }
}
