//! Contracts: a run that ends with exit code 0 without having done its work is a failure.

use selfheal_testkit::TestEnv;

use crate::support::{BACKUP, backup_env, document, env};

/// A job that writes what `source` holds into `out.csv`, and says nothing when there is nothing.
const EXPORT: &str = "cat source > out.csv 2>/dev/null\necho done\n";

fn export_env(expect: &str) -> TestEnv {
    let env = env();
    env.write("export.sh", EXPORT);
    env.write("selfheal.toml", expect);
    env
}

const FILES: &str = "[job.expect]\nmax-seconds = 60\n[[job.expect.files]]\npath = \"out.csv\"\nnewer = true\ncolumns = [\"id\", \"name\"]\nmin-rows = 1\n";

#[test]
fn exit_code_0_with_nothing_written_is_a_failure_and_says_what_is_not_there() {
    let env = export_env(FILES);
    env.write("source", "id,name\n");
    let (outcome, document) = document(&env, &["--", "sh", "export.sh"]);
    assert_eq!(outcome.code, 114, "{outcome:?}");
    assert_eq!(outcome.stdout, "done\n");
    assert_ne!(document["status"], "succeeded");
    assert!(outcome.stderr.contains("out.csv has less than 1 rows"), "{}", outcome.stderr);
    assert_eq!(document["report"]["class"], "logic");
}

#[test]
fn a_run_that_keeps_its_contract_is_quiet() {
    let env = export_env(FILES);
    env.write("source", "id,name\n1,a\n");
    let outcome = env.run(&["run", "--", "sh", "export.sh"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
}

#[test]
fn a_file_of_an_earlier_run_does_not_count_as_newer() {
    let env = export_env("[[job.expect.files]]\npath = \"*.csv\"\nnewer = true\n");
    env.write("old.csv", "x\n");
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    let file = std::fs::File::options().write(true).open(env.work().join("old.csv")).unwrap();
    file.set_modified(hour_ago).unwrap();
    let outcome = env.run(&["run", "--", "true"]);
    assert_eq!(outcome.code, 114, "{outcome:?}");
    assert!(outcome.stderr.contains("was not written by this run"), "{}", outcome.stderr);
}

#[test]
fn every_kind_of_assertion_tells_good_from_bad() {
    let cases: [(&str, &str); 9] = [
        ("min-bytes = 4", "min-bytes = 400"),
        ("min-lines = 2", "min-lines = 3"),
        ("matches = '(?m)^b'", "matches = 'zebra'"),
        ("json = '/a/0'", "json = '/b'"),
        ("columns = ['n']", "columns = ['m']"),
        ("min-rows = 1", "min-rows = 2"),
        ("max-age-hours = 1", "max-age-hours = 0"),
        ("checksums = true", "checksums = true"),
        ("newer = true", "absent = true"),
    ];
    for (number, (good, bad)) in cases.into_iter().enumerate() {
        let content = match number {
            3 => "printf '{\"a\":[1]}\\n' > f\n",
            4 | 5 => "printf 'n,o\\n1,2\\n' > f\n",
            7 => "printf x > d; sha256sum d > f; [ -z \"$SPOIL\" ] || printf y > d\n",
            _ => "printf 'a1\\nb2\\n' > f\n",
        };
        for (expect, spoil, code) in [(good, "", 0), (bad, "1", 114)] {
            let env = env();
            env.write("job.sh", format!("SPOIL={spoil}\n{content}"));
            // A file that is at most 0 hours old was written in this very moment.
            let wait = if expect == "max-age-hours = 0" { "touch -d '1 hour ago' f\n" } else { "" };
            env.write("job.sh", format!("{}{wait}", env.read("job.sh")));
            env.write("selfheal.toml", format!("[[job.expect.files]]\npath = 'f'\n{expect}\n"));
            let outcome = env.run(&["run", "--", "sh", "job.sh"]);
            assert_eq!(outcome.code, code, "{expect}: {outcome:?}");
        }
    }
}

#[test]
fn output_and_duration_and_named_jobs_count() {
    let env = env();
    env.write("job.sh", "echo 7 rows; echo WARN >&2\n");
    for (expect, code) in [
        ("stdout-matches = '\\d+ rows'", 0),
        ("stdout-matches = '^\\d+ lines'", 114),
        ("stderr-lacks = 'WARN'", 114),
        ("max-seconds = 60", 0),
        ("min-seconds = 60", 114),
    ] {
        env.write("selfheal.toml", format!("[job.expect]\n{expect}\n"));
        assert_eq!(env.run(&["run", "--", "sh", "job.sh"]).code, code, "{expect}");
        env.write(
            "selfheal.toml",
            format!("[jobs.'job.sh'.expect]\n{expect}\n[jobs.other.expect]\nmin-seconds = 99\n"),
        );
        assert_eq!(env.run(&["run", "--", "sh", "job.sh"]).code, code, "{expect} by name");
    }
}

#[test]
fn a_command_counts_only_from_the_user() {
    let env = env();
    env.write("selfheal.toml", "[job.expect]\ncommand = ['touch', 'ran']\n");
    let outcome = env.run(&["run", "--", "true"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("command counts only"), "{outcome:?}");
    assert!(!env.work().join("ran").exists());
}

#[test]
fn a_contract_that_makes_no_sense_is_said_and_the_job_runs() {
    let env = export_env("[job.expect]\nstdout-matches = '('\n");
    env.write("source", "x\n");
    let outcome = env.run(&["run", "--", "sh", "export.sh"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("is no expression"), "{outcome:?}");
}

#[test]
fn a_repair_must_keep_the_contract_too() {
    let env = backup_env();
    env.write("selfheal.toml", "[[job.expect.files]]\npath = 'backup/*'\n");
    let (outcome, document) = document(&env, &["--apply", "medium", "--", "bash", "backup.sh"]);
    // With an empty source there is nothing to copy, whatever the repair.
    assert_ne!(document["status"], "healed", "{document:#}\n{outcome:?}");
    assert_eq!(env.read("backup.sh"), BACKUP);
    let checks = document["checks"].to_string();
    assert!(checks.contains("backup/* is not there"), "{checks}");
}

#[test]
fn contract_check_looks_without_running() {
    let env = export_env(FILES);
    env.write("source", "id,name\n1,a\n");
    let before = env.run(&["contract", "check", "export.sh"]);
    assert_eq!(before.code, 114, "{before:?}");
    assert!(!env.work().join("out.csv").exists());
    env.run(&["run", "--", "sh", "export.sh"]);
    let after = env.run(&["contract", "check", "export.sh"]);
    assert_eq!(after.code, 0, "{after:?}");
    let none = env.run(&["contract", "check", "--", "-x"]);
    assert!(none.code != 1 || none.stderr.contains("hint: "), "{none:?}");
    std::fs::remove_file(env.work().join("selfheal.toml")).unwrap();
    let none = env.run(&["contract", "check", "export.sh"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("hint: "), "{none:?}");
}
