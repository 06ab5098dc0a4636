//! kill -9 at failpoints and at random moments of every phase. Afterwards no file is half written, every change can be taken
//! back, the record is whole, and the next start ends what was begun and says so.
//!
//! `SELFHEAL_CRASH_KILLS=500` kills as often; by default it is some forty times. A kill counts only where the process was alive
//! and in the phase; the last failpoint that it reached tells.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use selfheal_core::engine::State;
use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{IncidentFilter, Journal, Snapshots};
use selfheal_store::{Store, StoreOptions};
use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, env};

/// The phases, each by how its failpoints begin.
const PHASES: [&str; 7] = ["run", "heal", "apply", "rerun", "undo", "commit", "gc"];
/// Kills by default.
const USUAL: usize = 42;
/// How long a process may take, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(300);

fn kills() -> usize {
    std::env::var("SELFHEAL_CRASH_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

/// The kills that each phase must get.
fn quota() -> usize {
    kills().div_ceil(PHASES.len())
}

/// The failpoints that a process reached, in order.
struct Reached(PathBuf);

impl Reached {
    fn new(env: &TestEnv) -> Self {
        let path = env.root().join("reached");
        let _ = fs::remove_file(&path);
        Self(path)
    }

    fn all(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        // The last line may be written just now.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect()
    }

    fn phases(&self) -> Vec<Option<&'static str>> {
        phases_of(&self.all())
    }
}

/// The phase of each failpoint: its own, or, for those of the store, that of the one before.
fn phases_of(reached: &[String]) -> Vec<Option<&'static str>> {
    let mut at = None;
    let mut of = |name: &String| {
        let own = PHASES.into_iter().find(|phase| name.split('.').next() == Some(phase));
        at = own.or(at);
        at
    };
    reached.iter().map(&mut of).collect()
}

/// How one process is killed.
#[derive(Clone, Copy, Debug)]
enum Kill {
    /// At a failpoint, by its number.
    At(usize),
    /// So long after it reached a failpoint.
    After(usize, Duration),
}

/// Runs a command and kills it; the phase that it was in, if it was alive.
fn kill(env: &TestEnv, args: &[&str], how: Kill) -> Option<&'static str> {
    let reached = Reached::new(env);
    let mut command = env.command(args);
    command.env("SELFHEAL_FAILPOINT_LOG", &reached.0).stdout(Stdio::null()).stderr(Stdio::null());
    if let Kill::At(number) = how {
        command.env("SELFHEAL_FAILPOINT", number.to_string());
    }
    let mut child = command.spawn().unwrap();
    if let Kill::After(number, moment) = how {
        let patience = Instant::now() + PATIENCE;
        while reached.all().len() < number && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < patience, "{args:?} never reached failpoint {number}");
            std::thread::sleep(Duration::from_micros(200));
        }
        let until = Instant::now() + moment;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let _ = child.kill();
    }
    let status = child.wait().unwrap();
    (status.signal() == Some(9)).then(|| reached.phases().last().copied().flatten()).flatten()
}

/// A way that is cut short: what is done again and again, and what must hold after each kill.
trait Way {
    /// The environment, ready for the command.
    fn ready(&mut self) -> &TestEnv;
    /// The command.
    fn args(&self) -> Vec<String>;
    /// What must hold after a kill, and that the next start makes good.
    fn check(&mut self, how: Kill);
}

/// Kills a way in all its phases until each has its kills; how many each got.
#[expect(clippy::print_stdout, reason = "the figure that docs/results.md names")]
fn cut(way: &mut dyn Way, phases: &[&'static str]) -> BTreeMap<&'static str, usize> {
    let args = way.args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let whole = {
        let env = way.ready();
        let reached = Reached::new(env);
        let done = env.command(&args).env("SELFHEAL_FAILPOINT_LOG", &reached.0).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        reached.phases()
    };
    way.check(Kill::At(usize::MAX));
    let mut counted: BTreeMap<&'static str, usize> = phases.iter().map(|phase| (*phase, 0)).collect();
    for phase in phases {
        let points: Vec<usize> =
            whole.iter().enumerate().filter(|(_, at)| **at == Some(*phase)).map(|(n, _)| n + 1).collect();
        assert!(!points.is_empty(), "{phase} has no failpoint: {whole:?}");
        let mut tried = 0;
        while counted[phase] < quota() {
            assert!(tried < 10 * quota(), "{phase} is hardly ever hit: {counted:?}");
            let point = points[tried * 7 % points.len()];
            // Every other kill is at a moment that no failpoint names.
            let moment = Duration::from_micros((tried as u64 * 271) % 3_000);
            let how = if tried % 2 == 0 { Kill::At(point) } else { Kill::After(point, moment) };
            let hit = kill(way.ready(), &args, how);
            way.check(how);
            if let Some(count) = hit.and_then(|hit| counted.get_mut(hit)) {
                *count += 1;
            }
            tried += 1;
        }
    }
    println!("kills: {counted:?}");
    counted
}

fn store(env: &TestEnv) -> Store {
    Store::open(&env.state(), StoreOptions { patience_ms: 120_000 }).unwrap()
}

/// The next start: it says what it found, leaves nothing that is worked on, and the record is whole.
fn start_again(env: &TestEnv, how: Kill) {
    let left = store(env).owned_incidents().unwrap().len();
    let tick = env.run(&["tick"]);
    assert_eq!(tick.code, 0, "{how:?}: {tick:?}");
    let said = tick.stdout.lines().filter(|line| line.contains("its process ended while")).count();
    assert_eq!(said, left, "{how:?}: {tick:?}");
    assert_eq!(store(env).owned_incidents().unwrap(), [], "{how:?}");
    let audit = env.run(&["audit", "verify"]);
    assert_eq!(audit.code, 0, "{how:?}: {audit:?}");
}

/// The temporary files that lie about where a script is.
fn strewn(env: &TestEnv) -> Vec<String> {
    let names = fs::read_dir(env.work()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.contains(".selfheal-")).collect()
}

/// What the repair makes of the backup job.
fn repaired() -> String {
    let env = backup_env();
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(run.code, 0, "{run:?}");
    env.read("backup.sh")
}

/// A failing job is run, healed and run again.
struct Heal {
    env: TestEnv,
    repaired: String,
    kills: usize,
}

impl Way for Heal {
    fn ready(&mut self) -> &TestEnv {
        self.env = backup_env();
        &self.env
    }

    fn args(&self) -> Vec<String> {
        ["run", "--apply", "low", "--", "bash", "backup.sh"].map(str::to_owned).into()
    }

    fn check(&mut self, how: Kill) {
        let env = &self.env;
        let whole = || {
            let script = env.read("backup.sh");
            assert!(script == BACKUP || script == self.repaired, "{how:?}: {script}");
            script
        };
        whole();
        start_again(env, how);
        assert_eq!(strewn(env), [""; 0], "{how:?}");
        self.kills += 1;
        if whole() == self.repaired {
            // Every change that was made can be taken back.
            let undone = env.run(&["undo", "--last"]);
            assert_eq!((undone.code, whole().as_str()), (0, BACKUP), "{how:?}: {undone:?}");
            return;
        }
        let held = IncidentFilter { states: vec![State::Held.word()], ..IncidentFilter::default() };
        let held = store(env).incidents(&held).unwrap();
        if let Some(incident) = held.first() {
            let approved = env.run(&["approve", incident.id.as_str()]);
            assert_eq!((approved.code, whole()), (0, self.repaired.clone()), "{how:?}: {approved:?}");
        } else if self.kills.is_multiple_of(8) {
            let again = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
            assert_eq!((again.code, whole()), (0, self.repaired.clone()), "{how:?}: {again:?}");
        }
    }
}

#[test]
fn killed_while_it_runs_heals_applies_and_runs_again() {
    let mut way = Heal { env: backup_env(), repaired: repaired(), kills: 0 };
    cut(&mut way, &["run", "heal", "apply", "rerun"]);
}

/// A repair is taken back, again and again.
struct Undo {
    env: TestEnv,
    repaired: String,
}

impl Way for Undo {
    fn ready(&mut self) -> &TestEnv {
        if self.env.read("backup.sh") == BACKUP {
            let newest = self.env.run(&["incidents"]).stdout;
            let id = newest.split_whitespace().next().unwrap();
            let redone = self.env.run(&["redo", id]);
            assert_eq!(redone.code, 0, "{redone:?}");
        }
        &self.env
    }

    fn args(&self) -> Vec<String> {
        ["undo", "--last"].map(str::to_owned).into()
    }

    fn check(&mut self, how: Kill) {
        let script = self.env.read("backup.sh");
        assert!(script == BACKUP || script == self.repaired, "{how:?}: {script}");
        start_again(&self.env, how);
        let all = store(&self.env).incidents(&IncidentFilter::default()).unwrap();
        let (script, state) = (self.env.read("backup.sh"), &all[0].state);
        let fits = if script == BACKUP { *state == State::RolledBack } else { *state == State::Watching };
        assert!(fits && (script == BACKUP || script == self.repaired), "{how:?}: {state:?} {script}");
        assert_eq!(strewn(&self.env), [""; 0], "{how:?}");
    }
}

#[test]
fn killed_while_it_takes_back() {
    let env = backup_env();
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(run.code, 0, "{run:?}");
    let repaired = env.read("backup.sh");
    cut(&mut Undo { env, repaired }, &["undo"]);
}

/// A repair of three files, one of them new.
fn of_several_files() -> TestEnv {
    let env = env();
    env.write("job.sh", "set -eu\n. lib/names.sh\necho \"$greeting\" > out.txt\n");
    env.write("lib/names.sh", "greetin=hello\n");
    let give = |path: &str, text: &str| {
        let file = env.root().join("given").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    give("job.sh", "set -eu\n. lib/names.sh\necho \"$greeting\" >out.txt\n");
    give("lib/names.sh", ". ./lib/more.sh\n");
    give("lib/more.sh", "greeting=hello\n");
    let run = env.run(&["run", "--apply", "medium", "--proposal", "../given", "--", "sh", "job.sh"]);
    assert_eq!((run.code, Several::files(&env)), (0, Several::after()), "{run:?}");
    env
}

struct Several;

impl Several {
    fn files(env: &TestEnv) -> [Option<String>; 3] {
        ["job.sh", "lib/names.sh", "lib/more.sh"].map(|name| fs::read_to_string(env.work().join(name)).ok())
    }

    fn before() -> [Option<String>; 3] {
        let job = "set -eu\n. lib/names.sh\necho \"$greeting\" > out.txt\n";
        [Some(job.to_owned()), Some("greetin=hello\n".to_owned()), None]
    }

    fn after() -> [Option<String>; 3] {
        let job = "set -eu\n. lib/names.sh\necho \"$greeting\" >out.txt\n";
        [job, ". ./lib/more.sh\n", "greeting=hello\n"].map(|text| Some(text.to_owned()))
    }
}

/// The failpoints of a command, each of which is then the end of it once.
fn points(env: &TestEnv, args: &[&str]) -> usize {
    let reached = Reached::new(env);
    let done = env.command(args).env("SELFHEAL_FAILPOINT_LOG", &reached.0).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    reached.all().len()
}

fn newest(env: &TestEnv) -> Incident {
    store(env).incidents(&IncidentFilter::default()).unwrap().remove(0)
}

#[test]
fn a_repair_of_several_files_is_taken_back_whole_wherever_it_is_killed() {
    let env = of_several_files();
    let id = newest(&env).id;
    let (undo, redo) = (["undo", id.as_str()], ["redo", id.as_str()]);
    let undo_points = points(&env, &undo);
    assert_eq!(Several::files(&env), Several::before());
    let redo_points = points(&env, &redo);
    assert_eq!(Several::files(&env), Several::after());
    let mut ends = BTreeMap::new();
    for (args, other, points) in [(undo, redo, undo_points), (redo, undo, redo_points)] {
        for point in 1..=points {
            let how = Kill::At(point);
            kill(&env, &args, how);
            for (at, file) in Several::files(&env).iter().enumerate() {
                let whole = *file == Several::before()[at] || *file == Several::after()[at];
                assert!(whole, "{args:?} {how:?}: {file:?}");
            }
            start_again(&env, how);
            let (files, state) = (Several::files(&env), newest(&env).state);
            let done = match state {
                State::Watching => files == Several::after(),
                // A repair that was about to come again is as ready as one that waits.
                State::RolledBack | State::Held => files == Several::before(),
                _ => false,
            };
            assert!(done, "{args:?} {how:?}: {state:?} {files:?}");
            *ends.entry((args[0], state.word())).or_insert(0) += 1;
            // Back to where it began.
            let back = match (args[0], &state) {
                ("undo", State::RolledBack) | ("redo", State::Watching) => Some(other),
                ("redo", State::Held) => {
                    assert_eq!(env.run(&["approve", id.as_str()]).code, 0);
                    Some(other)
                }
                _ => None,
            };
            if let Some(back) = back {
                let back = env.run(&back);
                assert_eq!(back.code, 0, "{args:?} {how:?}: {back:?}");
            }
        }
    }
    assert!(ends.len() >= 3, "both ends of both ways were seen: {ends:?}");
}

#[test]
fn what_force_takes_away_is_saved_first_wherever_it_is_killed() {
    let env = of_several_files();
    let id = newest(&env).id;
    let mut point = 0;
    loop {
        point += 1;
        let mine = format!("mine {point}, not to be lost\n");
        fs::write(env.work().join("lib/names.sh"), &mine).unwrap();
        let how = Kill::At(point);
        let refused = env.run(&["undo", id.as_str()]);
        assert_eq!((refused.code, env.read("lib/names.sh")), (1, mine.clone()), "{how:?}: {refused:?}");
        let killed = kill(&env, &["undo", "--force", id.as_str()], how).is_some()
            || Several::files(&env) != Several::before();
        start_again(&env, how);
        if newest(&env).state == State::RolledBack {
            assert_eq!(Several::files(&env), Several::before(), "{how:?}");
            let redone = env.run(&["redo", id.as_str()]);
            assert_eq!(redone.code, 0, "{how:?}: {redone:?}");
        }
        assert_eq!(env.read("lib/names.sh"), mine, "{how:?}: it is there or comes again");
        if !killed {
            break;
        }
    }
    assert!(point > 5, "{point}");
}

/// What a try did is put in place, again and again.
struct Commit {
    env: TestEnv,
    id: String,
}

impl Commit {
    const OLD: [Option<&str>; 3] = [Some("old\n"), Some("old\n"), None];
    const NEW: [Option<&str>; 3] = [Some("old\nnew\n"), None, Some("new\n")];

    fn files(&self) -> [Option<String>; 3] {
        ["kept", "gone", "made"].map(|name| fs::read_to_string(self.env.work().join(name)).ok())
    }

    fn is(&self, wanted: [Option<&str>; 3]) -> bool {
        self.files() == wanted.map(|text| text.map(str::to_owned))
    }
}

impl Way for Commit {
    fn ready(&mut self) -> &TestEnv {
        if self.is(Self::NEW) {
            let undone = self.env.run(&["undo", &self.id]);
            assert_eq!(undone.code, 0, "{undone:?}");
        }
        assert!(self.is(Self::OLD), "{:?}", self.files());
        &self.env
    }

    fn args(&self) -> Vec<String> {
        ["try", "--commit", &self.id].map(str::to_owned).into()
    }

    fn check(&mut self, how: Kill) {
        start_again(&self.env, how);
        assert!(self.is(Self::OLD) || self.is(Self::NEW), "{how:?}: {:?}", self.files());
    }
}

#[test]
fn killed_while_it_puts_in_place_what_a_try_did() {
    let env = env();
    env.write("kept", "old\n");
    env.write("gone", "old\n");
    let kept = env.run(&["try", "--keep", "--", "bash", "-c", "echo new >>kept; rm gone; echo new >made"]);
    let Some(at) = kept.stderr.find("--commit ") else {
        // No boxes here.
        return;
    };
    let id = kept.stderr[at + 9..].split_whitespace().next().unwrap().to_owned();
    cut(&mut Commit { env, id }, &["commit"]);
}

/// What is old is dropped, and what is needed stays.
struct Gc {
    env: TestEnv,
    /// A repair that is in place, with the content that its undo needs.
    mended: Incident,
    made: u32,
}

impl Way for Gc {
    fn ready(&mut self) -> &TestEnv {
        let store = store(&self.env);
        for _ in 0..250 {
            self.made += 1;
            let id = IncidentId::new(format!("01890a5d-ac96-774b-bcce-{:012x}", self.made));
            let old = Timestamp(1_700_000_000_000 + i64::from(self.made));
            let old = Incident {
                id,
                state: State::HandedOver,
                opened: old,
                updated: old,
                rounds: Vec::new(),
                ..self.mended.clone()
            };
            store.note_sent(&old.id, &self.mended.command).unwrap();
            store.store(&old, &[]).unwrap();
        }
        let hash = store.save(format!("nobody's {}", self.made).as_bytes()).unwrap();
        let (shelf, name) = hash.as_str().split_at(2);
        let path = self.env.state().join("objects").join(shelf).join(name);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        &self.env
    }

    fn args(&self) -> Vec<String> {
        vec!["gc".to_owned()]
    }

    fn check(&mut self, how: Kill) {
        start_again(&self.env, how);
        let store = store(&self.env);
        assert_eq!(store.incident(self.mended.id.as_str()).unwrap().state, State::Watching, "{how:?}");
        let before = self.mended.rounds[0].files[0].before.as_ref().unwrap();
        assert_eq!(store.load(before).unwrap(), BACKUP.as_bytes(), "{how:?}");
    }
}

#[test]
fn killed_while_it_drops_what_is_old() {
    let env = backup_env();
    let run = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mended = store(&env).incidents(&IncidentFilter::default()).unwrap().remove(0);
    let mut way = Gc { env, mended, made: 0 };
    cut(&mut way, &["gc"]);
    let undone = way.env.run(&["undo", "--last"]);
    assert_eq!((undone.code, way.env.read("backup.sh").as_str()), (0, BACKUP), "{undone:?}");
}
