//! The corpus of failing outputs, through `selfheal explain --json`: every case of `selfheal-feedback/tests/corpus`, and
//! the figures that it must hold.
//!
//! A fifth of the cases is set aside by a hash of the name. `CORPUS=dev` prints what is wrong in the rest, which is what
//! parsers are written against; `CORPUS=aside` in the part set aside, which is looked at only for the final figure.

#![expect(clippy::print_stdout, reason = "the figures are to be read")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::support::env;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    command: String,
    exit_code: i32,
    /// The version of the program that wrote the output here.
    version: Option<String>,
    /// Where a format is documented that could not be run here.
    documented: Option<String>,
    output: String,
    #[serde(default)]
    folders: Vec<String>,
    expect: Expect,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    outcome: String,
    /// Absent where the message is the job's own and no class can be told.
    class: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
    remote: Option<String>,
    core_error: Option<String>,
}

/// What was right of one case.
struct Seen {
    name: String,
    aside: bool,
    wrong: Vec<String>,
    class: bool,
    location: bool,
    core_error: bool,
    confident: bool,
    confident_wrong: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../selfheal-feedback/tests/corpus")
}

/// FNV-1a over the name: a fifth of all names, but none of the round that was read to be mended from.
fn is_aside(name: &str) -> bool {
    if name.contains("/third-") {
        return false;
    }
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20) % 5 == 0
}

fn cases() -> Vec<(String, Case)> {
    let mut out = Vec::new();
    for family in std::fs::read_dir(folder()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in std::fs::read_dir(family.path()).unwrap().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let name =
                    format!("{}/{}", family.file_name().display(), path.file_stem().unwrap().display());
                let text = std::fs::read_to_string(&path).unwrap();
                let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(case.version.is_some() != case.documented.is_some(), "{name}: where is it from?");
                out.push((name, case));
            }
        }
    }
    out.sort_by(|one, other| one.0.cmp(&other.0));
    out
}

fn try_case(name: String, case: &Case) -> Seen {
    let env = env();
    for folder in &case.folders {
        std::fs::create_dir_all(env.work().join(folder)).unwrap();
    }
    for (file, text) in &case.files {
        if text.starts_with("#!") || file.contains("bin/") {
            env.script(file, text);
        } else {
            env.write(file, text);
        }
    }
    let job = env.work().canonicalize().unwrap();
    let output = case.output.replace("{JOB}", job.to_str().unwrap());
    let code = case.exit_code.to_string();
    let args = ["explain", "--command", &case.command, "--exit-code", &code, "--json"];
    let run = env.run_with_input(&args, output.as_bytes());
    let object: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {run:?}"));
    judge(name, &case.expect, &object)
}

/// All cases, several at once: each is a process of its own.
fn try_all(cases: Vec<(String, Case)>) -> Vec<Seen> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(4);
    let size = cases.len().div_ceil(workers).max(1);
    std::thread::scope(|scope| {
        let some =
            |part: &[(String, Case)]| part.iter().map(|(name, case)| try_case(name.clone(), case)).collect();
        let handles: Vec<_> =
            cases.chunks(size).map(|part| scope.spawn(move || -> Vec<Seen> { some(part) })).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    })
}

fn judge(name: String, expect: &Expect, object: &Value) -> Seen {
    let mut wrong = Vec::new();
    let outcome = object["outcome"] == expect.outcome.as_str();
    if !outcome {
        wrong.push(format!("outcome {} not {}", object["outcome"], expect.outcome));
    }
    let class = expect.class.as_ref().is_none_or(|class| object["class"] == class.as_str());
    if !class {
        wrong.push(format!("class {} not {:?}", object["class"], expect.class));
    }
    let place = &object["location"];
    let remote = expect.remote.is_none() || place["remote"].as_str() == expect.remote.as_deref();
    let line =
        expect.line.map_or(place["line"].is_null() || expect.remote.is_some(), |line| place["line"] == line);
    let file = expect.file.as_ref().is_none_or(|file| place["file"] == file.as_str());
    let column = expect.column.is_none_or(|column| place["column"] == column);
    let location = line && file && column && remote;
    if !location {
        wrong.push(format!(
            "at {}:{} {} not {:?}:{:?} {:?}",
            place["file"], place["line"], place["remote"], expect.file, expect.line, expect.remote
        ));
    }
    let said = object["core_error"].as_str().unwrap_or_default();
    let core_error = expect.core_error.as_ref().is_none_or(|wanted| said.contains(wanted.as_str()));
    if !core_error {
        wrong.push(format!("core error {said:?} not {:?}", expect.core_error));
    }
    let confident = object["confidence"] == "high";
    Seen {
        aside: is_aside(&name),
        name,
        wrong,
        class: class && outcome,
        location,
        core_error,
        confident,
        confident_wrong: confident && !location && !place.is_null(),
    }
}

/// So many of a hundred.
fn percent(part: usize, whole: usize) -> f64 {
    (part as f64) * 100.0 / (whole.max(1) as f64)
}

fn figures(of: &str, seen: &[&Seen]) -> [f64; 4] {
    let count = |what: fn(&Seen) -> bool| seen.iter().filter(|seen| what(seen)).count();
    let n = seen.len();
    let figures = [
        percent(count(|seen| seen.class), n),
        percent(count(|seen| seen.location), n),
        percent(count(|seen| seen.core_error), n),
        percent(count(|seen| seen.confident_wrong), n),
    ];
    let [class, location, core, wrong] = figures;
    let confident = percent(count(|seen| seen.confident), n);
    println!(
        "{of}: {n} cases, class {class:.1} %, location {location:.1} %, core error {core:.1} %, confident {confident:.1} %, \
         confident and wrongly placed {wrong:.1} %"
    );
    figures
}

#[test]
fn the_corpus_is_understood() {
    let cases = cases();
    assert!(cases.len() >= 250, "only {} cases", cases.len());
    let shown = std::env::var("CORPUS").unwrap_or_default();
    let seen = try_all(cases);
    for one in
        seen.iter().filter(|one| !one.wrong.is_empty() && shown == if one.aside { "aside" } else { "dev" })
    {
        println!("{}\n    {}", one.name, one.wrong.join("\n    "));
    }
    let (aside, rest): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|one| one.aside);
    figures("written against", &rest);
    let [class, location, _, wrong] = figures("set aside", &aside);
    if shown != "measure" {
        assert!(
            class >= 95.0 && location >= 93.0 && wrong <= 1.0,
            "class {class}, location {location}, wrong {wrong}"
        );
    }
}
