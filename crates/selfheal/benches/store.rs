//! What a very full store costs: `cargo bench -p selfheal --bench store`.
//!
//! Heals one job for real, fills a store with 100,000 incidents like it through the store's public surface (each with its
//! own id, time, saved contents, ledger records and run), spread over 400 days, and prints: the size, how long `incidents`
//! and `show` take, what recording one run costs, and the size after `selfheal gc` with default retention. `-- 10000` takes
//! another number, `-- 10000 FOLDER` fills the store there. Nothing is fast that needs `fsync`, so a folder in memory fills
//! sooner; the cost of recording is that of the folder's file system.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark is run by hand and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_core::ids::{ContentHash, IncidentId, JobKey, RunId, Timestamp};
use selfheal_core::incident::Incident;
use selfheal_core::ports::{Entry, IncidentFilter, Journal, RunRecord, Snapshots};
use selfheal_store::{Store, StoreOptions};

/// How long ago the oldest incident is, in milliseconds.
const SPREAD_MS: i64 = 400 * 24 * 3_600_000;
/// Jobs that the incidents are of.
const JOBS: u32 = 200;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let incidents: u32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(100_000);
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let folder = words.next().map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("the folder");
    let (like, entries) = healed(&folder);
    fill(&folder, incidents, &like, &entries);
    sizes(&folder, "full");
    times(&folder);
    recording(&folder);
    let began = Instant::now();
    assert!(selfheal(&folder, &["gc"]).status().expect("selfheal").success());
    println!("gc took                      {:>8.1} s", began.elapsed().as_secs_f64());
    sizes(&folder, "after gc");
    let began = Instant::now();
    assert!(selfheal(&folder, &["audit", "verify"]).status().expect("selfheal").success());
    println!("audit verify took            {:>8.1} s", began.elapsed().as_secs_f64());
}

fn selfheal(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfheal"));
    command
        .args(words)
        .env("SELFHEAL_STATE_DIR", folder.join("state"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn open(folder: &Path) -> Store {
    Store::open(&folder.join("state"), StoreOptions::default()).expect("a store")
}

/// Heals the backup job, and gives its incident with what the ledger says of it.
fn healed(folder: &Path) -> (Incident, Vec<Entry>) {
    let script = include_str!("../../../examples/backup/backup.sh");
    std::fs::write(folder.join("backup.sh"), script).expect("the script");
    std::fs::create_dir_all(folder.join("logs")).expect("the folder");
    let status = selfheal(folder, &["run", "--apply", "low", "--", "bash", "backup.sh"]).status();
    assert!(status.expect("selfheal").success(), "the job is healed");
    let store = open(folder);
    let incident = store.incidents(&IncidentFilter::default()).expect("incidents").remove(0);
    let entries = store.entries(&incident.id, 100).expect("entries");
    let bytes = serde_json::to_string(&incident).expect("JSON").len();
    println!("one incident                 {bytes:>8} bytes, {} ledger records", entries.len());
    (incident, entries)
}

fn fill(folder: &Path, incidents: u32, like: &Incident, entries: &[Entry]) {
    let store = open(folder);
    let now = like.opened.0;
    let began = Instant::now();
    let before = load(&store, like.rounds[0].files[0].before.as_ref());
    let after = load(&store, like.rounds[0].files[0].after.as_ref());
    for number in 0..incidents {
        let id = IncidentId::new(format!("019f0000-{:04x}-7000-8000-{number:012x}", number % 0xffff));
        let opened = Timestamp(now - SPREAD_MS + SPREAD_MS / i64::from(incidents) * i64::from(number));
        let mut incident = Incident {
            id: id.clone(),
            job: job(number),
            opened,
            updated: opened,
            state: selfheal_core::engine::State::Confirmed,
            ..like.clone()
        };
        // Every third failure is one of a script of its own.
        if number % 3 == 0 {
            let file = &mut incident.rounds[0].files[0];
            file.path = folder.join(format!("gone/{number}.sh"));
            file.before = Some(save(folder, &store, (&before, number), opened));
            file.after = Some(save(folder, &store, (&after, number), opened));
        }
        let of_it = |entry: &Entry| Entry { at: opened, incident: Some(id.clone()), ..entry.clone() };
        let entries: Vec<Entry> = entries.iter().map(of_it).collect();
        store.store(&incident, &entries).expect("stored");
        store.record_run(&run(number, opened)).expect("recorded");
        if number % 10_000 == 9_999 {
            println!("filled {:>7} in {:>7.0} s", number + 1, began.elapsed().as_secs_f64());
        }
    }
}

fn job(number: u32) -> JobKey {
    JobKey::new(format!("job-{}", number % JOBS))
}

fn run(number: u32, started: Timestamp) -> RunRecord {
    RunRecord {
        id: RunId::new(format!("019f0000-0000-7000-8000-{number:012x}")),
        job: job(number),
        started,
        duration_ms: 1_234,
        exit_code: 1,
        outcome: "failed".to_owned(),
        facts: None,
    }
}

fn load(store: &Store, hash: Option<&ContentHash>) -> Vec<u8> {
    store.load(hash.expect("a content")).expect("a saved content")
}

/// Saves a content of its own, as old as its incident: `gc` lets young ones be.
fn save(folder: &Path, store: &Store, (content, number): (&[u8], u32), at: Timestamp) -> ContentHash {
    let own = [content, format!("# {number}\n").as_bytes()].concat();
    let hash = store.save(&own).expect("saved");
    let (shelf, name) = hash.as_str().split_at(2);
    let path = folder.join("state/objects").join(shelf).join(name);
    let file = std::fs::File::options().write(true).open(path).expect("a saved content");
    let at = Duration::from_millis(u64::try_from(at.0).unwrap_or(0));
    file.set_modified(std::time::UNIX_EPOCH + at).expect("an own file");
    hash
}

fn sizes(folder: &Path, when: &str) {
    let state = folder.join("state");
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let all = on_disk(&state);
    let objects = on_disk(&state.join("objects"));
    let incidents = open(folder).incident_count().expect("a count");
    println!(
        "{when:<28} {:>8.0} MiB, of them saved contents {:.0} MiB; {incidents} incidents",
        mib(all),
        mib(objects)
    );
}

fn on_disk(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => on_disk(&entry.path()),
            Ok(facts) => facts.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

fn times(folder: &Path) {
    let store = open(folder);
    let some =
        store.incidents(&IncidentFilter { most: 50_000, ..IncidentFilter::default() }).expect("incidents");
    let middle = some[some.len() / 2].id.as_str().to_owned();
    let end = middle[middle.len() - 8..].to_owned();
    drop(store);
    for words in [
        vec!["incidents"],
        vec!["incidents", "--held"],
        vec!["incidents", "--job", "job-7"],
        vec!["show", &middle],
        vec!["show", &end],
        vec!["run", "--", "true"],
    ] {
        let mut all: Vec<Duration> = (0..31)
            .map(|_| {
                let began = Instant::now();
                assert!(selfheal(folder, &words).status().expect("selfheal").success());
                began.elapsed()
            })
            .collect();
        all.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        println!("{:<28} {:>8.2} ms median, {:.2} ms worst of 31", words.join(" "), ms(all[15]), ms(all[30]));
    }
}

fn recording(folder: &Path) {
    let store = open(folder);
    let mut all: Vec<Duration> = (0..1_001)
        .map(|number| {
            let record = run(1_000_000 + number, Timestamp(i64::from(number)));
            let began = Instant::now();
            store.record_run(&record).expect("recorded");
            began.elapsed()
        })
        .collect();
    all.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!("recording one run            {:>8.3} ms median, {:.3} ms p99", ms(all[500]), ms(all[990]));
}
