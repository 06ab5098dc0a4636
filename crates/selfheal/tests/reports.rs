//! The report of some days, and several jobs that fail from one cause.

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::Outbox;
use selfheal_store::{Store, StoreOptions, UsageRecord};
use selfheal_testkit::TestEnv;

use crate::support::{backup_env, document, env, only_incident};

fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/selfheal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("selfheal.toml"), text).unwrap();
}

/// The texts that wait in the outbox.
fn messages(env: &TestEnv) -> Vec<String> {
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    store.hand_out(&["x"], Timestamp(i64::MAX)).unwrap();
    let due = store.due("x", Timestamp(i64::MAX), 100).unwrap();
    due.into_iter().map(|due| due.message.text.to_string()).collect()
}

/// Makes a file look as if nobody had edited it lately: else that holds a repair, not only the policy.
fn old(env: &TestEnv, name: &str) {
    let file = std::fs::File::options().append(true).open(env.work().join(name)).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
}

#[test]
fn what_would_have_been_applied_is_told_with_its_proof_and_the_line_that_allows_it() {
    let env = backup_env();
    old(&env, "backup.sh");
    env.run(&["run", "--", "bash", "backup.sh"]);
    let id = only_incident(&env);
    env.run(&["note", &id, "the storage team moves it"]);
    let report = env.run(&["report"]);
    assert_eq!(report.code, 0, "{report:?}");
    let text = report.stdout;
    let script = env.work().join("backup.sh");
    for part in [
        "failures",
        "wait for a decision",
        "What would have been applied had it been allowed",
        "checks passed, risk low, now held",
        &format!("selfheal allow {} --up-to low", std::fs::canonicalize(&script).unwrap().display()),
        "the storage team moves it",
        "30 minutes of a person for each repair",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let line = text.lines().find(|line| line.trim().starts_with("selfheal allow")).unwrap().trim();
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    assert_eq!(env.run(&words).code, 0);
    assert_eq!(env.run(&["reject", &id]).code, 0);
    let (_, healed) = document(&env, &["--", "bash", "backup.sh"]);
    assert_eq!(healed["status"], "healed", "the line does what it says: {healed:#}");
    let text = env.run(&["report"]).stdout;
    assert!(text.contains("repaired by rules"), "{text}");
    assert!(text.contains("rounds to a repair, on average") && text.contains("0.5 h"), "{text}");
}

#[test]
fn what_comes_again_deserves_a_real_fix_and_the_time_is_the_reader_s() {
    let env = env();
    settings(&env, "[report]\nminutes-per-retry = 60\n");
    env.script("job", "#!/bin/bash\necho 'frobnicator: it is broken' >&2\nexit 9\n");
    for _ in 0..2 {
        env.run(&["run", "--once", "--", "bash", "job"]);
    }
    env.script("net", "#!/bin/bash\n[ -e tried ] && exit 0\n: > tried\necho 'curl: (56) Recv failure: Connection reset by peer' >&2\nexit 56\n");
    env.run(&["run", "--repeatable", "--", "./net"]);
    let text = env.run(&["report", "--since", "2w"]).stdout;
    assert!(text.contains("bash job: frobnicator: it is broken – 2 times"), "{text}");
    assert!(text.contains("passed when run again") && text.contains("1.0 h"), "{text}");
    let chinese = env.with("LC_ALL", "zh_CN.UTF-8").run(&["report"]).stdout;
    assert!(chinese.contains("重新运行后成功") && chinese.contains("2 次"), "{chinese}");
}

#[test]
fn every_form_is_safe_from_what_jobs_say() {
    let env = env();
    let hostile = "x</pre><script>alert(1)</script>[a](http://e)`\u{1b}[31m\u{202e}";
    env.script("job", &format!("#!/bin/bash\ncat <<'END' >&2\n{hostile}\nEND\nexit 9\n"));
    for _ in 0..2 {
        env.run(&["run", "--once", "--job", "<b>&\"'", "--", "bash", "job"]);
    }
    let file = env.work().join("week.html");
    let written = env.run(&["report", "--format", "html", "--output", "week.html"]);
    assert_eq!((written.code, written.stdout.as_str()), (0, ""), "{written:?}");
    let html = std::fs::read_to_string(file).unwrap();
    assert!(html.contains("<svg ") && html.contains("Failures by day"), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    assert!(!html.contains("<script") && !html.contains("src=") && !html.contains('\u{202e}'), "{html}");
    for tag in ["html", "head", "body", "svg", "ul", "table"] {
        let count = |text: &str| html.matches(text).count();
        assert_eq!(
            count(&format!("<{tag}>")) + count(&format!("<{tag} ")),
            count(&format!("</{tag}>")),
            "{tag}"
        );
    }
    let markdown = env.run(&["report", "--format", "markdown"]).stdout;
    assert!(markdown.starts_with("# ") && markdown.contains("| failures | 2 |"), "{markdown}");
    assert!(markdown.contains("\\<script\\>") && markdown.contains("\\[a\\]\\("), "{markdown}");
    for text in [&markdown, &env.run(&["report"]).stdout] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    }
}

#[test]
fn what_models_took_is_told_by_model_and_in_money() {
    let env = env();
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_millis()).unwrap();
    let usage = |tokens, cost| selfheal_core::usage::Usage {
        calls: 1,
        input_tokens: tokens,
        output_tokens: 10,
        cost,
        millis: 5,
    };
    for (model, at, tokens, cost) in [
        ("large", now - 1_000, 1_000, 1_230_000),
        ("large", now - 900, 2_000, 20_000),
        ("<small>", now - 800, 500, 0),
        ("large", now - 8 * 86_400_000, 9_999, 9_000_000),
    ] {
        let model = model.to_owned();
        store.note_usage(&UsageRecord { at, incident: None, model, usage: usage(tokens, cost) }).unwrap();
    }
    let text = env.run(&["report"]).stdout;
    let line = |word: &str| text.lines().find(|line| line.contains(word)).unwrap_or_default().to_owned();
    assert!(line("cost of models").ends_with("1.25"), "{text}");
    assert!(line("  large").contains("2 calls, 3020 tokens, cost 1.25"), "{text}");
    assert!(line("<small>").contains("1 call, 510 tokens, cost 0"), "{text}");
    assert!(text.contains("price-in"), "{text}");
    let html = env.run(&["report", "--format", "html"]).stdout;
    assert!(html.contains("&lt;small&gt;") && html.contains("cost 1.25"), "{html}");
}

#[test]
fn bad_times_and_places_are_told() {
    let env = env();
    for since in ["7", "d", "-1d", "0d", "99999999999999999999d"] {
        assert_eq!(env.run(&["report", &format!("--since={since}")]).code, 2, "{since}");
    }
    let nowhere = env.run(&["report", "--output", "no/such/folder/x.html"]);
    assert_eq!(nowhere.code, 1);
    assert!(nowhere.stderr.contains("no/such/folder"), "{nowhere:?}");
    assert_eq!(env.run(&["report", "--since", "1h"]).code, 0, "an empty store has a report, too");
}

#[test]
fn a_tick_sends_the_report_once_a_week_where_that_is_wanted() {
    let env = env();
    env.run(&["tick"]);
    settings(&env, "[notify]\nweekly = true\n");
    env.run(&["tick"]);
    env.run(&["tick"]);
    assert_eq!(messages(&env), Vec::<String>::new(), "the first week has only begun");
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    let last = store.last_record("report_sent").unwrap().unwrap();
    // What a tick would have noted eight days ago.
    let redactor = selfheal_core::redact::Redactor::default();
    let entry = selfheal_core::ports::Entry {
        at: Timestamp(last.0 - 8 * 86_400_000),
        kind: "report_sent".to_owned(),
        incident: None,
        body: redactor.text("{}"),
    };
    drop(store);
    let env = crate::support::env();
    settings(&env, "[notify]\nweekly = true\n");
    env.script("job", "#!/bin/bash\necho 'frobnicator: <b>it is broken</b>' >&2\nexit 9\n");
    env.run(&["run", "--once", "--", "bash", "job"]);
    messages(&env);
    let store = Store::open(&env.state(), StoreOptions::default()).unwrap();
    for due in store.due("x", Timestamp(i64::MAX), 100).unwrap() {
        store.settle("x", &[due.row], &selfheal_core::ports::Delivery::Done(Timestamp(1))).unwrap();
    }
    selfheal_core::ports::Ledger::append(&store, &[entry]).unwrap();
    drop(store);
    env.run(&["tick"]);
    env.run(&["tick"]);
    let sent = messages(&env);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains("selfheal on ") && sent[0].contains("Overview"), "{sent:?}");
    // Mail programs take SVG away: the charts of a mail are cells.
    let exported = env.run(&["export", "--kind", "message"]).stdout;
    let row: serde_json::Value = serde_json::from_str(exported.lines().last().unwrap()).unwrap();
    let html = row["html"].as_str().unwrap();
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains("bgcolor") && !html.contains("<svg"),
        "{html}"
    );
}

/// A job that needs a command that this machine has not.
fn broken(env: &TestEnv, name: &str) {
    env.script(name, "#!/bin/bash\nset -e\nno-such-command-on-this-machine --now\n");
    old(env, name);
}

#[test]
fn several_jobs_that_fail_from_one_cause_stop_healing_and_are_told_once() {
    let env = env();
    for name in ["one", "two", "three", "four"] {
        broken(&env, name);
    }
    for name in ["one", "two"] {
        let run = env.run(&["run", "--once", "--", "bash", name]);
        assert!(!run.stderr.contains("several jobs fail"), "{run:?}");
    }
    for name in ["three", "four"] {
        let (run, document) = document(&env, &["--once", "--", "bash", name]);
        assert_eq!(run.code, 127);
        assert!(run.stderr.contains("several jobs fail from this cause"), "{run:?}");
        assert_eq!(document["status"], "failed", "{document:#}");
    }
    let told = messages(&env);
    let of_all: Vec<&String> =
        told.iter().filter(|text| text.contains("3 jobs failed from one cause")).collect();
    assert_eq!((told.len(), of_all.len()), (3, 1), "one each of the first two, one of all: {told:#?}");
    assert!(of_all[0].contains("bash three") && of_all[0].contains("bash one"), "{told:#?}");
    // A person who asks for a run decides for himself.
    let (run, _) = document(&env, &["--once", "--apply", "low", "--", "bash", "two"]);
    assert!(!run.stderr.contains("several jobs fail"), "{run:?}");
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn jobs_that_fail_from_causes_of_their_own_are_no_storm() {
    let env = env();
    for name in ["one", "two", "three"] {
        env.script(name, &format!("#!/bin/bash\nset -e\nno-such-command-{name} --now\n"));
        let run = env.run(&["run", "--once", "--", "bash", name]);
        assert!(!run.stderr.contains("several jobs fail"), "{run:?}");
    }
    let env = crate::support::env();
    settings(&env, "[limits]\nstorm-jobs = 0\n");
    for name in ["one", "two", "three"] {
        broken(&env, name);
        let run = env.run(&["run", "--once", "--", "bash", name]);
        assert!(!run.stderr.contains("several jobs fail"), "{run:?}");
    }
}
