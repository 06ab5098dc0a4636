//! The hermetic environment.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use selfheal_testkit::{TestEnv, copy_tree};

#[test]
fn a_run_sees_only_the_known_environment() {
    let env = TestEnv::new("/bin/sh").with("EXTRA", "1").without("TZ");
    let seen = env.run(&["-c", "env | cut -d= -f1 | sort | tr '\\n' ' '; pwd; echo $HOME"]);
    // The shell itself adds PWD, and some shells two more.
    let names = seen.stdout.replace("OLDPWD ", "").replace("SHLVL ", "").replace("_ ", "");
    let names = names.split_once('\n').map(|(names, _)| names.to_owned()).unwrap_or_default();
    let listed: Vec<&str> = names.split(' ').filter(|word| !word.starts_with('/')).collect();
    for name in ["EXTRA", "HOME", "LC_ALL", "PATH", "STATE_DIRECTORY", "TMPDIR", "XDG_STATE_HOME"] {
        assert!(listed.contains(&name), "{name} in {listed:?}");
    }
    assert!(!listed.contains(&"TZ") && !listed.contains(&"USER"), "{listed:?}");
    assert_eq!(seen.stdout.lines().last(), env.home().to_str());
}

#[test]
fn an_outcome_is_the_same_text_each_time() {
    let text = || {
        let env = TestEnv::new("/bin/sh");
        let file = env.write("a/b.txt", "x");
        env.run(&["-c", &format!("echo {}; date +%F >&2; echo took 1.25 s; exit 3", file.display())])
            .normalised()
    };
    let expected =
        "--- stdout ---\n[TEST]/job/a/b.txt\ntook [TIME]\n--- stderr ---\n[DATE]\n[exit status: 3]";
    assert_eq!(text(), expected);
    assert_eq!(text(), expected);
}

#[test]
fn input_reaches_the_program_and_signals_have_a_code() {
    let env = TestEnv::new("/bin/sh");
    assert_eq!(env.run_with_input(&["-c", "cat"], b"hello").stdout, "hello");
    assert_eq!(env.run_with_input(&["-c", "exit 0"], &vec![b'x'; 1 << 20]).code, 0);
    assert_eq!(env.run(&["-c", "kill -9 $$"]).code, 137);
}

#[test]
#[should_panic(expected = "did not end within")]
fn a_run_that_does_not_end_fails_the_test() {
    let _ = TestEnv::new("/bin/sleep").with_deadline(Duration::from_millis(50)).run(&["60"]);
}

#[test]
fn a_copied_tree_has_the_same_modes_and_links() {
    let env = TestEnv::new("/bin/sh");
    env.script("from/deep/run.sh", "#!/bin/sh\necho copied\n");
    std::os::unix::fs::symlink("deep/run.sh", env.work().join("from/link")).unwrap();
    copy_tree(&env.work().join("from"), &env.work().join("to")).unwrap();
    let mode = std::fs::metadata(env.work().join("to/deep/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(std::fs::read_link(env.work().join("to/link")).unwrap().to_str(), Some("deep/run.sh"));
    assert_eq!(env.run(&["to/link"]).stdout, "copied\n");
}
