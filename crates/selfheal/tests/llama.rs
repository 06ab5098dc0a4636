//! A model file and its server: a child that is started when it is first needed, with a key of its own and niced, and is gone
//! when the incident is over, however selfheal itself ended. The child is scripted; one test takes a real `llama-server` where
//! the variable `SELFHEAL_LLAMA_HOME` names a folder that holds it and a model file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_testkit::TestEnv;
use serde_json::Value;

use crate::support::{document, env};

const JOB: &str =
    "#!/bin/bash\nset -eu\ntotal=$(cat total)\ncount=$(cat count)\necho $((total / count)) > mean\n";

/// A server of the form of `llama-server`: healthy at once, wants its key, answers from a file, or never where that is missing.
const SERVER: &str = r#"#!/usr/bin/env python3
import http.server, json, os, sys, time
args = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
if "--help" in args:
    sys.exit(0)
port = int(args[args.index("--port") + 1])
key = open(args[args.index("--api-key-file") + 1]).read().strip()
def note(line):
    with open(os.path.join(here, "notes"), "a") as notes:
        notes.write(line + "\n")
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(200, b"{}")
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer " + key:
            return self.answer(401, b"{}")
        note("asked")
        said = os.path.join(here, "said")
        while not os.path.exists(said):
            time.sleep(0.05)
        message = {"role": "assistant", "content": open(said).read()}
        self.answer(200, json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
note("pid %d nice %d" % (os.getpid(), os.nice(0)))
server.serve_forever()
"#;

struct Scripted {
    env: TestEnv,
    folder: PathBuf,
}

impl Scripted {
    fn new() -> Self {
        let env = env();
        // The lock of the machine's one server lies there.
        let folder = env.root().join("server");
        std::fs::create_dir(&folder).unwrap();
        let env = env.with("TMPDIR", &folder);
        env.write("mean.sh", JOB);
        env.write("total", "10\n");
        env.write("count", "0\n");
        let program = folder.join("llama-server");
        std::fs::write(&program, SERVER).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(folder.join("model.gguf"), "GGUF").unwrap();
        let settings = env.home().join(".config/selfheal");
        std::fs::create_dir_all(&settings).unwrap();
        let text = format!(
            "[policy]\ngeneral-knowledge = \"apply\"\n[model]\nname = \"llama:{}\"\nprogram = \"{}\"\ntimeout = 600\n",
            folder.join("model.gguf").display(),
            program.display()
        );
        std::fs::write(settings.join("selfheal.toml"), text).unwrap();
        Self { env, folder }
    }

    fn say(&self, last: &str) {
        let script = JOB.replace("echo $((total / count)) > mean\n", last);
        let text = format!(
            "CAUSE: Line 5 divides total by count, which is 0.\nREPAIR: Write a mean of zero when count is zero.\n```bash\n{script}```\n"
        );
        std::fs::write(self.folder.join("part"), text).unwrap();
        std::fs::rename(self.folder.join("part"), self.folder.join("said")).unwrap();
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.folder.join("notes")).unwrap_or_default()
    }

    /// The process of the server, and how nice it is.
    fn server(&self) -> Vec<(u32, i32)> {
        let notes = self.notes();
        let lines = notes.lines().filter_map(|line| line.strip_prefix("pid "));
        let read = |line: &str| {
            let (pid, nice) = line.split_once(" nice ")?;
            Some((pid.parse().ok()?, nice.parse().ok()?))
        };
        lines.filter_map(read).collect()
    }
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(240);
    while !holds() {
        assert!(Instant::now() < until, "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process runs; one that ended and was not waited for does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn the_server_is_started_once_niced_with_a_key_and_is_gone_with_the_incident() {
    let scripted = Scripted::new();
    scripted.say(
        "if [ \"$count\" -eq 0 ]; then mean=0; else mean=$((total / count)); fi\necho \"$mean\" > mean\n",
    );
    let (outcome, document) = document(&scripted.env, &["--apply", "medium", "--", "bash", "mean.sh"]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    let servers = scripted.server();
    assert!(servers.len() == 1 && servers[0].1 >= 10, "{servers:?}");
    wait_until("the end of the server", || !runs(servers[0].0));
}

#[test]
fn the_server_does_not_outlive_a_killed_selfheal() {
    let scripted = Scripted::new();
    let mut child = scripted.env.command(&["run", "--", "bash", "mean.sh"]).spawn().unwrap();
    wait_until("the question", || scripted.notes().contains("asked"));
    child.kill().unwrap();
    child.wait().unwrap();
    let (pid, _) = scripted.server()[0];
    wait_until("the end of the server", || !runs(pid));
}

#[test]
fn a_job_that_needs_no_model_starts_no_server_and_one_that_has_no_room_neither() {
    let scripted = Scripted::new();
    scripted.env.write("good.sh", "echo fine\n");
    document(&scripted.env, &["--", "bash", "good.sh"]);
    assert!(scripted.server().is_empty());
    let file = File::options().write(true).open(scripted.folder.join("model.gguf")).unwrap();
    // Nothing is written there: the file only says that it is so large.
    file.set_len(1 << 43).unwrap();
    let (outcome, document) = document(&scripted.env, &["--apply", "medium", "--", "bash", "mean.sh"]);
    assert_eq!(document["status"], "failed", "{document:#}");
    assert!(outcome.stderr.contains("MiB of memory"), "{}", outcome.stderr);
    assert!(scripted.server().is_empty());
    let tested = scripted.env.run(&["model", "test"]);
    assert!(tested.code == 1 && tested.stdout.contains("MiB of memory"), "{tested:?}");
}

#[test]
fn the_server_is_ended_before_the_repaired_job_runs() {
    let scripted = Scripted::new();
    let notes = scripted.folder.join("notes").display().to_string();
    let look = format!(
        "#!/bin/bash\nif [ -e {notes} ]; then\n  read -r _ server _ < {notes}\n  if [ -d \"/proc/$server\" ]; then echo lives; else echo gone; fi >> seen\nfi\n"
    );
    let job = JOB.replace("#!/bin/bash\n", &look);
    scripted.env.write("mean.sh", &job);
    let repaired = job.replace(
        "echo $((total / count)) > mean\n",
        "if [ \"$count\" -eq 0 ]; then mean=0; else mean=$((total / count)); fi\necho \"$mean\" > mean\n",
    );
    let text = format!(
        "CAUSE: The division fails, since count is 0.\nREPAIR: Write a mean of zero then.\n```bash\n{repaired}```\n"
    );
    std::fs::write(scripted.folder.join("said"), text).unwrap();
    let (outcome, document) =
        document(&scripted.env, &["--apply", "medium", "--repeatable", "--", "bash", "mean.sh"]);
    assert_eq!((document["status"].as_str(), outcome.code), (Some("healed"), 0), "{outcome:?}\n{document:#}");
    assert_eq!(scripted.env.read("seen"), "gone\n");
}

#[test]
fn a_real_server_answers_where_one_is_installed() {
    let Some(home) = std::env::var_os("SELFHEAL_LLAMA_HOME").map(PathBuf::from) else {
        println!("skipped: SELFHEAL_LLAMA_HOME names no folder with llama-server and a model file");
        return;
    };
    let models = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gguf");
    let smallest = models.filter(is_model).min_by_key(|path| path.metadata().map_or(0, |facts| facts.len()));
    let scripted = Scripted::new();
    let settings = scripted.env.home().join(".config/selfheal/selfheal.toml");
    let model = smallest.unwrap();
    let text = format!(
        "[model]\nname = \"llama:{}\"\nprogram = \"{}\"\ntimeout = 1800\n",
        model.display(),
        home.join("llama-server").display()
    );
    std::fs::write(settings, text).unwrap();
    let env = scripted.env.with_deadline(Duration::from_secs(1_800));
    let tested = env.run(&["model", "test"]);
    println!("{}", tested.stdout);
    assert!(
        tested.stdout.contains("tokens read") && tested.stdout.contains("its server was ready"),
        "{tested:?}"
    );
    assert!(no_server_of(&model), "a server is left");
}

/// Whether no process serves this file.
fn no_server_of(model: &Path) -> bool {
    let name = model.display().to_string();
    let serves = |pid: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("llama-server") && line.contains(&name) && line.contains("--api-key-file")
    };
    let until = Instant::now() + Duration::from_secs(240);
    loop {
        let names = std::fs::read_dir("/proc").unwrap().flatten();
        if !names.filter_map(|entry| entry.file_name().into_string().ok()).any(|pid| serves(&pid)) {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The document says what a model took; a scripted server that counts nothing is estimated.
#[test]
fn tokens_are_estimated_where_the_server_counts_none() {
    let scripted = Scripted::new();
    scripted.say("echo $((total / count)) > mean\n");
    let (_, document): (_, Value) = document(&scripted.env, &["--apply", "medium", "--", "bash", "mean.sh"]);
    assert!(document["tokens"].as_u64().unwrap() > 100, "{document:#}");
}
