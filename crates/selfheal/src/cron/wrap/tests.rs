//! What wrapping keeps outside, what it quotes, and that it can always be taken back.

use super::*;

/// How many composed lines are tried.
const ROUNDS: usize = 200;

fn wish() -> Wish {
    Wish { program: "selfheal".into(), job: "n".into(), apply: None }
}

fn wrapped(text: &str) -> Result<String, Refusal> {
    wrap(text, &wish(), Some("sh"))
}

#[test]
fn a_simple_command_gets_it_in_front() {
    for (text, wanted) in [
        ("/opt/a.sh", "selfheal run --job n -- /opt/a.sh"),
        ("a -x 'b c' >/dev/null 2>&1", "selfheal run --job n -- a -x 'b c' >/dev/null 2>&1"),
        (">>log a", ">>log selfheal run --job n -- a"),
        ("A=1 B=\"x y\" a", "A=1 B=\"x y\" selfheal run --job n -- a"),
        ("cd /srv && ./run.sh", "cd /srv && selfheal run --job n -- ./run.sh"),
        (
            "cd /srv && ./run.sh >>/var/log/a 2>&1",
            "cd /srv && selfheal run --job n -- ./run.sh >>/var/log/a 2>&1",
        ),
        (
            "cd /srv && . ./env && a -b 2>&1 | logger",
            "cd /srv && . ./env && selfheal run --job n -- a -b 2>&1 | logger",
        ),
        ("cd /srv; ./run.sh", "cd /srv; selfheal run --job n -- ./run.sh"),
        (". ~/.profile; cd x && a", ". ~/.profile; cd x && selfheal run --job n -- a"),
        ("[ -x /a ] && /a", "[ -x /a ] && selfheal run --job n -- /a"),
        ("test -x /b || /a", "test -x /b || selfheal run --job n -- /a"),
        ("flock -n /l a b", "flock -n /l selfheal run --job n -- a b"),
        ("flock -w 5 /l timeout 60 a", "flock -w 5 /l selfheal run --job n -- timeout 60 a"),
        ("nice -n 10 ionice -c3 chronic a", "nice -n 10 ionice -c3 chronic selfheal run --job n -- a"),
        ("timeout 60 a", "selfheal run --job n -- timeout 60 a"),
        ("flock -n /l -c 'a; b'", "selfheal run --job n -- flock -n /l -c 'a; b'"),
        ("sh -c 'a; b'", "selfheal run --job n -- sh -c 'a; b'"),
        ("$HOME/bin/a", "selfheal run --job n -- $HOME/bin/a"),
        ("a &", "selfheal run --job n -- a &"),
        ("a # note", "selfheal run --job n -- a # note"),
        ("a 2>&1 | logger -t a", "selfheal run --job n -- a 2>&1 | logger -t a"),
        ("a | mail -s 'x y' root", "selfheal run --job n -- a | mail -s 'x y' root"),
    ] {
        assert_eq!(wrapped(text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn a_line_for_the_shell_is_quoted() {
    for (text, wanted) in [
        ("a && b", "selfheal run --job=n -- sh -c 'a && b'"),
        ("a; b", "selfheal run --job=n -- sh -c 'a; b'"),
        ("cd /x && a && b", "cd /x && selfheal run --job=n -- sh -c 'a && b'"),
        ("cd /x && a || b", "selfheal run --job=n -- sh -c 'cd /x && a || b'"),
        ("cd /x && a; b", "selfheal run --job=n -- sh -c 'cd /x && a; b'"),
        ("a || true", "selfheal run --job=n -- sh -c 'a || true'"),
        ("a | b", "selfheal run --job=n -- sh -c 'a | b'"),
        ("a | b >> log", "selfheal run --job=n -- sh -c 'a | b' >> log"),
        ("a | b >> log 2>&1", "selfheal run --job=n -- sh -c 'a | b >> log 2>&1'"),
        ("cd /x && a && b > f 2>&1", "cd /x && selfheal run --job=n -- sh -c 'a && b > f 2>&1'"),
        ("cd /x && a | b > f 2>&1", "cd /x && selfheal run --job=n -- sh -c 'a | b > f 2>&1'"),
        ("cd /x && (a; b) > f", "cd /x && selfheal run --job=n -- sh -c '(a; b)' > f"),
        ("a && b | c > f", "selfheal run --job=n -- sh -c 'a && b | c > f'"),
        ("cd /x && a | b", "cd /x && selfheal run --job=n -- sh -c 'a | b'"),
        ("cd /x || a | b && c", "selfheal run --job=n -- sh -c 'cd /x || a | b && c'"),
        ("(a; b) >> log 2>&1", "selfheal run --job=n -- sh -c '(a; b)' >> log 2>&1"),
        ("{ a; b; } > log", "selfheal run --job=n -- sh -c '{ a; b; }' > log"),
        ("echo 'it'; b", "selfheal run --job=n -- sh -c 'echo '\\''it'\\''; b'"),
        ("for i in 1 2; do a $i; done", "selfheal run --job=n -- sh -c 'for i in 1 2; do a $i; done'"),
        (". ./job.sh", "selfheal run --job=n -- sh -c '. ./job.sh'"),
        (
            "test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )",
            "test -x /usr/sbin/anacron || selfheal run --job=n -- sh -c '( cd / && run-parts --report /etc/cron.daily )'",
        ),
    ] {
        assert_eq!(wrapped(text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn percents_keep_what_they_mean() {
    for (text, wanted) in [
        ("tar cf b-$(date +\\%F).tar x", "selfheal run --job n -- tar cf b-$(date +\\%F).tar x"),
        ("mail root%hello%world", "selfheal run --job n -- mail root%hello%world"),
        ("a \\% '\\%'; b%in", "selfheal run --job=n -- sh -c 'a \\% '\\''\\%'\\''; b'%in"),
    ] {
        assert_eq!(wrapped(text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn the_shell_is_that_of_the_table() {
    assert_eq!(
        wrap("a; b", &wish(), Some("/bin/bash")).unwrap(),
        "selfheal run --job=n -- /bin/bash -c 'a; b'"
    );
    assert_eq!(wrap("a", &wish(), None), Err(Refusal::Shell));
}

#[test]
fn what_cannot_be_wrapped_is_refused() {
    for (text, refusal) in [
        ("selfheal run -- a", Refusal::Wrapped),
        ("flock -n /l /usr/bin/selfheal run --job x -- a", Refusal::Wrapped),
        ("'/usr/bin/selfheal' tick >/dev/null # selfheal tick", Refusal::Wrapped),
        ("", Refusal::NoProgram),
        (":", Refusal::NoProgram),
        ("cd /x", Refusal::NoProgram),
        ("A=1", Refusal::NoProgram),
    ] {
        assert_eq!(wrapped(text), Err(refusal), "{text}");
    }
    assert_eq!(wrapped(&format!("a {}", "x".repeat(990))), Err(Refusal::TooLong));
}

#[test]
fn every_wrapping_can_be_taken_back() {
    let shells = ["sh", "/bin/bash"];
    let lines = [
        "a  'b'  \"c\" \\\n",
        "sh -c 'a'",
        "a 'unclosed",
        "if",
        "a ) b",
        "a <<X",
        "'it'\\''s' ; b",
        "a\t&&\tb ",
        "  a",
        "é ü; 中文 | x",
        "a;;b",
        "$(a; b) c",
        "`a` ; b",
        "a \\\\; b",
        "[[ -f x ]] && a",
        "! a",
        "a & b",
        "a & b &",
        "a;",
        "sleep $((RANDOM \\% 60)); a",
        "f() { a; }; f",
        "case x in x) a;; esac",
        "<in a | b | c >out",
        "a > x b > y",
        "/bin/sh -c \"a; b\" || exit 1",
        "exec a",
        "exec -a x a",
        "time a | b",
        "command a",
        "A=1 eval b >c",
        "nohup a &",
    ];
    for line in lines {
        for shell in shells {
            if let Ok(fresh) = wrap(line, &wish(), Some(shell)) {
                assert_eq!(unwrap(&fresh).as_deref(), Ok(line), "{fresh}");
            }
        }
    }
}

#[test]
fn a_line_that_was_rewritten_by_hand_is_not_guessed() {
    assert_eq!(unwrap("a"), Err(Refusal::NotWrapped));
    assert_eq!(unwrap("selfheal run --job=n -- sh -c \"a; b\""), Err(Refusal::Irreversible));
    assert_eq!(unwrap("selfheal run -- a b >c").as_deref(), Ok("a b >c"));
}

#[test]
fn names_come_from_the_script() {
    for (text, name) in [
        ("/usr/local/bin/backup.sh >/dev/null", "backup"),
        ("cd /srv && python3 -u jobs/night_run.py --all", "night_run"),
        ("flock -n /l timeout 60 /opt/x/sync", "sync"),
        ("cd / && run-parts --report /etc/cron.hourly", "cron.hourly"),
        ("pg_dump shop | gzip > x.gz", "pg_dump"),
        ("sh -c 'a b'", "sh"),
        ("", "job"),
        ("$HOME/bin/run it.sh", "run"),
    ] {
        assert_eq!(derived_name(text), name, "{text}");
    }
}

/// What a line printed, and how it ended.
type Ran = (Option<i32>, String, String);

/// Not selfheal itself, but a program that does with its words what `run … --` does with them; and how lines are run.
fn stand_in(folder: &Path) -> (String, impl Fn(&str) -> Ran) {
    let program = folder.join("selfheal");
    std::fs::write(&program, "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
        .unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |line: &str| {
        let command = Command::divide(line).shell_text();
        let mut shell = std::process::Command::new("sh");
        let output = shell.arg("-c").arg(command).stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    (program.display().to_string(), run)
}

#[test]
fn wrapped_lines_run_like_the_bare_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (program, run) = stand_in(folder.path());
    let wish = Wish { program, ..wish() };
    for line in [
        "echo 'a  b' \"c\"; echo \\$HOME",
        "cd / && pwd && echo 'it'\\''s'",
        "printf '\\%s-\\%s\\n' a b",
        "A=7; export A; printenv A",
        "echo out | tr a-z A-Z | cat",
        "( echo one; echo two >&2; exit 3 ) 2>&1",
        "test -x /nonexistent || ( cd / && echo ran )",
        "for i in 1 2; do echo \"$i\"; done",
        "false || echo fallback",
        "nice -n 1 echo nice",
    ] {
        let fresh = wrap(line, &wish, Some("sh")).unwrap();
        assert_eq!(run(&fresh), run(line), "{fresh}");
    }
}

#[test]
fn composed_lines_run_like_the_bare_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (program, run) = stand_in(folder.path());
    let wish = Wish { program, ..wish() };
    let parts = [
        "echo a",
        "sh -c 'exit 3'",
        "cd /",
        "cd /nonexistent 2>/dev/null",
        "[ -e / ]",
        "test -e /nonexistent",
        "export V=1",
        "W=2",
        "printenv V",
        "pwd",
        "(echo s; pwd)",
        "{ echo g; false; }",
        "echo e >&2",
        "echo n >/dev/null",
        ". /dev/null",
        "nice -n 0 echo 'x y'",
        "! false",
        "env V=3 printenv V",
        "cat",
        "tee /dev/null",
        "flock -n /dev/null echo locked",
        "tr a b",
        "echo \"it's\" \\\\ \\%",
        "umask 022",
        "A=1 sh -c 'echo $A'",
        "exec echo x",
        "if true; then echo i; fi",
    ];
    let joins = [" && ", " || ", "; ", " | ", " & wait; ", " 2>&1 | ", " >&2; "];
    // A fixed walk through the combinations; the numbers are those of a linear congruential generator.
    let mut number: u64 = 99;
    let mut next = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(number >> 33).unwrap() % below
    };
    let mut wrapped = 0;
    for _ in 0..ROUNDS {
        let mut line = parts[next(parts.len())].to_owned();
        for _ in 0..=next(3) {
            line = format!("{line}{}{}", joins[next(joins.len())], parts[next(parts.len())]);
        }
        let Ok(fresh) = wrap(&line, &wish, Some("sh")) else { continue };
        wrapped += 1;
        let (bare, ours) = (run(&line), run(&fresh));
        assert_eq!(ours.0, bare.0, "{fresh}");
        assert_eq!(ours.1, bare.1, "{fresh}");
    }
    assert!(wrapped > ROUNDS / 2, "{wrapped}");
}
