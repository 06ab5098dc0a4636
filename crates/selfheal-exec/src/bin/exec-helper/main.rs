//! Plays the program in tests of this crate: the hidden commands, and `run RESULT DEADLINE_MS GRACE_MS COMMAND…`, which
//! makes a live run, writes it to the file RESULT as JSON and ends with its exit code; with `bare` for `run` it becomes the
//! command. `operate` is described there.

mod operate;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::process::ExitCode;

use selfheal_core::ids::RunId;
use selfheal_core::ports::{Executor, Order, Passing};
use selfheal_exec::{Supervisor, exec_bare};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code =
        selfheal_exec::hidden_command(&args).or_else(|| random(&args)).or_else(|| run(&args)).unwrap_or(2);
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn random(args: &[OsString]) -> Option<i32> {
    let [word, numbers @ ..] = args else { return None };
    let numbers: Vec<u64> = numbers.iter().filter_map(|number| number.to_str()?.parse().ok()).collect();
    match (word.to_str()?, numbers.as_slice()) {
        ("operate", [seed, from, to, sockets]) => {
            Some(i32::from(operate::main(*seed, *from..*to, *sockets == 1).is_err()))
        }
        _ => None,
    }
}

fn run(args: &[OsString]) -> Option<i32> {
    let [word, result, deadline, grace, argv @ ..] = args else { return None };
    let order = Order {
        id: RunId::new("00000000-0000-7000-8000-000000000002"),
        argv: (word == "run" || word == "bare").then(|| argv.to_vec())?,
        cwd: std::env::current_dir().ok()?,
        env: BTreeMap::new(),
        deadline_ms: deadline.to_str()?.parse().ok()?,
        grace_ms: grace.to_str()?.parse().ok()?,
        stdout: Passing::Live,
        keep: 4096,
        log: None,
    };
    if word == "bare" {
        return Some(exec_bare(&order).code());
    }
    let supervisor = Supervisor::of_self();
    let run = supervisor.run(&order).ok()?;
    fs::write(result, serde_json::to_vec(&run).ok()?).ok()?;
    supervisor.keys().into_iter().for_each(selfheal_exec::end_by_keys);
    Some(run.ended.code())
}
