use selfheal_core::fault::Fault;

use super::*;
use crate::testing::{TestCase, TestScene, no_such};

fn offered(case: &TestCase) -> Vec<(String, String)> {
    let text = |choice: &Choice| {
        let change = choice.candidate.proposal.changes.first().unwrap();
        String::from_utf8(change.after.clone().unwrap()).unwrap()
    };
    choices(&case.case(), false).iter().map(|choice| (choice.what.clone(), text(choice))).collect()
}

fn offers(case: &TestCase, wanted: &str) -> bool {
    let all = offered(case);
    assert!(all.len() <= MOST);
    all.iter().any(|(_, text)| text.contains(wanted))
}

#[test]
fn a_near_name_of_what_is_around_in_the_file_that_has_the_missing_one() {
    let scene = TestScene::new()
        .file("queries/month.sql", "SELECT account_no FROM t\n")
        .file("schema.txt", "account_number, amount\n");
    let case = TestCase::new("m.sh", "sql db queries/month.sql\n", scene)
        .fault(Fault::NoSuchObject { kind: "column".into(), name: "account_no".into() });
    let all = offered(&case);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].1.contains("SELECT account_number"));
    assert_eq!(all[0].0, "month.sql: `SELECT account_no FROM t` becomes `SELECT account_number FROM t`");
}

#[test]
fn another_place_of_the_same_file_but_none_among_examples() {
    let scene = TestScene::new().file("scripts/check.py", "x\n").file("examples/check.py", "x\n");
    let case =
        TestCase::new("m.sh", "python3 tools/check.py a\n", scene).fault(no_such("/srv/job/tools/check.py"));
    let all = offered(&case);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].1, "python3 scripts/check.py a\n");
}

#[test]
fn the_form_that_the_message_asks_for() {
    let mut case = TestCase::new("m.sh", "ask --timeout 45 m\n", TestScene::new()).at(1);
    case.report.core_error = "ask: invalid value '45' for '--timeout': no unit (e.g. 30s)".into();
    assert!(offers(&case, "--timeout 45s m"));
    case.report.core_error = "ask: nothing is wrong with '45'".into();
    assert!(offered(&case).is_empty());
}

#[test]
fn an_option_that_the_help_of_the_jobs_own_tool_names() {
    let scene = TestScene::new()
        .raw("bin/dump", b"#!/bin/sh\n", 0o755)
        .answer("/srv/job/bin/dump --help", "usage: dump [--format=plain|json]\n");
    let case = TestCase::new("m.sh", "./bin/dump > a\nread x < a\n", scene).at(2);
    assert!(offers(&case, "./bin/dump --format=plain > a") && offers(&case, "./bin/dump --format=json > a"));
}

#[test]
fn counts_of_nothing_literal_signs_and_commas() {
    let count = TestCase::new("m.sh", "set -e\nn=$(grep -c X log)\n", TestScene::new()).at(2);
    assert!(offers(&count, "n=$(grep -c X log) || [ $? -eq 1 ]"));
    let price = TestCase::new("m.sh", "set -u\nwho=$1\ncat <<E\n$who $USD $12\nE\n", TestScene::new())
        .fault(Fault::UnsetVariable { name: "USD".into() });
    assert!(offers(&price, "$who \\$USD \\$12"));
    let scene = TestScene::new().file("fleet.json", "{\"a\": [1, 2,\n ], \"t\": \",]\"}\n");
    let mut comma = TestCase::new("m.mjs", "JSON.parse(read('fleet.json'))\n", scene);
    comma.report.core_error = "SyntaxError: Unexpected token ']' in JSON".into();
    assert!(offers(&comma, "{\"a\": [1, 2\n ], \"t\": \",]\"}"));
}

#[test]
fn what_people_wrote_is_known() {
    let scene = TestScene::new()
        .file("README.md", "The column is account_number now.\n")
        .file("q.sql", "account_no\n");
    let case = TestCase::new("m.sh", "sql q.sql\n", scene)
        .fault(Fault::NoSuchObject { kind: "column".into(), name: "account_no".into() });
    assert_eq!(choices(&case.case(), false).iter().map(|choice| choice.said).collect::<Vec<_>>(), [true]);
}

#[test]
fn what_is_said_to_people_and_paths_keep_their_words() {
    let scene = TestScene::new().file("t.ini", "Owner=ops\n");
    let text =
        "x=$(look owner)\n[ -n \"$x\" ] || { echo \"job: no owner\"; exit 6; }\necho \"$x\" > \"a/owner\"\n";
    let mut case = TestCase::new("m.sh", text, scene).at(2);
    case.report.core_error = "job: no owner".into();
    let all = offered(&case);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].1, text.replacen("look owner", "look Owner", 1));
}

#[test]
fn a_program_started_from_elsewhere_goes_home() {
    let scene = TestScene::new().file("jobs/limits.json", "{}\n");
    let case = TestCase::new("jobs/d.py", "import json\nwith open(\"limits.json\") as f:\n    pass\n", scene)
        .at(2)
        .fault(no_such("limits.json"));
    assert!(
        case.case().base() == std::path::Path::new("/srv/job")
            && offers(&case, "import json\nimport os\nos.chdir(")
    );
}

#[test]
fn what_a_change_brings_is_there_or_not() {
    let text = "cp \"$CACHE_HOME\"/a b\n";
    let scene = TestScene::new().file("cache.conf", "CACHE_ROOT=cache\n");
    let case = TestCase::new("m.sh", text, scene).at(1);
    let with = |after: &str| {
        let script = ScriptFile::new("/srv/job/m.sh".into(), text.to_owned(), 0o644);
        let made = Draft::new("x", "", "").rewrite(&script, after.to_owned(), "").done().unwrap();
        brings_only_what_is_there(&case.case(), &made.proposal)
    };
    assert!(with("cp \"$CACHE_ROOT\"/a b\n"));
    for general in
        ["cp \"${CACHE_HOME:-/var/cache}\"/a b\n", "cp a b\n", "cp \"$CACHE_HOME\"/a b 2> /dev/null\n"]
    {
        assert!(!with(general), "{general}");
    }
}
