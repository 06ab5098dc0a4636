//! `try` and `run --transaction` through the program.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use selfheal_testkit::{Outcome, TestEnv};

use crate::support::{document, env, only_incident};

/// An environment, where there are boxes.
fn boxed_env() -> Option<TestEnv> {
    let env = env();
    let there = env.run(&["try", "--", "true"]).code != 125;
    there.then_some(env)
}

fn sh(env: &TestEnv, options: &[&str], line: &str) -> Outcome {
    let args: Vec<&str> =
        ["try"].into_iter().chain(options.iter().copied()).chain(["--", "bash", "-c", line]).collect();
    env.run(&args)
}

/// The id in "… try --commit ID" or "… undo ID".
fn id_in(text: &str, before: &str) -> String {
    let at = text.find(before).unwrap_or_else(|| panic!("{before} is not in {text}")) + before.len();
    text[at..].split_whitespace().next().unwrap().to_owned()
}

fn names(env: &TestEnv) -> Vec<String> {
    let entries = fs::read_dir(env.work()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_was_done_is_listed_and_thrown_away() {
    let Some(env) = boxed_env() else { return };
    env.write("a", "one\n");
    env.write("gone", "12345\n");
    let outcome =
        sh(&env, &["--diff"], "echo out; echo err >&2; echo two >>a; mkdir n; echo f >n/f; rm gone; exit 7");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (7, "out\n"));
    let told: Vec<&str> = outcome.stderr.lines().skip(2).collect();
    assert_eq!(
        told,
        [
            "  ~ appended to a  4 B -> 8 B",
            "      @@ -1 +1,2 @@",
            "       one",
            "      +two",
            "  - deleted gone  6 B",
            "      @@ -1 +0,0 @@",
            "      -12345",
            "  + created folder n",
            "  + created n/f  2 B",
            "      @@ -0,0 +1 @@",
            "      +f",
            "  2 created, 1 changed, 1 deleted",
            "selfheal: thrown away; nothing was changed"
        ],
        "{}",
        outcome.stderr
    );
    assert_eq!((env.read("a").as_str(), names(&env).len()), ("one\n", 2));
}

#[test]
fn the_life_of_what_is_kept() {
    let Some(env) = boxed_env() else { return };
    env.write("a", "one\n");
    let kept = sh(&env, &["--keep"], "echo two >>a; mkdir n; echo f >n/f");
    let id = id_in(&kept.stderr, "--commit ");
    assert_eq!(env.read("a"), "one\n");
    assert!(env.run(&["try", "--list"]).stdout.contains(" kept bash -c"));
    let shown = env.run(&["try", "--show", &id, "--only", "n/*"]);
    assert!(
        shown.stdout.contains("created n/f") && shown.stdout.contains("2 others are not shown"),
        "{shown:?}"
    );
    let placed = env.run(&["try", "--commit", &id]);
    assert_eq!((placed.code, env.read("a").as_str(), env.read("n/f").as_str()), (0, "one\ntwo\n", "f\n"));
    assert_eq!(env.run(&["try", "--commit", &id]).code, 1, "it is in place already");
    let undone = env.run(&["undo", &id]);
    assert_eq!(
        (undone.code, env.read("a").as_str(), names(&env)),
        (0, "one\n", vec!["a".to_owned()]),
        "{undone:?}"
    );
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
    assert_eq!(env.run(&["try", "--drop", &id]).code, 0);
    assert_eq!(env.run(&["try", "--drop", &id]).code, 1);
    assert_eq!(env.run(&["try", "--list"]).stdout, "nothing is kept\n");
}

#[test]
fn only_what_succeeded_is_put_in_place_unattended() {
    let Some(env) = boxed_env() else { return };
    assert_eq!(sh(&env, &["--commit"], "echo f >f; exit 3").code, 3);
    assert_eq!(sh(&env, &["--commit-only", "nothing"], "echo f >f").code, 115);
    assert!(names(&env).is_empty());
    let outcome = sh(
        &env,
        &["--commit-only", "d/x", "--commit-only", "./f"],
        "mkdir d; echo x >d/x; echo y >d/y; echo f >f",
    );
    assert_eq!((outcome.code, names(&env)), (0, vec!["d".to_owned(), "f".to_owned()]), "{outcome:?}");
    assert!(!env.work().join("d/y").exists());
    assert_eq!(env.run(&["undo", &id_in(&outcome.stderr, "undo ")]).code, 0);
    assert!(names(&env).is_empty());
}

#[test]
fn standard_input_reaches_the_command_and_no_way_leads_out_of_the_box_through_it() {
    let Some(env) = boxed_env() else { return };
    let file = env.write("input", "data\n");
    let mut command = env.command(&[
        "try",
        "--",
        "bash",
        "-c",
        "cat; echo over >/proc/self/fd/0; echo over >>/dev/stdin; true",
    ]);
    let output = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "data\n");
    assert_eq!(env.read("input"), "data\n");
}

#[test]
fn any_name_is_shown_on_one_line_and_exactly_in_json() {
    let Some(env) = boxed_env() else { return };
    let outcome = sh(
        &env,
        &["--json", "-"],
        "touch \"$(printf 'n\\nl')\" \"$(printf 'b\\377d')\" \"$(printf 'e\\033[2J')\"",
    );
    for shown in ["created b\\xffd ", "created e\\u{1b}[2J ", "created n\\nl "] {
        assert!(outcome.stderr.contains(shown), "{}", outcome.stderr);
    }
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let effects = document["effects"].as_array().unwrap();
    let of = |end: &str| effects.iter().find(|row| row["path"].as_str().unwrap().ends_with(end)).unwrap();
    assert!(of("n\nl")["path_bytes"].is_null());
    assert!(of("b\u{fffd}d")["path_bytes"].as_str().unwrap().ends_with("62ff64"));
    assert_eq!(document["status"], "thrown_away");
}

#[test]
fn two_tries_of_one_tree_do_not_lose_each_other_s_work() {
    let Some(env) = boxed_env() else { return };
    env.write("a", "0\n");
    let kept: Vec<String> = (1..=2)
        .map(|n| id_in(&sh(&env, &["--keep"], &format!("echo {n} >>a; echo {n} >f{n}")).stderr, "--commit "))
        .collect();
    assert_eq!(env.run(&["try", "--commit", &kept[0]]).code, 0);
    let second = env.run(&["try", "--commit", &kept[1]]);
    assert_eq!(second.code, 115);
    assert!(
        second.stderr.contains("nothing was changed") && second.stderr.contains("a (changed)"),
        "{}",
        second.stderr
    );
    assert_eq!((env.read("a").as_str(), names(&env)), ("0\n1\n", vec!["a".to_owned(), "f1".to_owned()]));
}

#[test]
fn a_link_in_the_place_of_a_folder_leads_nowhere() {
    let Some(env) = boxed_env() else { return };
    fs::create_dir(env.work().join("d")).unwrap();
    let id = id_in(&sh(&env, &["--keep"], "echo mine >d/f").stderr, "--commit ");
    fs::rename(env.work().join("d"), env.work().join("e")).unwrap();
    symlink(env.home(), env.work().join("d")).unwrap();
    let outcome = env.run(&["try", "--commit", &id]);
    assert_eq!(outcome.code, 115, "{outcome:?}");
    assert!(outcome.stderr.contains("d/f (unreachable)"), "{}", outcome.stderr);
    assert!(!env.home().join("f").exists());
}

#[test]
fn a_command_may_delete_the_folder_it_runs_in() {
    let Some(env) = boxed_env() else { return };
    env.write("in/f", "f");
    let line = "cd in && rm -rf \"$PWD\" && echo gone";
    assert_eq!(sh(&env, &[], line).code, 0);
    assert!(env.work().join("in/f").exists());
    let outcome = sh(&env, &["--commit"], line);
    assert_eq!((outcome.code, names(&env).len()), (0, 0), "{outcome:?}");
    assert_eq!(env.run(&["undo", &id_in(&outcome.stderr, "undo ")]).code, 0);
    assert_eq!(env.read("in/f"), "f");
}

#[test]
fn ten_thousand_files() {
    let Some(env) = boxed_env() else { return };
    let line = "for d in $(seq 100); do mkdir d$d; for f in $(seq 99); do : >d$d/f$f; done; done";
    let outcome = sh(&env, &["--commit", "--json", "-"], line);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((document["effects"].as_array().unwrap().len(), names(&env).len()), (10_000, 100));
    assert!(outcome.stderr.contains("and 9800 more"));
    assert_eq!(env.run(&["undo", &id_in(&outcome.stderr, "undo ")]).code, 0);
    assert!(names(&env).is_empty());
}

#[test]
fn without_a_box_nothing_is_run() {
    let Some(env) = boxed_env() else { return };
    // A store that no file system can be mounted on.
    fs::remove_dir_all(env.state().join("boxes")).unwrap();
    fs::write(env.state().join("boxes"), "").unwrap();
    for args in [["try", "--"].as_slice(), &["run", "--transaction", "--"]] {
        let args: Vec<&str> = args.iter().copied().chain(["bash", "-c", "echo ran; echo f >f"]).collect();
        let outcome = env.run(&args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (125, ""), "{outcome:?}");
        assert!(
            outcome.stderr.contains("error: ") && outcome.stderr.contains("nothing was run"),
            "{outcome:?}"
        );
    }
    assert!(names(&env).is_empty());
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let Some(env) = boxed_env() else { return };
    env.write("a", "old\n");
    let (failed, told) =
        document(&env, &["--transaction", "--", "bash", "-c", "echo new >a; echo f >f; exit 4"]);
    assert_eq!((failed.code, env.read("a").as_str(), names(&env).len()), (4, "old\n", 1), "{failed:?}");
    assert_eq!(told["status"], "failed");
    only_incident(&env);
    let (good, told) = document(&env, &["--transaction", "--", "bash", "-c", "echo new >a; echo f >f"]);
    assert_eq!((good.code, good.stderr.as_str(), env.read("a").as_str()), (0, "", "new\n"));
    let id = id_in(told["notes"][0].as_str().unwrap(), "undo ");
    assert_eq!(env.run(&["undo", &id]).code, 0);
    assert_eq!((env.read("a").as_str(), names(&env).len()), ("old\n", 1));
}

#[test]
fn a_transaction_is_refused_for_what_it_cannot_take_back() {
    let Some(env) = boxed_env() else { return };
    let network = "echo f >f; (echo >/dev/tcp/192.0.2.1/80) 2>/dev/null; true";
    for (line, why) in
        [(network, "network"), ("echo f >f; echo x | mail -s done root || true", "sends mail (mail)")]
    {
        let (outcome, told) = document(&env, &["--transaction", "--", "bash", "-c", line]);
        assert_eq!((outcome.code, told["status"].as_str()), (115, Some("refused")), "{outcome:?}");
        assert!(outcome.stderr.contains(why), "{outcome:?}");
        assert!(names(&env).is_empty());
    }
    let (outcome, _) = document(&env, &["--transaction=files-only", "--", "bash", "-c", network]);
    assert_eq!((outcome.code, names(&env)), (0, vec!["f".to_owned()]));
}

#[test]
fn a_transaction_is_healed_in_transactions() {
    let Some(env) = boxed_env() else { return };
    env.write("job.sh", "set -e\necho begun >>log\ncp log backup/log\n");
    let outcome = env.run(&["run", "--transaction", "--apply", "low", "--", "bash", "job.sh"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    // Had the failed run counted, there would be two lines.
    assert_eq!(env.read("backup/log"), "begun\n");
}

/// On a terminal, a person chooses.
#[test]
fn a_person_may_keep_all_or_some() {
    let Some(env) = boxed_env() else { return };
    let asked = crate::terminal::on_a_terminal(&env, "try -- bash -c 'echo f >f; echo g >g'", "s\ng\n\n");
    assert!(asked.contains("Put it in place? [a]ll, [s]ome, [l]ater, or throw it away [N]"), "{asked}");
    assert_eq!(names(&env), ["g"], "{asked}");
    crate::terminal::on_a_terminal(&env, "try -- bash -c 'echo f >f; echo h >h'", "a\n");
    assert_eq!(names(&env), ["f", "g", "h"]);
    crate::terminal::on_a_terminal(&env, "try -- rm f g h", "no\n");
    assert_eq!(names(&env), ["f", "g", "h"]);
}

#[test]
fn an_endless_output_ends_with_its_reader() {
    let Some(env) = boxed_env() else { return };
    let mut child = env
        .command(&["try", "--", "yes"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut two = [0; 2];
    std::io::Read::read_exact(&mut out, &mut two).unwrap();
    drop(out);
    assert_eq!((&two, child.wait().unwrap().code()), (b"y\n", Some(141)));
}

#[test]
fn odd_bytes_in_a_path_on_the_command_line() {
    let Some(env) = boxed_env() else { return };
    let mut command = env.command(&["try", "--commit-only"]);
    command.arg(OsStr::from_bytes(b"\xff")).args(["--", "bash", "-c", "touch $'\\xff' other"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(env.work().join(OsStr::from_bytes(b"\xff")).exists() && !env.work().join("other").exists());
}
