//! `selfheal bench`: what it counts as healed, as masked and as worse than before.

use std::path::Path;

use serde_json::Value;

use crate::support::{env, wait_for};

/// A case whose job makes a list in a folder that is not there.
fn lay_out(cases: &Path, name: &str, check: &str) {
    let case = cases.join(name);
    std::fs::create_dir_all(case.join("work")).unwrap();
    let toml = "title = \"The folder is missing\"\nkind = \"logic\"\nlanguage = \"bash\"\ncommand = [\"bash\", \"list.sh\"]\n\
                expect = \"repaired\"\nrule = \"missing_folder\"\n";
    std::fs::write(case.join("case.toml"), toml).unwrap();
    std::fs::write(case.join("work/list.sh"), "set -e\necho a > out/list\n").unwrap();
    std::fs::write(case.join("check.sh"), check).unwrap();
}

const HONEST: &str = "rm -rf out\nbash list.sh && [ \"$(cat out/list)\" = a ] && [ -d \"$CASE/work\" ]\n";

#[test]
fn counts_what_the_check_accepts_and_names_what_it_rejects() {
    let env = env();
    let cases = env.work().join("cases");
    lay_out(&cases, "honest", HONEST);
    let json = env.work().join("figures.json");
    let run = |extra: &[&str]| {
        let mut words = vec!["bench", "cases", "--json", "figures.json", "--sheet", "sheet.md"];
        words.extend_from_slice(extra);
        env.run(&words)
    };
    let good = run(&[]);
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    assert!(good.stdout.contains("| logic | 1 of 1 | 1 of 1 | 0 | 0 |"), "{}", good.stdout);
    assert!(good.stdout.contains("Healed by: missing_folder 1."), "{}", good.stdout);
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(figures["rows"][0]["tier"], "rule");
    let sheet = std::fs::read_to_string(env.work().join("sheet.md")).unwrap();
    assert!(sheet.contains("root cause (missing_folder)"), "{sheet}");

    let without = run(&["--ablate", "rules"]);
    assert!(without.stdout.contains("| logic | 0 of 1 | 0 of 1 | 0 | 0 |"), "{}", without.stdout);

    // The job is called healed, and the check says that it is not: the worst that can happen.
    lay_out(&cases, "masked", "exit 1\n");
    let bad = run(&[]);
    assert_eq!(bad.code, 1);
    assert!(bad.stdout.contains("- masked (logic): **masked accepted** healed"), "{}", bad.stdout);
}

/// The job waits for a long time, the bench is killed without a chance to end in order: nothing of it is left.
#[test]
fn nothing_is_left_of_a_bench_that_was_killed() {
    let env = env();
    let cases = env.work().join("cases");
    lay_out(&cases, "waits", HONEST);
    let pid = env.work().join("pid");
    let job = format!("echo $$ > {0}.part\nmv {0}.part {0}\nsleep 86400\n", pid.display());
    std::fs::write(cases.join("waits/work/list.sh"), job).unwrap();
    let mut bench = env.command(&["bench", "cases", "--limit", "86400"]).spawn().unwrap();
    wait_for("the job", || pid.exists());
    let job: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    bench.kill().unwrap();
    bench.wait().unwrap();
    let ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{job}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
    };
    wait_for("the end of the job", ended);
}

#[test]
fn a_case_that_got_worse_is_told_and_ends_with_one() {
    let env = env();
    let cases = env.work().join("cases");
    lay_out(&cases, "one", HONEST);
    assert_eq!(env.run(&["bench", "cases", "--json", "before.json"]).code, 0);
    let worse = env.run(&["bench", "cases", "--apply", "none", "--baseline", "before.json"]);
    assert_eq!(worse.code, 1, "{}", worse.stdout);
    assert!(worse.stdout.contains("- worse: one (logic)"), "{}", worse.stdout);
}

/// A rule counts when it heals two differently worded cases of the repository's own set; `selfheal bench` shows that it
/// does.
#[test]
fn every_rule_has_two_cases_of_its_own() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cases");
    let mut written: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(cases).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path().join("case.toml")).unwrap();
        let list = text.lines().find_map(|line| line.strip_prefix("healed_by = ")).unwrap_or_default();
        written.extend(list.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    let rules =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md")).unwrap();
    for (at, line) in rules.lines().enumerate().filter(|(_, line)| line.starts_with("## `")) {
        let name = line.split('`').nth(1).unwrap();
        let preview = rules.lines().nth(at + 2).is_some_and(|kind| kind.contains("in preview"));
        let count = written.iter().filter(|rule| *rule == name).count();
        assert!(preview || count >= 2, "{name} has {count} cases");
    }
}
