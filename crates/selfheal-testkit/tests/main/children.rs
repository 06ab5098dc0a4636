//! The misbehaving children.

use selfheal_testkit::{Child, TestEnv};

#[test]
fn each_child_misbehaves_as_it_says() {
    let env = TestEnv::new("/bin/sh");
    let run = |child: Child| env.run(&[child.write(&env.work()).to_str().unwrap()]);
    assert_eq!(run(Child::KillsItself).code, 137);
    assert_eq!(run(Child::Crashes).code, 139);
    assert_eq!(run(Child::FailsSilently).code, 3);
    assert_eq!(run(Child::ClosesOutput).code, 4);
    assert_eq!(run(Child::LongLine).stdout.len(), 1_000_001);
    assert!(run(Child::Binary).stdout.contains('\u{fffd}'));
    assert_eq!(run(Child::Mixed).stderr, "err 1\nerr 2\nerr 3\n");
    assert_eq!(run(Child::ReadsInput).stdout.trim(), "0");
    assert!(run(Child::Escapes).stderr.contains("\u{202e}evil\r"));
    for leaver in [Child::LeavesOneBehind, Child::LeavesADaemon] {
        let left = run(leaver);
        assert_eq!(left.code, 0);
        assert!(env.run(&["-c", &format!("kill {}", left.stdout.trim())]).code == 0, "{leaver:?}");
    }
}

#[test]
fn all_of_them_parse() {
    let env = TestEnv::new("/bin/sh");
    for child in Child::ALL {
        let outcome = env.run(&["-n", child.write(&env.work()).to_str().unwrap()]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{child:?}");
    }
}
