//! Jobs of cron: listed, wrapped, run, unwrapped, through real files and a `crontab` program that stands in for the
//! machine's.

use std::os::unix::fs::PermissionsExt;

use selfheal_testkit::TestEnv;

use crate::support::env;

/// `crontab -l`, `crontab -`: a table in a file; `LOCKED` in a table is refused, as a syntax error is by the real one.
const CRONTAB: &str = "#!/bin/sh\ntable=${0%/*}/table\ncase $1 in\n-l) cat \"$table\" 2>/dev/null || exit 1;;\n\
    -) cat > \"$table.new\"; grep -q LOCKED \"$table.new\" && exit 1; mv \"$table.new\" \"$table\";;\n*) exit 2;;\nesac\n";

/// An environment with a `crontab` and a table of its own.
fn crontab_env(table: &[u8]) -> TestEnv {
    let env = env();
    env.script("bin/crontab", CRONTAB);
    env.write("bin/table", table);
    let path = format!("{}:/usr/bin:/bin", env.work().join("bin").display());
    env.with("PATH", path)
}

fn table(env: &TestEnv) -> Vec<u8> {
    std::fs::read(env.work().join("bin/table")).unwrap()
}

const MINE: &[u8] = b"# my jobs\nSHELL=/bin/bash\nMAILTO=ops@example.org\n\n\
    15 2 * * *\t/opt/backup.sh  >/dev/null 2>&1\n@daily cd /srv && ./a.sh; ./b.sh\r\n\
    0 3 * * * date +\\%F%input\n# not \xff text\n\xff\n*/5 * * * * flock -n /l /opt/backup.sh --quick";

#[test]
fn without_write_the_difference_is_shown_and_nothing_changed() {
    let env = crontab_env(MINE);
    let shown = env.run(&["cron", "wrap", "--all"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains("-15 2 * * * /opt/backup.sh  >/dev/null 2>&1\n"), "{shown:?}");
    assert!(shown.stdout.contains("run --job backup -- /opt/backup.sh  >/dev/null 2>&1\n"), "{shown:?}");
    assert!(shown.stderr.contains("--write"), "{shown:?}");
    assert_eq!(table(&env), MINE);
}

#[test]
fn wrapped_and_unwrapped_the_table_has_its_bytes_back() {
    let env = crontab_env(MINE);
    let wrapped = env.run(&["cron", "wrap", "--all", "--apply", "low", "--write"]);
    assert_eq!(wrapped.code, 0, "{wrapped:?}");
    let program = env!("CARGO_BIN_EXE_selfheal");
    let text = String::from_utf8_lossy(&table(&env)).into_owned();
    for line in [
        format!("15 2 * * *\t{program} run --job backup --apply low -- /opt/backup.sh  >/dev/null 2>&1\n"),
        format!("@daily {program} run --job=a --apply low -- /bin/bash -c 'cd /srv && ./a.sh; ./b.sh'\r\n"),
        format!("0 3 * * * {program} run --job date --apply low -- date +\\%F%input\n"),
        format!("*/5 * * * * flock -n /l {program} run --job backup-2 --apply low -- /opt/backup.sh --quick"),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
    let again = env.run(&["cron", "wrap", "--all", "--write"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, ""), "{again:?}");
    let unwrapped = env.run(&["cron", "unwrap", "--all", "--write"]);
    assert_eq!(unwrapped.code, 0, "{unwrapped:?}");
    assert_eq!(table(&env), MINE);
}

#[test]
fn one_job_is_named_by_line_or_name() {
    let env = crontab_env(MINE);
    assert_eq!(env.run(&["cron", "wrap", "7", "--write"]).code, 0);
    assert_eq!(env.run(&["cron", "wrap", "a", "--write"]).code, 0);
    let listed = env.run(&["cron", "list", "--json"]);
    let jobs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let wrapped = |name: &str| {
        let mut own = jobs
            .as_array()
            .unwrap()
            .iter()
            .filter(|job| job["place"].as_str().unwrap().starts_with("crontab of"));
        own.find(|job| job["name"] == name).unwrap()["wrapped"].as_bool().unwrap()
    };
    assert!(wrapped("date") && wrapped("a") && !wrapped("backup"), "{}", listed.stdout);
    let text = env.run(&["cron", "list"]).stdout;
    assert!(text.contains("    7  wrapped  0 3 * * *  "), "{text}");
    assert!(text.contains("    9  is nothing that cron understands"), "{text}");
    let ambiguous = env.run(&["cron", "wrap", "backup", "--write"]);
    assert_eq!(ambiguous.code, 1);
    assert!(ambiguous.stderr.contains("hint: "), "{ambiguous:?}");
    for args in [&["cron", "wrap", "nothing"][..], &["cron", "unwrap", "5"], &["cron", "wrap", "99"]] {
        let refused = env.run(args);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.starts_with("error: "), "{refused:?}");
    }
    assert_eq!(env.run(&["cron", "wrap"]).code, 2, "which job is not said");
    env.run(&["cron", "unwrap", "--all", "--write"]);
    assert_eq!(table(&env), MINE);
}

#[test]
fn a_table_that_crontab_refuses_stays() {
    let env = crontab_env(b"* * * * * echo LOCKED\n");
    let refused = env.run(&["cron", "wrap", "--all", "--write"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(table(&env), b"* * * * * echo LOCKED\n");
    std::fs::remove_file(env.work().join("bin/table")).unwrap();
    let none = env.run(&["cron", "wrap", "--all"]);
    assert!(none.code == 1 && none.stderr.contains("--file"), "{none:?}");
}

#[test]
fn a_system_file_keeps_its_mode_and_gets_its_bytes_back() {
    let env = env();
    let text = "MAILTO=root\n17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly\n";
    let file = env.write("etc/cron.d/parts", text);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let path = file.to_str().unwrap();
    let wrapped = env.run(&["cron", "wrap", "2", "--file", path, "--write"]);
    assert_eq!(wrapped.code, 0, "{wrapped:?}");
    assert!(env.read("etc/cron.d/parts").contains("\troot    cd / && "), "{}", env.read("etc/cron.d/parts"));
    assert!(env.read("etc/cron.d/parts").contains(" run --job cron.hourly -- run-parts --report"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(env.run(&["cron", "unwrap", "cron.hourly", "--file", path, "--write"]).code, 0);
    assert_eq!(env.read("etc/cron.d/parts"), text);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_shell_of_another_kind_is_left_alone() {
    let env = crontab_env(b"SHELL=/usr/bin/fish\n* * * * * a; and b\n");
    let left = env.run(&["cron", "wrap", "--all", "--write"]);
    assert_eq!(left.code, 0);
    assert!(left.stderr.contains("SHELL"), "{left:?}");
    assert_eq!(table(&env), b"SHELL=/usr/bin/fish\n* * * * * a; and b\n");
}

#[test]
fn a_wrapped_line_runs_as_cron_would_run_it() {
    let env = crontab_env(b"");
    env.write("data.txt", "one\ntwo\n");
    let work = env.work();
    let line =
        format!("cd {} && grep -c one data.txt >> out.txt; echo \"it's done\" >> out.txt", work.display());
    env.write("bin/table", format!("* * * * * {line}\n"));
    assert_eq!(env.run(&["cron", "wrap", "1", "--write"]).code, 0);
    let wrapped = String::from_utf8(table(&env)).unwrap();
    let command = wrapped.trim_end().strip_prefix("* * * * * ").unwrap();
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", command])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("SELFHEAL_STATE_DIR", env.state());
    assert!(shell.status().unwrap().success());
    assert_eq!(env.read("out.txt"), "1\nit's done\n");
}

#[test]
fn tables_below_a_folder_are_listed_with_their_users() {
    let env = env();
    env.write(
        "image/etc/crontab",
        "SHELL=/bin/sh\n25 6 * * * root test -x /usr/sbin/anacron || run-parts /etc/cron.daily\n",
    );
    env.write("image/etc/cron.d/app", "*/5 * * * * www-data /opt/app/poll\n");
    env.write("image/etc/cron.d/.placeholder", "* * * * * root false\n");
    env.write("image/var/spool/cron/crontabs/anna", "@reboot /home/anna/start.sh\n");
    let listed = env.run(&["cron", "list", "--root", env.work().join("image").to_str().unwrap(), "--json"]);
    let jobs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let seen: Vec<_> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["user"].as_str().unwrap(), job["name"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("root", "cron.daily"), ("www-data", "poll"), ("anna", "start")], "{}", listed.stdout);
}

/// An image of a machine with jobs of every kind.
fn image() -> (TestEnv, String) {
    let env = env();
    for (name, text) in [
        (
            "etc/crontab",
            "MAILTO=ops\n25 6 * * * root /opt/report.sh\n* * * * * root ssh host uptime >/dev/null 2>&1\n",
        ),
        (
            "etc/cron.d/app",
            "MAILTO=\"\"\n*/5 * * * * app cd /srv/app && ./poll.sh\n0 1 * * * app /opt/gone.sh || true\n\
            0 2 * * * app selfheal run --job good -- /opt/report.sh\n",
        ),
        ("etc/cron.daily/tidy", "#!/bin/sh\nrm -rf /tmp/x\n"),
        ("opt/report.sh", "#!/bin/bash\necho report\n"),
        ("srv/app/poll.sh", "#!/bin/sh\ncurl -fsS https://example.org\n"),
        ("usr/sbin/sendmail", ""),
        ("usr/bin/ssh", "\u{7f}ELF\0"),
        ("etc/systemd/system/backup.timer", "[Timer]\nOnCalendar=daily\n"),
        ("etc/systemd/system/backup.service", "[Service]\nUser=bob\nExecStart=/opt/report.sh --full\n"),
        ("etc/systemd/system/told.timer", "[Timer]\nOnCalendar=weekly\nUnit=tell@x.service\n"),
        ("usr/lib/systemd/system/tell@.service", "[Service]\nExecStart=/opt/report.sh\n"),
        ("etc/systemd/system/tell@.service.d/more.conf", "[Unit]\nOnFailure=mail@%n.service\n"),
        ("usr/lib/systemd/system/off.timer", "[Timer]\nOnCalendar=daily\n"),
    ] {
        env.write(&format!("image/{name}"), text);
    }
    let root = env.work().join("image").display().to_string();
    (env, root)
}

#[test]
fn a_survey_says_of_every_job_what_can_be_known() {
    let (env, root) = image();
    let run = env.run(&["survey", "--root", &root, "--json"]);
    let jobs: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let seen: Vec<String> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| {
            let blockers: Vec<&str> =
                job["blockers"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
            format!(
                "{} {} {} [{}] {} {}",
                job["kind"].as_str().unwrap(),
                job["name"].as_str().unwrap(),
                job["can_try"],
                blockers.join(" "),
                job["seen"]["how"].as_str().unwrap(),
                job["advice"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "cron report true [] mail wrap",
            "cron ssh false [remote binary] discarded wrap-report",
            "cron poll false [network] no-mail wrap-report",
            "cron gone false [missing] masked missing",
            "cron good true [] selfheal none",
            "periodic tidy true [] mail periodic",
            "timer backup true [] journal unit",
            "timer told true [] handler unit",
        ],
        "{}",
        run.stdout
    );
}

#[test]
fn a_survey_in_words() {
    let (env, root) = image();
    let run = env.run(&["survey", "--root", &root]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(run.normalised());
}

/// What `tick` remembers of jobs that it saw, made older: as if the line had stood there for days.
fn age_what_was_seen(env: &TestEnv) {
    let file = env.state().join("missed.json");
    let mut memory: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (_, seen) in memory["first_seen"].as_object_mut().unwrap() {
        *seen = (seen.as_i64().unwrap() - 3 * 86_400_000).into();
    }
    std::fs::write(&file, memory.to_string()).unwrap();
}

#[test]
fn a_missed_run_is_told_once_and_shown_until_one_is_recorded() {
    let env = crontab_env(b"");
    env.write(
        "bin/table",
        "* * * * * /opt/one\n* * * * * test -e /x && /opt/two\n@reboot /opt/three\n* * * * * /opt/bare\n",
    );
    for line in ["1", "2", "3"] {
        assert_eq!(env.run(&["cron", "wrap", line, "--write"]).code, 0);
    }
    let told = env.work().join("told");
    let teller = env.script("tell", &format!("#!/bin/sh\ncat >> '{}'\n", told.display()));
    let settings = format!("[notify]\nprogram = [\"{}\"]\n", teller.display());
    std::fs::create_dir_all(env.home().join(".config/selfheal")).unwrap();
    std::fs::write(env.home().join(".config/selfheal/selfheal.toml"), settings).unwrap();
    assert!(!env.run(&["tick"]).stdout.contains("was due"), "the lines are new");
    age_what_was_seen(&env);
    let first = env.run(&["tick"]);
    assert_eq!(first.stdout.matches("was due").count(), 1, "{first:?}");
    assert!(first.stdout.contains("selfheal: one was due at "), "{first:?}");
    assert!(env.read("told").contains("one was due at "), "{first:?}");
    let again = env.run(&["tick"]);
    assert!(!again.stdout.contains("was due"), "once is enough: {again:?}");
    let survey = env.run(&["survey"]).stdout;
    assert_eq!(survey.matches("none was recorded").count(), 1, "{survey}");
    assert_eq!(env.run(&["run", "--job", "one", "--", "true"]).code, 0);
    assert!(!env.run(&["tick"]).stdout.contains("was due"));
    let survey = env.run(&["survey"]).stdout;
    assert!(!survey.contains("none was recorded"), "{survey}");
}
