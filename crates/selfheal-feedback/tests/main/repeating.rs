//! Whether jobs may run again.

use std::path::Path;

use selfheal_core::effects::{Change, Effect};
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::run::{Ended, Run};
use selfheal_core::trace::{Step, Trace};
use selfheal_feedback::repeat::{RepeatInput, Repeatability, repeatable};

use crate::support::{RealScene, job, run};

/// What is known of a job and its run when nothing else is.
fn known<'a>(job: &'a Job, run: &'a Run) -> RepeatInput<'a> {
    RepeatInput { job, trace: None, effects: None, script: None, failed_line: None, run, scene: None }
}

/// Judges a script whose line `failed` failed.
fn script(text: &str, failed: Option<u32>) -> Repeatability {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    repeatable(&RepeatInput { script: Some(text), failed_line: failed, ..known(&job, &run) })
}

/// Judges a command without a script.
fn command(line: &str) -> bool {
    let job = job(line, Path::new("/job"));
    repeatable(&known(&job, &run(1, b"", b""))).may
}

#[test]
fn the_owners_word_comes_first() {
    let run = run(1, b"", b"");
    let judge = |job: &Job| repeatable(&RepeatInput { script: Some("mail x\n"), ..known(job, &run) }).may;
    let plain = job("bash x.sh", Path::new("/job"));
    assert!(!judge(&plain));
    assert!(judge(&Job { repeatable: Repeatable::Declared, ..plain.clone() }));
    let quiet = "true\n";
    let forbidden = Job { repeatable: Repeatable::Forbidden, ..plain.clone() };
    assert!(repeatable(&RepeatInput { script: Some(quiet), ..known(&plain, &run) }).may);
    assert!(!repeatable(&RepeatInput { script: Some(quiet), ..known(&forbidden, &run) }).may);
}

#[test]
fn what_never_started_may_start_again() {
    let job = job("./x", Path::new("/job"));
    let mut run = run(127, b"", b"");
    assert!(!repeatable(&known(&job, &run)).may);
    run.ended = Ended::NotFound;
    assert!(repeatable(&known(&job, &run)).may);
}

#[test]
fn the_text_counts_up_to_the_line_that_failed() {
    let text = "#!/bin/bash\nset -e\ncurl -fsS https://x > new\nmail -s done y@z < new\n";
    assert!(script(text, Some(3)).may);
    let after = script(text, Some(4));
    assert!(!after.may && after.why.contains("line 4"), "{after:?}");
    assert!(!script(text, None).may);
    let with_function = format!("{text}note() {{\n  :\n}}\n");
    assert!(!script(&with_function, Some(3)).may, "a function may have been called from anywhere");
}

#[test]
fn a_download_into_a_new_name_may_be_repeated() {
    let text = "set -eu\nt=$(mktemp)\ncurl -fsS u -o \"$t\"\nsort \"$t\" > feed.new\nmv feed.new feed\nrm -f \"$t\"\n";
    assert_eq!(script(text, None).why, "its text holds nothing that must not happen twice");
    assert!(!script("sort in > out\nmv in done/\n", None).may);
    assert!(!script("date >> log\nfalse\n", None).may);
}

#[test]
fn text_of_other_languages_is_searched_for_telling_words() {
    assert!(!script("import smtplib\n", None).may);
    assert!(!script("import requests\nrequests.post(url)\n", None).may);
    assert!(script("import csv\nprint(open('x').read())\n", None).may);
}

#[test]
fn known_commands_need_no_script() {
    assert!(command("curl -fsS https://x"));
    assert!(command("nice wget -q https://x"));
    assert!(!command("curl -d x https://x"));
    assert!(!command("sudo apt-get update"));
    assert!(command("apt-get update"));
    assert!(!command("./unknown-program"));
}

#[test]
fn what_a_probe_saw_counts() {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    let step = |line, words: &[&str]| Step {
        file: "/job/x.sh".into(),
        line,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        status: Some(0),
    };
    let judge = |failing| {
        let trace = Trace {
            steps: vec![step(1, &["curl", "-fsS", "u"]), step(2, &["git", "push"]), step(3, &["date"])],
            failing: Some(failing),
            complete: true,
            ..Trace::default()
        };
        let text = "curl -fsS u\ngit push\ndate >> log\n";
        repeatable(&RepeatInput { trace: Some(&trace), script: Some(text), ..known(&job, &run) })
    };
    assert!(judge(0).may);
    assert!(judge(1).why.contains("git push"));
    let only_append =
        Trace { steps: vec![step(3, &["date"])], failing: Some(0), complete: true, ..Trace::default() };
    let text = "curl -fsS u\ngit push\ndate >> log\n";
    let input = RepeatInput { trace: Some(&only_append), script: Some(text), ..known(&job, &run) };
    assert!(repeatable(&input).why.contains("appends"));
}

#[test]
fn what_a_line_could_not_append_may_be_tried_again() {
    let (job, run) = (job("bash x.sh", Path::new("/job")), run(1, b"", b""));
    let judge = |script: &str, effects: Option<&[Effect]>| {
        let words = vec!["echo".to_owned(), "3".to_owned()];
        let line = u32::try_from(script.lines().count()).unwrap();
        let step = Step { file: "/job/x.sh".into(), line, words, status: Some(1) };
        let trace = Trace { steps: vec![step], failing: Some(0), complete: true, ..Trace::default() };
        repeatable(&RepeatInput { trace: Some(&trace), effects, script: Some(script), ..known(&job, &run) })
            .may
    };
    let grew =
        |change| [Effect { path: "/job/out/r.csv".into(), change, len: 9, content: None, mode: 0o644 }];
    let text = "OUT=out/r.csv\necho 3 >> \"$OUT\"\n";
    assert!(judge(text, Some(&[])), "a box shows that it did not grow");
    assert!(!judge(text, None), "nothing shows it");
    assert!(!judge(text, Some(&grew(Change::Appended))));
    assert!(!judge(text, Some(&grew(Change::Changed))));
    assert!(!judge("cd sub\necho 3 >> out/r.csv\n", Some(&[])), "where it lies is not known");
    assert!(!judge("echo 3 >> \"$OUT\"\n", Some(&[])), "nor is it here");
    assert!(!judge("echo 3 >> /tmp/r.csv\n", Some(&[])), "a box does not show it");
    assert!(!judge("eval 'echo 3 >> out/r.csv' >> out/r.csv\necho 3 | tee x >> \"$1\"\n", Some(&[])));
}

#[test]
fn files_that_grew_or_went_count() {
    let job = job("bash x.sh", Path::new("/job"));
    let run = run(1, b"", b"");
    let judge = |change| {
        let effects = [Effect { path: "/job/ledger.csv".into(), change, len: 9, content: None, mode: 0o644 }];
        repeatable(&RepeatInput { effects: Some(&effects), script: Some("true\n"), ..known(&job, &run) }).may
    };
    assert!(!judge(Change::Appended));
    assert!(!judge(Change::Deleted));
    assert!(judge(Change::Created));
    assert!(judge(Change::Changed));
}

/// Realistic jobs that do something which must not happen twice, and then fail for a reason that passes.
const ONCE: [&str; 30] = [
    "curl -fsS -X POST https://api/orders -d @order.json",
    "mail -s done ops@example.com < report.txt\ncurl -fsS https://x -o y",
    "psql -c \"INSERT INTO runs VALUES (now())\"\ncurl -fsS https://x -o y",
    "psql shop < load.sql\ncurl -fsS https://x -o y",
    "echo \"$(date): started\" >> /var/log/job.log\ncurl -fsS https://x -o y",
    "{ echo a; echo b; } >> total.csv\ncurl -fsS https://x -o y",
    "git push origin main",
    "rsync -a site/ www@host:/srv/www/",
    "kubectl apply -f app.yaml\nkubectl get pods",
    "ssh host systemctl restart app\ncurl -fsS https://x -o y",
    "scp dump.sql backup:/srv/\ncurl -fsS https://x -o y",
    "docker push registry/app\ncurl -fsS https://x -o y",
    "logger -t job begun\ncurl -fsS https://x -o y",
    "echo ./job | at now + 1 hour\ncurl -fsS https://x -o y",
    "redis-cli incr runs\ncurl -fsS https://x -o y",
    "aws s3 cp dump.gz s3://bucket/\ncurl -fsS https://x -o y",
    "sqlite3 app.db \"INSERT INTO t VALUES (1)\"\ncurl -fsS https://x -o y",
    "for h in a b; do\n  curl -fsS https://$h -o $h\n  mail -s done $h@x < $h\ndone",
    "notify() {\n  mail -s x y@z\n}\nnotify\ncurl -fsS https://x -o y",
    "printf '%s\\n' a b | xargs -n 1 mail -s x\ncurl -fsS https://x -o y",
    "find out -name '*.csv' -exec mail -s x {} \\;\ncurl -fsS https://x -o y",
    "trap 'mail -s ended ops' EXIT\ncurl -fsS https://x -o y",
    "bash -c 'mail -s x y'\ncurl -fsS https://x -o y",
    "TOOL=/opt/bin/charge\n$TOOL all\ncurl -fsS https://x -o y",
    "./unknown-program\ncurl -fsS https://x -o y",
    "eval \"$CMD\"\ncurl -fsS https://x -o y",
    "curl -fsS https://ci.example.com/job/deploy/build?token=x",
    "#!/usr/bin/env python3\nimport smtplib\n",
    "#!/usr/bin/env python3\nimport requests\nrequests.post('https://x', json={})\n",
    "#!/usr/bin/env python3\nwith open('log', 'a', encoding='utf-8') as f:\n    f.write('x')\n",
];

/// Jobs that only read, or do the same when they run twice.
const AGAIN: [&str; 9] = [
    "set -euo pipefail\ncd \"$(dirname \"$0\")\"\ncurl -fsS https://x -o y\n",
    "rsync -a host:/srv/ copy/",
    "git fetch origin && git log -1",
    "apt-get update",
    "t=$(mktemp)\ncurl -fsS https://x > \"$t\"\nsort \"$t\" | uniq -c > counts\nrm -f \"$t\"\n",
    "get() {\n  curl -fsS \"$1\"\n}\nget https://x > y\n",
    "psql -At -c \"select count(*) from t\" > n\n",
    "for h in a b; do\n  ping -c 1 \"$h\" || exit 1\ndone\n",
    "#!/usr/bin/env python3\nimport json, sys\nfrom urllib.request import urlopen\nprint(json.load(urlopen(sys.argv[1])))\n",
];

#[test]
fn nothing_that_acts_on_others_is_repeated_unless_it_was_declared() {
    for text in ONCE {
        assert!(!script(text, None).may, "{text}");
    }
    for text in AGAIN {
        let judged = script(text, None);
        assert!(judged.may, "{text}: {}", judged.why);
    }
}

#[test]
fn the_frame_of_a_program_is_not_all_that_it_did() {
    let job = job("python3 x.py", Path::new("/job"));
    let run = run(1, b"", b"");
    let text = "import sqlite3\nbase = sqlite3.connect('x')\nbase.execute('insert into t values (1)')\nbase.commit()\nfetch()\n";
    let frame = Step { file: "/job/x.py".into(), line: 5, words: vec!["fetch()".into()], status: None };
    let trace = Trace { steps: vec![frame], failing: Some(0), complete: true, ..Trace::default() };
    let input = RepeatInput { trace: Some(&trace), script: Some(text), ..known(&job, &run) };
    assert!(!repeatable(&input).may);
}

#[test]
fn scripts_and_modules_that_are_started_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let scene = RealScene(folder.path().to_path_buf());
    let job = job("bash x.sh", folder.path());
    let run = run(1, b"", b"");
    let judge = |text: &str| {
        repeatable(&RepeatInput { scene: Some(&scene), script: Some(text), ..known(&job, &run) })
    };
    std::fs::write(folder.path().join("get.sh"), "curl -fsS https://x -o y\n").unwrap();
    std::fs::write(folder.path().join("tell.sh"), "mail -s x y@z\n").unwrap();
    std::fs::write(folder.path().join("posts.py"), "import requests\ndef go(): requests.post('x')\n")
        .unwrap();
    assert!(judge("bash get.sh\n").may, "{}", judge("bash get.sh\n").why);
    assert!(judge("./tell.sh\ncurl -fsS u -o y\n").why.contains("mail"));
    assert!(judge("#!/usr/bin/env python3\nimport posts\n").why.contains("posts"));
    assert!(judge("#!/usr/bin/env python3\nimport strange\n").why.contains("strange"));
    assert!(!judge(". ./tell.sh\n").may);
}

#[test]
fn what_a_program_starts_is_judged_as_a_command() {
    let of = |call: &str| script(&format!("#!/usr/bin/env python3\nimport subprocess\n{call}\n"), None);
    for call in [
        "subprocess.run([\"curl\", \"-fsS\", url], check=True, stdout=subprocess.PIPE)",
        "subprocess.check_output(['git', 'fetch', 'origin'])",
        "subprocess.run('grep x f', shell=True)",
    ] {
        assert!(of(call).may, "{call}: {:?}", of(call));
    }
    for call in [
        "subprocess.run([\"curl\", \"-X\", \"POST\", url])",
        "subprocess.run(['mail', '-s', 'x', 'y@z'])",
        "subprocess.run('rm x', shell=True)",
        "subprocess.run(['frobnicate'])",
        "subprocess.run(command)",
        "f = subprocess.run",
        "os.system('grep x f')",
    ] {
        assert!(!of(call).may, "{call}: {:?}", of(call));
    }
}
