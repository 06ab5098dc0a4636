//! Attempts to get out of a box (`attempts.py`): each is made outside first, where it must succeed, or there is nothing
//! to try on this machine; and then in a box, where it must not, and where nothing outside may have changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use selfheal_core::ports::Boxes;
use serde_json::Value;

use super::{Place, can_try, is_root};
use crate::common::wait_for;

/// Needs `ctypes`, as the system's own has it; another on the PATH may be out of an ordinary user's reach.
const PYTHON: &str = "/usr/bin/python3";

/// What is shown of an attempt: `out` (it got out), `held` (refused, and why), `absent` (nothing to try).
type Showed = BTreeMap<String, (String, String)>;

/// The things of the machine that attempts go for.
struct Holder {
    child: Child,
    folder: PathBuf,
}

impl Holder {
    fn start(program: &Path, folder: &Path) -> Self {
        std::fs::create_dir(folder).unwrap();
        let child = Command::new(PYTHON)
            .arg(program)
            .args(["hold".as_ref(), folder.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let holder = Self { child, folder: folder.to_owned() };
        wait_for("the things of the machine", || holder.folder.join("host.json").exists().then_some(()));
        holder
    }

    /// The attempts whose own file or process was changed.
    fn changed(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn environment(folder: &Path) -> BTreeMap<OsString, OsString> {
    let home = folder.join("home").into_os_string();
    let path = std::env::var_os("PATH").unwrap();
    let pairs: [(&str, OsString); 4] = [
        ("PATH", path),
        ("HOME", home),
        ("TEST_API_TOKEN", "hush".into()),
        ("SSH_AUTH_SOCK", "/nowhere".into()),
    ];
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Reads what was shown; what the holder saw changed got out.
fn read(text: &str, changed: &[String]) -> Showed {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| {
            let field = |name: &str| line.get(name).and_then(Value::as_str).unwrap().to_owned();
            let (name, result) = (field("name"), field("result"));
            let result = match result.as_str() {
                _ if changed.contains(&name) => "out".to_owned(),
                "look" => "held".to_owned(),
                _ => result,
            };
            (name, (result, field("why")))
        })
        .collect()
}

/// A descriptor of a file outside that nobody closes: a job must not get it.
fn leak(folder: &Path) -> std::os::fd::OwnedFd {
    let file = std::fs::OpenOptions::new().append(true).open(folder.join("leak")).unwrap();
    let leaked = rustix::io::dup(&file).unwrap();
    assert!(!rustix::io::fcntl_getfd(&leaked).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    assert!(leaked.as_raw_fd() > 2);
    leaked
}

fn outside(place: &Place, program: &Path) -> Showed {
    let folder = place.work.join("outside");
    let holder = Holder::start(program, &folder);
    let _leak = leak(&folder);
    let output = Command::new(PYTHON)
        .arg(program)
        .args(["try".as_ref(), folder.as_os_str(), "outside".as_ref()])
        .env_clear()
        .envs(environment(&folder))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&String::from_utf8_lossy(&output.stdout), &holder.changed())
}

fn inside(place: &Place, program: &Path) -> Showed {
    let folder = place.work.join("inside");
    let holder = Holder::start(program, &folder);
    let _leak = leak(&folder);
    let mut order =
        place.order(&[PYTHON, program.to_str().unwrap(), "try", folder.to_str().unwrap(), "inside"]);
    order.env = environment(&folder);
    let run = place.run(&order).run;
    assert_eq!(run.ended.code(), 0, "{}{}", run.stdout.text(), run.stderr.text());
    read(&run.stdout.text(), &holder.changed())
}

#[test]
fn no_attempt_gets_out() {
    attempt_all(&Place::new());
}

#[test]
fn no_attempt_gets_out_of_copies() {
    attempt_all(&Place::forbidding(&["overlay"]));
}

fn attempt_all(place: &Place) {
    if !can_try(place) {
        return;
    }
    if !Path::new(PYTHON).exists() {
        println!("skipped: there is no {PYTHON}");
        return;
    }
    let program = place.write("attempts.py", include_str!("attempts.py"));
    let (outside, inside) = (outside(place, &program), inside(place, &program));
    assert!(outside.keys().eq(inside.keys()));
    let who = if is_root() { "root" } else { "an ordinary user" };
    println!("{:<52} {:<24} in a box ({}), as {who}", "attempt", "outside", place.runner.rung().name);
    let mut shown = 0;
    let mut escaped = Vec::new();
    for (name, (result, why)) in &outside {
        let (boxed, boxed_why) = inside.get(name).unwrap();
        println!(
            "{:<52} {:<24} {}",
            name.replace('_', " "),
            format!("{result} {why}"),
            format!("{boxed} {boxed_why}").trim_end()
        );
        shown += usize::from(result == "out" && boxed != "absent");
        if !matches!(boxed.as_str(), "held" | "absent") || result == "broken" {
            escaped.push(name);
        }
    }
    println!(
        "{} attempts: {shown} succeed outside, {} are not applicable here (refused outside as well, or nothing there), \
         {} got out",
        inside.len(),
        inside.len() - shown,
        escaped.len()
    );
    assert!(escaped.is_empty(), "{escaped:?}");
    assert!(inside.len() >= 60, "{}", inside.len());
}
