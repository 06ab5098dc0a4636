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

/// A job that turns what lies in `in/` into a dated result.
const IMPORT: &str = "cat in/*.csv > \"out/rows-$(date +%Y%m%d).csv\"\n";

fn import_env() -> TestEnv {
    let env = env();
    env.write("import.sh", IMPORT);
    for (name, rows) in [("a", "a,1\n".repeat(60)), ("b", "b,2\n".repeat(60))] {
        env.write(&format!("in/{name}.csv"), rows);
    }
    std::fs::create_dir(env.work().join("out")).unwrap();
    for _ in 0..3 {
        assert_eq!(env.run(&["run", "--", "sh", "import.sh"]).stderr, "");
    }
    env
}

#[test]
fn a_good_run_that_left_much_less_than_the_ones_before_is_said_or_fails() {
    let env = import_env();
    env.write("in/a.csv", "");
    env.write("in/b.csv", "b,2\n");
    let reported = env.run(&["run", "--", "sh", "import.sh"]);
    assert_eq!(reported.code, 0);
    assert!(reported.stderr.contains("unusual: out/rows-#.csv: 4 bytes"), "{reported:?}");
    env.write("selfheal.toml", "[run]\nunusual = 'fail'\n");
    assert_eq!(env.run(&["run", "--", "sh", "import.sh"]).code, 114);
    env.write("selfheal.toml", "[run]\nunusual = 'ignore'\n");
    let still = env.run(&["run", "--", "sh", "import.sh"]);
    assert!(still.stderr.contains("unusual"), "a project's file must not loosen: {still:?}");
}

#[test]
fn a_contract_is_learned_from_good_runs_and_counts_once_it_is_put_in() {
    let env = import_env();
    let learned = env.run(&["contract", "learn", "import.sh"]);
    assert_eq!(learned.code, 0, "{learned:?}");
    assert!(learned.stdout.contains("path = \"out/rows-*.csv\""), "{}", learned.stdout);
    assert!(learned.stdout.contains("how sure: low"), "{}", learned.stdout);
    assert!(learned.stdout.contains("min-lines = 60"), "{}", learned.stdout);
    env.write("selfheal.toml", &learned.stdout);
    let kept = env.run(&["run", "--", "sh", "import.sh"]);
    assert_eq!((kept.code, kept.stderr.as_str()), (0, ""));
    env.write("in/a.csv", "");
    env.write("in/b.csv", "b,2\n");
    assert_eq!(env.run(&["run", "--", "sh", "import.sh"]).code, 114);
    assert_eq!(env.run(&["contract", "learn", "nothing.sh"]).code, 1);
}

#[test]
fn a_change_of_meaning_that_gives_the_same_on_earlier_inputs_needs_no_person() {
    let env = env();
    env.write("sum.py", "import json\nrows = json.load(open('in/rows.json'))\ntotal = sum(row['amount'] for row in rows)\nopen('total.txt', 'w').write(str(total))\n");
    env.write("in/rows.json", "[{\"amount\": 2}, {\"amount\": 3}]");
    env.write("in/other.json", "[]");
    assert_eq!(env.run(&["run", "--", "python3", "sum.py"]).code, 0);
    env.write("in/rows.json", "[{\"amount\": 2}, {\"betrag\": 3}]");
    let fixed = env.read("sum.py").replace("row['amount']", "row.get('amount', row.get('betrag'))");
    std::fs::create_dir(env.root().join("given")).unwrap();
    std::fs::write(env.root().join("given/sum.py"), &fixed).unwrap();
    let (outcome, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "python3", "sum.py"]);
    let checks = document["checks"].as_array().unwrap();
    let same =
        checks.iter().find(|check| check["name"] == "good-inputs").unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(same["showed"], "passed", "{document:#}\n{outcome:?}");
}

#[test]
fn a_repair_that_does_other_things_on_earlier_inputs_fails() {
    let env = env();
    env.write("sum.py", "import json\nrows = json.load(open('in/rows.json'))\nopen('total.txt', 'w').write(str(sum(row['amount'] for row in rows)))\n");
    env.write("in/rows.json", "[{\"amount\": 2}, {\"amount\": 3}]");
    assert_eq!(env.run(&["run", "--", "python3", "sum.py"]).code, 0);
    env.write("in/rows.json", "[{\"betrag\": 2}, {\"betrag\": 3}]");
    let wrong = env.read("sum.py").replace("row['amount']", "row.get('betrag', 0)");
    std::fs::create_dir(env.root().join("given")).unwrap();
    std::fs::write(env.root().join("given/sum.py"), &wrong).unwrap();
    let (outcome, document) =
        document(&env, &["--apply", "medium", "--proposal", "../given", "--", "python3", "sum.py"]);
    assert_eq!(document["status"], "failed", "{document:#}\n{outcome:?}");
    assert!(env.read("sum.py").contains("row['amount']"));
}

#[test]
fn an_input_folder_that_is_suddenly_empty_is_for_a_person() {
    let env = env();
    env.write("job.sh", "set -e\nfor f in in/*.csv; do\n  cat \"$f\" >> all.txt\ndone\n");
    env.write("in/a.csv", "a\n");
    assert_eq!(env.run(&["run", "--", "bash", "job.sh"]).code, 0);
    std::fs::remove_file(env.work().join("in/a.csv")).unwrap();
    let (outcome, document) = document(&env, &["--apply", "medium", "--", "bash", "job.sh"]);
    assert_eq!(document["status"], "held", "{document:#}\n{outcome:?}");
    assert!(document["holds"].to_string().contains("suddenly_empty"), "{document:#}");
}

#[test]
fn a_watched_repair_is_taken_back_when_its_job_breaks_its_contract() {
    let env = backup_env();
    let (_, healed) = document(&env, &["--apply", "medium", "--", "bash", "backup.sh"]);
    assert_eq!(healed["status"], "healed", "{healed:#}");
    assert_ne!(env.read("backup.sh"), BACKUP);
    env.write("selfheal.toml", "[[job.expect.files]]\npath = 'backup/*'\n");
    let broken = env.run(&["run", "--", "bash", "backup.sh"]);
    assert_eq!(broken.code, 114, "{broken:?}");
    assert_eq!(env.read("backup.sh"), BACKUP, "{broken:?}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}
