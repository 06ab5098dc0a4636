//! Tasks through the program: what survives, what is never done twice, what people are told.

mod apart;
mod attacks;
mod boxed;
mod files;
mod many;
mod pipeline;
mod room;
mod steps;
mod survive;

use std::fs;
use std::process::{Child, Stdio};

use selfheal_testkit::TestEnv;
use serde_json::Value;

use crate::support::{env, wait_for};

pub fn with_task(text: &str) -> TestEnv {
    let env = env();
    env.write("t.toml", text);
    env
}

/// The state of the newest run.
pub fn state(env: &TestEnv) -> Value {
    let shown = env.run(&["task", "status", "--json"]);
    serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown:?}"))
}

pub fn outcome(state: &Value, step: &str) -> String {
    let step = &state["steps"][step];
    let ended = step["result"]["outcome"].as_str().filter(|_| step["stage"] == "ended");
    ended.or(step["stage"].as_str()).unwrap_or_default().to_owned()
}

pub fn lines(env: &TestEnv, file: &str) -> Vec<String> {
    fs::read_to_string(env.work().join(file)).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Says that it runs, and ends when it is allowed to.
pub const WAITS: &str =
    "run = \"echo began >> witness; while [ ! -e go ]; do sleep 0.02; done; echo ended >> witness\"\n";

pub fn started(env: &TestEnv, args: &[&str]) -> Child {
    let child =
        env.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the step", || !lines(env, "witness").is_empty());
    child
}
