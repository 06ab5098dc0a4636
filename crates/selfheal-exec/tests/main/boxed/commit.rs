//! What a box did is kept, put in place and taken back.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selfheal_core::ports::{BoxOrder, BoxedRun, DraftOrder};
use selfheal_core::redact::Redactor;
use selfheal_exec::commit::{Changed, CommitError, Drafts, Remark, Why};

use super::{Place, can_try, is_root};

const ID: &str = "0199-draft";

/// A place whose boxes keep what they do.
struct Keeping {
    place: Place,
    drafts: Drafts,
}

impl Keeping {
    /// `None` where there are no boxes.
    fn new() -> Option<Self> {
        let place = Place::new();
        let root = place.work.parent().unwrap().join("drafts");
        can_try(&place).then(|| Self { place, drafts: Drafts::new(root) })
    }

    fn order(&self, line: &str) -> BoxOrder {
        let draft = DraftOrder {
            folder: self.drafts.folder(ID),
            id: ID.to_owned(),
            command: Redactor::from_env(std::iter::empty()).text(line),
        };
        BoxOrder { draft: Some(draft), ..self.place.shell(line) }
    }

    fn keep(&self, line: &str) -> BoxedRun {
        let run = self.place.run(&self.order(line));
        assert_eq!(run.no_draft, None);
        run
    }

    /// Runs a line in a box and puts all that it did in place.
    fn commit(&self, line: &str) -> Changed {
        self.keep(line);
        self.drafts.commit(ID, None).unwrap()
    }

    fn work(&self) -> &Path {
        &self.place.work
    }

    /// Runs a line for real.
    fn real(&self, line: &str) {
        bash(self.work(), line);
    }

    fn conflicts(&self) -> Vec<(String, Why)> {
        conflicts(self.drafts.commit(ID, None), self.work())
    }
}

fn conflicts(result: Result<Changed, CommitError>, below: &Path) -> Vec<(String, Why)> {
    let error = result.unwrap_err();
    let CommitError::Conflicts(list) = error else { return vec![(error.to_string(), Why::Gone)] };
    let name = |path: &Path| path.strip_prefix(below).unwrap_or(path).display().to_string();
    list.iter().map(|conflict| (name(&conflict.path), conflict.why)).collect()
}

fn bash(folder: &Path, line: &str) {
    let status = Command::new("bash").args(["-c", line]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{line}");
}

/// Times that the tests set are earlier.
const SET: i64 = 1_200_000_000;

/// Everything about a tree, but the numbers of inodes and the times that were not set.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    walk(folder, folder, &mut all);
    all
}

fn walk(top: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = fs::symlink_metadata(&path).unwrap();
        let kind = facts.file_type();
        let content = if kind.is_file() {
            format!("{:?} blocks {}", fs::read(&path).map(|bytes| sum(&bytes)).ok(), facts.blocks() > 0)
        } else if kind.is_symlink() {
            format!("-> {:?}", fs::read_link(&path).unwrap())
        } else {
            format!("fifo {}", kind.is_fifo())
        };
        let time = if kind.is_dir() || facts.mtime() > SET { 0 } else { facts.mtime() };
        let shown = format!(
            "{:o} {}:{} x{} {time} {content}",
            facts.mode(),
            facts.uid(),
            facts.gid(),
            if kind.is_dir() { 1 } else { facts.nlink() }
        );
        all.insert(path.strip_prefix(top).unwrap().to_path_buf(), shown);
        if kind.is_dir() {
            walk(top, &path, all);
        }
    }
}

fn sum(bytes: &[u8]) -> (usize, u64) {
    (bytes.len(), bytes.iter().fold(7, |sum, byte| (sum * 31 + u64::from(*byte)) % 1_000_003))
}

const BEFORE: &str = "umask 022; echo one >a; echo two >b; echo three >c; ln -s a l; mkdir -p d/e; echo x >d/x; echo y >d/e/y; \
    mkfifo p; echo old >exe; chmod 750 exe; truncate -s 3M sparse; touch -d @1000000000 a b c d/x sparse; \
    echo f >was-file; mkdir was-folder; echo g >was-folder/g; echo t >touched; touch -d @900000000 touched";

const CHANGES: &str = "umask 022; echo more >>a; rm b; chmod 600 c; rm l; ln -s c l; mkdir -p n/m; echo new >n/m/f; touch -d @1100000000 n/m/f; \
    echo y2 >d/e/y; touch -d @1100000001 d/e/y a; rm -r d/e; mkfifo q; truncate -s 9M hole; printf end >>hole; touch -d @1100000002 hole; \
    rm was-file; mkdir was-file; echo in >was-file/in; touch -d @1100000003 was-file/in; rm -r was-folder; echo now >was-folder; touch -d @1100000004 was-folder; \
    ln n/m/f n/second; chmod 555 n/m; touch -d @800000000 touched; mv exe moved; touch -d @1100000005 \"$(printf 'odd\\nname')\" ./-dash";

#[test]
fn committed_is_as_if_run_for_real_and_undone_as_if_never_run() {
    let Some(keeping) = Keeping::new() else { return };
    let direct = tempfile::tempdir().unwrap();
    bash(direct.path(), BEFORE);
    bash(direct.path(), CHANGES);
    keeping.real(BEFORE);
    let before = tree(keeping.work());
    keeping.keep(CHANGES);
    assert_eq!(tree(keeping.work()), before, "nothing happens before the commit");
    let changed = keeping.drafts.commit(ID, None).unwrap();
    assert!(changed.paths > 12 && !changed.back);
    assert_eq!(tree(keeping.work()), tree(direct.path()));
    keeping.drafts.undo(ID).unwrap();
    assert_eq!(tree(keeping.work()), before);
    keeping.drafts.commit(ID, None).unwrap();
    assert_eq!(
        tree(keeping.work()),
        tree(direct.path()),
        "a draft that was taken back can be put in place again"
    );
    bash(keeping.work(), "chmod -R u+w .");
    bash(direct.path(), "chmod -R u+w .");
}

/// A mount that only this process sees, where the target is another file system than the drafts.
#[test]
fn across_mounts_the_same_holds() {
    if !is_root() {
        return;
    }
    let Some(keeping) = Keeping::new() else { return };
    let mounted = keeping.place.work.join("mnt");
    fs::create_dir(&mounted).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&mounted).status();
    if !mount.is_ok_and(|status| status.success()) {
        println!("skipped: no mounts here");
        return;
    }
    let direct = tempfile::tempdir().unwrap();
    bash(direct.path(), BEFORE);
    bash(direct.path(), CHANGES);
    bash(&mounted, BEFORE);
    let before = tree(&mounted);
    keeping.commit(&format!("cd mnt; {CHANGES}"));
    let (committed, wanted) = (tree(&mounted), tree(direct.path()));
    let undone = keeping.drafts.undo(ID).map(|_| tree(&mounted));
    let again = keeping.drafts.commit(ID, None).map(|_| tree(&mounted));
    let left = Command::new("umount").arg(&mounted).status().unwrap();
    assert!(left.success());
    assert_eq!(committed, wanted);
    assert_eq!(undone.unwrap(), before);
    assert_eq!(again.unwrap(), wanted);
}

#[test]
fn what_others_changed_meanwhile_stops_the_commit_and_is_named() {
    let Some(keeping) = Keeping::new() else { return };
    let changes = "echo 1 >>a; echo new >fresh; rm -r d; rm c; echo z >e/z";
    for (meanwhile, path, why) in [
        ("echo other >>a", "a", Why::Changed),
        ("touch a", "a", Why::Changed),
        ("rm a", "a", Why::Gone),
        ("echo other >fresh", "fresh", Why::Appeared),
        ("echo other >d/new", "d", Why::Appeared),
        ("echo other >d/x", "d", Why::Changed),
        ("mv e e2; ln -s /tmp e", "e/z", Why::Unreachable),
        ("chmod 600 c", "c", Why::Changed),
    ] {
        keeping.real("rm -rf * ; mkdir d e; echo x >d/x; echo a >a; echo c >c");
        keeping.keep(changes);
        keeping.real(meanwhile);
        let before = tree(keeping.work());
        assert_eq!(keeping.conflicts(), [(path.to_owned(), why)], "{meanwhile}");
        assert_eq!(tree(keeping.work()), before, "{meanwhile}");
        keeping.drafts.throw_away(ID).unwrap();
    }
}

#[test]
fn what_others_changed_alike_is_no_conflict() {
    let Some(keeping) = Keeping::new() else { return };
    keeping.real("umask 022; echo a >a; echo b >b");
    keeping.keep("umask 022; echo new >a; rm b; mkdir -p n; echo f >n/f");
    keeping.real("umask 022; echo new >a; rm b; mkdir n; echo f >n/f");
    assert_eq!(keeping.drafts.commit(ID, None).unwrap().paths, 0);
}

#[test]
fn a_change_while_the_job_runs_is_a_conflict() {
    let Some(keeping) = Keeping::new() else { return };
    keeping.real("echo a >a");
    let (file, ended) = (keeping.work().join("a"), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&ended);
    // It grows all the time; the job ends when it saw that.
    let writer = std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            File::options().append(true).open(&file).unwrap().write_all(b"outside\n").unwrap();
        }
    });
    let run =
        keeping.keep("s=$(stat -c %s a); until [ $(stat -c %s a) -gt $s ]; do :; done; echo inside >>a");
    ended.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert_eq!(run.run.ended.code(), 0);
    assert_eq!(keeping.conflicts(), [("a".to_owned(), Why::Changed)]);
}

#[test]
fn after_a_later_change_nothing_is_taken_back() {
    let Some(keeping) = Keeping::new() else { return };
    for (later, path, why) in [
        ("echo more >>a", "a", Why::Changed),
        ("echo stranger >n/g", "n", Why::Appeared),
        ("echo back >b", "b", Why::Appeared),
    ] {
        keeping.real("rm -rf *; echo a >a; echo b >b");
        keeping.commit("echo 2 >>a; rm b; mkdir n; echo f >n/f");
        keeping.real(later);
        let before = tree(keeping.work());
        assert_eq!(conflicts(keeping.drafts.undo(ID), keeping.work()), [(path.to_owned(), why)], "{later}");
        assert_eq!(tree(keeping.work()), before, "{later}");
        keeping.drafts.throw_away(ID).unwrap();
    }
}

#[test]
fn a_file_with_several_names_is_rewritten_and_flagged() {
    let Some(keeping) = Keeping::new() else { return };
    keeping.real("echo a >a; ln a b; chmod 640 a");
    let before = tree(keeping.work());
    keeping.keep("echo 2 >>a");
    let draft = keeping.drafts.find(ID).unwrap();
    assert_eq!(draft.entries[0].remark, Some(Remark::SeveralNames));
    keeping.drafts.commit(ID, None).unwrap();
    assert_eq!(fs::read_to_string(keeping.work().join("b")).unwrap(), "a\n2\n");
    keeping.drafts.undo(ID).unwrap();
    assert_eq!(tree(keeping.work()), before);
}

#[test]
fn only_chosen_paths_are_put_in_place() {
    let Some(keeping) = Keeping::new() else { return };
    keeping.real("echo a >a; mkdir d; echo x >d/x; echo y >d/y");
    keeping.keep("echo 2 >>a; rm -r d; mkdir -p n/m; echo f >n/m/f; echo g >n/g");
    let only = [keeping.work().join("n/m/f"), keeping.work().join("d/y")];
    keeping.drafts.commit(ID, Some(&only)).unwrap();
    let names: Vec<String> = tree(keeping.work()).keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["a", "d", "d/x", "n", "n/m", "n/m/f"]);
    assert_eq!(fs::read_to_string(keeping.work().join("a")).unwrap(), "a\n");
    keeping.drafts.undo(ID).unwrap();
    let names: Vec<String> = tree(keeping.work()).keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["a", "d", "d/x", "d/y"]);
}

#[test]
fn rights_sockets_and_attributes() {
    let Some(keeping) = Keeping::new() else { return };
    let setting = "import os,socket; os.setxattr('x','user.note',b'kept'); socket.socket(socket.AF_UNIX).bind('s'); os.chmod('x',0o4755)";
    keeping.keep(&format!("echo x >x; python3 -c \"{setting}\""));
    let draft = keeping.drafts.find(ID).unwrap();
    let remarks: Vec<_> = draft.entries.iter().map(|entry| entry.remark).collect();
    assert_eq!(remarks, [Some(Remark::NotAFile), Some(Remark::RightsLeftOut)]);
    keeping.drafts.commit(ID, None).unwrap();
    let file = keeping.work().join("x");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o755);
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(&file, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"kept");
    assert!(!keeping.work().join("s").exists());
}

#[test]
fn any_name_and_many_of_them() {
    let Some(keeping) = Keeping::new() else { return };
    keeping.commit(
        "for i in $(seq 300); do echo $i >\"$(printf 'n\\nl\\377%s' $i)\"; done; mkdir -- -d; echo >'-d/ *'",
    );
    assert_eq!(fs::read_dir(keeping.work()).unwrap().count(), 301);
    assert!(keeping.work().join(OsStr::from_bytes(b"n\nl\xff7")).exists());
    keeping.drafts.undo(ID).unwrap();
    assert_eq!(fs::read_dir(keeping.work()).unwrap().count(), 0);
}

#[test]
fn nobody_finds_two_drafts_by_one_word_or_none_by_any() {
    let Some(keeping) = Keeping::new() else { return };
    assert!(matches!(keeping.drafts.find("none-there"), Err(CommitError::Missing(_))));
    keeping.commit("echo a >a");
    assert!(matches!(keeping.drafts.find("-draft").map(|draft| draft.id), Ok(id) if id == ID));
    assert!(matches!(keeping.drafts.find("aft"), Err(CommitError::Missing(_))));
    assert!(matches!(keeping.drafts.commit(ID, None), Err(CommitError::State { state: "committed", .. })));
}

#[test]
fn a_large_file_with_holes_costs_nothing() {
    let Some(keeping) = Keeping::new() else { return };
    let changed = keeping.commit("truncate -s 5G big; printf end >>big");
    assert_eq!(changed.paths, 1);
    let facts = fs::metadata(keeping.work().join("big")).unwrap();
    assert_eq!(facts.len(), 5 * 1024 * 1024 * 1024 + 3);
    assert!(facts.blocks() < 1000);
}

#[test]
fn a_job_without_a_network_that_looks_for_one_is_seen() {
    let Some(keeping) = Keeping::new() else { return };
    assert_eq!(keeping.place.sh("echo quiet >f; cat f").network_tries, 0);
    for line in ["echo >/dev/tcp/192.0.2.1/80", "echo >/dev/udp/192.0.2.1/53", "echo >/dev/tcp/127.0.0.1/9"] {
        assert!(keeping.place.sh(&format!("({line}) 2>/dev/null; true")).network_tries > 0, "{line}");
    }
}
