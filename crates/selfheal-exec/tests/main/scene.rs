//! The live look at the machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use selfheal_core::ids::{RunId, Timestamp};
use selfheal_core::ports::{BoxOrder, BoxedRun, Boxes, PortError, Rung};
use selfheal_core::run::{Capture, Ended, Run};
use selfheal_core::scene::{Kind, Scene};
use selfheal_exec::LiveScene;

use crate::common::{folder, kill, wait_for};

fn scene(cwd: &Path, env: &[(&str, &str)]) -> LiveScene<'static> {
    LiveScene::new(cwd.to_owned(), variables(env), None)
}

fn variables(env: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
    env.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// An executable file, its folders included.
pub fn tool(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn facts_follow_links_and_tell_of_one_that_leads_nowhere() {
    let (_keep, cwd) = folder();
    fs::write(cwd.join("file"), "12345").unwrap();
    fs::set_permissions(cwd.join("file"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", cwd.join("link")).unwrap();
    symlink("nowhere", cwd.join("dangling")).unwrap();
    let scene = scene(&cwd, &[]);
    let facts = scene.facts(Path::new("link")).unwrap();
    assert_eq!((facts.kind, facts.len, facts.mode), (Kind::File, 5, 0o640));
    assert!(facts.modified_ms > 1_600_000_000_000);
    assert_eq!(scene.facts(Path::new("dangling")).unwrap().kind, Kind::Link);
    assert_eq!(scene.facts(&cwd).unwrap().kind, Kind::Directory);
    assert_eq!(scene.facts(Path::new("/dev/null")).unwrap().kind, Kind::Special);
    assert!(scene.facts(Path::new("nothing")).is_none());
}

#[test]
fn only_regular_files_are_read_and_never_waited_for() {
    let (_keep, cwd) = folder();
    fs::write(cwd.join("file"), "12345").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(cwd.join("fifo")).status().unwrap().success());
    let scene = scene(&cwd, &[]);
    assert_eq!(scene.read(Path::new("file"), 3).unwrap(), b"123");
    assert_eq!(scene.read(Path::new("file"), usize::MAX).unwrap(), b"12345");
    for path in ["fifo", "/dev/zero", ".", "nothing"] {
        assert!(scene.read(Path::new(path), 3).is_none(), "{path}");
    }
}

#[test]
fn names_are_the_first_thousand() {
    let (_keep, cwd) = folder();
    (0..1_200).for_each(|number| fs::write(cwd.join(format!("{number:04}")), "").unwrap());
    let names = scene(&cwd, &[]).names(Path::new("."));
    assert_eq!(
        (names.len(), names.first().unwrap().as_str(), names.last().unwrap().as_str()),
        (1_000, "0000", "0999")
    );
    assert!(scene(&cwd, &[]).names(Path::new("nothing")).is_empty());
}

#[test]
fn commands_are_found_on_the_path_first_and_in_the_tools_of_the_site_after() {
    let (_keep, cwd) = folder();
    let job = cwd.join("jobs/daily");
    fs::create_dir_all(&job).unwrap();
    let on_path = tool(cwd.join("path/site-tool"));
    let beside = tool(job.join("bin/site-tool"));
    let above = tool(cwd.join("tools/bin/site-tool"));
    let home = tool(cwd.join("home/.local/bin/site-tool"));
    fs::create_dir_all(cwd.join("scripts")).unwrap();
    fs::write(cwd.join("scripts/site-tool"), "not executable").unwrap();
    let (path, home_folder) =
        (cwd.join("path").display().to_string(), cwd.join("home").display().to_string());
    let scene = scene(&job, &[("PATH", &path), ("HOME", &home_folder)]);
    assert_eq!(scene.which("site-tool"), [on_path, home, beside.clone(), above]);
    assert_eq!(scene.which("bin/site-tool"), [beside]);
    assert!(scene.which("sh").iter().any(|path| path.ends_with("bin/sh")), "beside the PATH");
    assert!(scene.which("").is_empty() && scene.which("no-such-command-anywhere").is_empty());
}

#[test]
fn variables_and_processes_are_told() {
    let (_keep, cwd) = folder();
    let scene = scene(&cwd, &[("A", "1")]);
    assert_eq!((scene.var("A").as_deref(), scene.var("B")), (Some("1"), None));
    assert!(scene.process_lives(std::process::id()));
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    assert!(scene.process_lives(child.id()));
    kill("KILL", child.id());
    // Not waited for: a zombie does not live.
    wait_for("its end", || (!scene.process_lives(child.id())).then_some(()));
    child.wait().unwrap();
}

#[test]
fn a_mount_that_is_missing_is_seen_through_links_too() {
    let (_keep, cwd) = folder();
    symlink("/mnt/no-such-disk", cwd.join("disk")).unwrap();
    fs::create_dir(cwd.join("there")).unwrap();
    let fstab = format!("nas:/x {}/share nfs defaults 0 0\n", cwd.display());
    let scene = scene(&cwd, &[]).with_mounts(&fstab, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
    assert!(scene.missing_mount(Path::new("share/backups")));
    assert!(scene.missing_mount(Path::new("/mnt/no-such-disk/x")));
    assert!(!scene.missing_mount(Path::new("there/new")));
    // A link to a folder that exists leads through its target.
    symlink(cwd.join("there"), cwd.join("share-link")).unwrap();
    assert!(!scene.missing_mount(Path::new("share-link/x")));
}

#[test]
fn where_a_path_really_is_is_told_through_links_and_bind_mounts() {
    let (_keep, cwd) = folder();
    let cwd = cwd.canonicalize().unwrap();
    fs::create_dir(cwd.join("there")).unwrap();
    symlink(cwd.join("there"), cwd.join("link")).unwrap();
    let bound = cwd.join("bound");
    let mountinfo = format!(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:1 /etc/ssl {} rw - ext4 /dev/sda1 rw\n",
        bound.display()
    );
    let scene = scene(&cwd, &[]).with_mounts("", &mountinfo);
    assert_eq!(scene.real(Path::new("link/new/x")), Some(cwd.join("there/new/x")));
    assert_eq!(scene.real(Path::new("there")), Some(cwd.join("there")));
    assert_eq!(scene.real(Path::new("bound/a")), Some("/etc/ssl/a".into()));
}

/// Boxes that answer, and remember what they were asked.
struct Answering {
    ended: Ended,
    asked: Mutex<Vec<BoxOrder>>,
}

impl Boxes for Answering {
    fn rung(&self) -> Rung {
        Rung { name: "overlay".into(), why_not_better: Vec::new() }
    }

    fn run(&self, order: &BoxOrder) -> Result<BoxedRun, PortError> {
        self.asked.lock().unwrap().push(order.clone());
        let text = |text: &str| Capture { head: text.into(), tail: Vec::new(), total: text.len() as u64 };
        let run = Run {
            id: RunId::new("x"),
            started: Timestamp(0),
            duration_ms: 1,
            ended: self.ended.clone(),
            stdout: text("usage: "),
            stderr: text("--help"),
            peak_kib: None,
            left_running: Vec::new(),
            at_deadline: None,
        };
        let (effects, trace, inconclusive) = (Vec::new(), None, None);
        Ok(BoxedRun {
            run,
            effects,
            trace,
            inconclusive,
            rung: "overlay".into(),
            fetched: BTreeMap::new(),
            no_draft: None,
            network_tries: 0,
        })
    }
}

#[test]
fn a_command_is_asked_in_a_box_and_only_if_it_is_there() {
    let (_keep, cwd) = folder();
    let env = variables(&[("PATH", "/usr/bin:/bin")]);
    let ask = |ended: Ended, argv: &[&str]| {
        let boxes = Answering { ended, asked: Mutex::default() };
        let answer = LiveScene::new(cwd.clone(), env.clone(), Some(&boxes)).ask(argv);
        (answer, boxes.asked.into_inner().unwrap())
    };
    let (answer, asked) = ask(Ended::Exited(1), &["sh", "--help"]);
    assert_eq!(answer.as_deref(), Some("usage: --help"));
    assert_eq!((asked.len(), asked.first().unwrap().deadline_ms), (1, 3_000));
    assert_eq!(ask(Ended::TimedOut { after_ms: 3_000 }, &["sh", "--help"]).0, None);
    let (answer, asked) = ask(Ended::Exited(0), &["no-such-command-anywhere", "--help"]);
    assert!(answer.is_none() && asked.is_empty());
    assert_eq!(scene(&cwd, &[]).ask(&["sh", "--help"]), None);
}
