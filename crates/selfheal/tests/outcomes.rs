//! What runs mean: answers pass through, what may pass is retried, what no edit can help is handed over.

use crate::support::{document, env};

#[test]
fn a_good_run_is_as_the_bare_command() {
    let env = env();
    let run = env.run(&["run", "--", "sh", "-c", "echo out; echo err >&2"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "out\n", "err\n"));
}

#[test]
fn an_answer_is_no_failure() {
    let env = env();
    env.write("app.log", "all is well\n");
    let (outcome, document) = document(&env, &["--", "grep", "FATAL", "app.log"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.stderr, "");
    assert_eq!(document["status"], "negative");
    assert!(env.run(&["incidents"]).stdout.contains("no incidents"));
}

/// Words that say neither answer nor error count where the same list has a code for errors, and the run printed its result.
#[test]
fn a_code_from_a_list_that_tells_errors_apart_is_an_answer() {
    let env = env();
    let list =
        "Exit status:\n  0  all above the minimum\n  2  something is below it\n  3  it could not be read\n";
    let job = |last: &str| format!("\"\"\"Stock.\n\n{list}\"\"\"\nimport sys\n{last}\nsys.exit(2)\n");
    env.write("stock.py", job("print('bolts: 3')"));
    let (outcome, told) = document(&env, &["--", "python3", "stock.py"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (2, ""));
    assert_eq!(told["status"], "negative", "{told:#}");
    for silent in ["pass", "print('bolts', file=sys.stderr)"] {
        env.write("stock.py", job(silent));
        assert_ne!(document(&env, &["--", "python3", "stock.py"]).1["status"], "negative", "{silent}");
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    let env = env();
    env.script(
        "fetch",
        "#!/bin/bash\nn=$(cat count 2>/dev/null || echo 0)\necho $((n + 1)) > count\nif [ \"$n\" -lt 1 ]; then echo 'fetch: HTTP 503 Service Unavailable' >&2; exit 22; fi\n",
    );
    let (outcome, document) = document(&env, &["--", "bash", "fetch"]);
    assert_eq!(document["status"], "retried", "{outcome:?}");
    assert_eq!(outcome.code, 0);
    assert_eq!(env.read("count"), "2\n");
}

#[test]
fn a_job_that_must_not_run_twice_is_not_retried() {
    let env = env();
    env.script(
        "send",
        "#!/bin/bash\necho one >> sent\necho 'send: HTTP 503 Service Unavailable' >&2\nexit 22\n",
    );
    env.write("sent", "zero\n");
    let (outcome, document) = document(&env, &["--", "bash", "send"]);
    assert_eq!(outcome.code, 22);
    assert_eq!(document["status"], "suspended", "{document:#}");
    assert_eq!(env.read("sent"), "zero\none\n");
    let (_, once) = crate::support::document(&env, &["--once", "--", "bash", "send"]);
    assert_eq!(once["status"], "suspended");
}

#[test]
fn a_full_disk_is_handed_over_at_once() {
    let env = env();
    env.script("save", "#!/bin/bash\nset -eu\necho run >&2\necho data > /dev/full\n");
    let (outcome, document) = document(&env, &["--exit-status", "--apply", "medium", "--", "bash", "save"]);
    assert_eq!(document["status"], "handed_over", "{outcome:?}");
    assert_eq!(outcome.code, 111);
    assert_eq!(outcome.stderr.lines().filter(|line| *line == "run").count(), 1, "{outcome:?}");
}

#[test]
fn commands_that_cannot_be_started_get_their_own_codes() {
    let env = env();
    env.write("text", "not a program\n");
    for (command, code) in [("./missing", 127), ("./text", 126), (".", 126)] {
        let run = env.run(&["run", "--", command]);
        assert_eq!(run.code, code, "{command}: {run:?}");
        assert!(run.stderr.contains("error: ") && run.stderr.contains("hint: "), "{run:?}");
    }
}

#[test]
fn bad_input_gets_one_error_one_hint_and_its_code() {
    let env = env();
    env.write("text", "not a program\n");
    std::fs::create_dir(env.work().join("folder")).unwrap();
    let mut all = String::new();
    for args in [
        &["run", "--", "./missing"][..],
        &["run", "--", "no-such-command"],
        &["run", "--", "text"],
        &["run", "--", "./text"],
        &["run", "--", "./folder"],
        &["run", "--", ""],
        &["run", "--deadline", "0", "--", "true"],
        &["run", "--deadline", "-1", "--", "true"],
        &["run", "--job", "", "--", "true"],
        &["run", "--apply", "high", "--", "true"],
        &["run", "--answer", "300", "--", "true"],
        &["profile", "test", "nowhere.toml"],
    ] {
        let run = env.run(args);
        let told = run.stderr.replace(&env.work().display().to_string(), "WORK");
        let lines = |start: &str| told.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!((lines("error: "), lines("hint: "), run.stdout.as_str()), (1, 1, ""), "{args:?}: {told}");
        all.push_str(&format!("$ selfheal {}\n{told}[exit status: {}]\n", args.join(" "), run.code));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_deadline_ends_the_job() {
    let env = env();
    let run = env.run(&["run", "--deadline", "1", "--", "sleep", "100"]);
    assert_eq!(run.code, 124, "{run:?}");
}

#[test]
fn what_was_going_on_at_the_deadline_is_kept_and_shown_without_secrets() {
    let env = env().with("DB_PASSWORD", "sw0rdf1sh-long");
    env.script("job", "#!/bin/bash\necho step one\nbash -c 'sleep 1000; :' sw0rdf1sh-long\n");
    let run = env.run(&["run", "--once", "--deadline", "4", "--", "./job"]);
    assert_eq!(run.code, 124, "{run:?}");
    let shown = env.run(&["show", &crate::support::only_incident(&env)]).stdout;
    assert!(shown.contains("deadline   process "), "{shown}");
    assert!(shown.contains(": /bin/bash ./job"), "{shown}");
    assert!(shown.contains("last on standard output: step one"), "{shown}");
    assert!(!shown.contains("sw0rdf1sh"), "{shown}");
}

#[test]
fn a_job_that_asks_for_a_password_is_named_as_such() {
    let env = env();
    env.script("job", "#!/bin/bash\nprintf 'Password for db: ' >&2\nsleep 1000\n");
    let (run, document) = document(&env, &["--once", "--deadline", "4", "--", "./job"]);
    assert_eq!(run.code, 124, "{run:?}");
    assert_eq!(document["report"]["faults"][0]["fault"], "needs_terminal", "{document:#}");
    assert!(run.stderr.contains("the job waited for an answer: Password for db:"), "{run:?}");
}

#[test]
fn standard_output_is_that_of_the_last_run_when_asked() {
    let env = env();
    env.script("job", "#!/bin/bash\nset -eu\necho begun\ncp in.txt out/in.txt\necho ended\n");
    env.write("in.txt", "x\n");
    let run = env.run(&["run", "--apply", "low", "--stdout", "final", "--", "bash", "job"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "begun\nended\n"), "{run:?}");
}

#[test]
fn a_job_whose_output_went_to_a_pipe_is_repaired_but_not_run_again() {
    let env = env();
    env.script("job", "#!/bin/bash\nset -eu\necho begun\ncp in.txt out/in.txt\necho ended\n");
    env.write("in.txt", "x\n");
    let (run, document) = document(&env, &["--apply", "low", "--", "bash", "job"]);
    assert_eq!(document["status"], "healed", "{run:?}");
    assert_eq!(run.stdout, "begun\n");
    assert_eq!(run.code, 1);
}

/// Notes what it reads, and fails the first time for a reason that passes.
const READER: &str = "#!/bin/bash\nwhile read -r line; do got=\"$got$line,\"; done\necho \"$got\" >> seen\n\
    if [ \"$(wc -l < seen)\" -lt 2 ]; then echo 'fetch: HTTP 503 Service Unavailable' >&2; exit 22; fi\n";

#[test]
fn a_job_that_runs_again_reads_the_same_again_from_a_pipe_or_a_file() {
    for way in ["pipe", "file"] {
        let env = env();
        env.script("job", READER);
        let file = env.write("input", "one\ntwo\n");
        let args = ["run", "--repeatable", "--", "./job"];
        let code = match way {
            "pipe" => env.run_with_input(&args, b"one\ntwo\n").code,
            _ => {
                let input = std::fs::File::open(file).unwrap();
                env.command(&args).stdin(input).status().unwrap().code().unwrap()
            }
        };
        assert_eq!((code, env.read("seen").as_str()), (0, "one,two,\none,two,\n"), "{way}");
    }
}

#[test]
fn input_beyond_the_limit_is_passed_on_and_the_job_does_not_run_again() {
    let env = env();
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), "[run]\ninput-limit = 0\n").unwrap();
    env.script("job", READER);
    let run = env.run_with_input(&["run", "--repeatable", "--", "./job"], b"one\ntwo\n");
    assert_eq!((run.code, env.read("seen").as_str()), (22, "one,two,\n"), "{run:?}");
}

#[test]
fn a_job_takes_no_more_from_a_pipe_than_it_reads() {
    let env = env();
    let own = env!("CARGO_BIN_EXE_selfheal");
    let line = format!("printf 'a\\nb\\nc\\n' | while read -r x; do {own} run -- echo \"got $x\"; done");
    let run = env.run(&["run", "--", "sh", "-c", &line]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "got a\ngot b\ngot c\n"), "{run:?}");
}

#[test]
fn a_pipe_that_nobody_writes_to_or_reads_holds_nothing_up() {
    let env = env();
    let own = env!("CARGO_BIN_EXE_selfheal");
    let line = format!("mkfifo pipe; exec 3<>pipe; {own} run -- echo ran <&3");
    assert_eq!(env.run(&["run", "--", "sh", "-c", &line]).stdout, "ran\n");
}
