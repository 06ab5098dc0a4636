//! kill -9 at any point leaves the old file or the new one, and a way on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{BACKUP, backup_env};

/// Kills while healing, at moments spread over the whole way; the program is started anew each time.
#[test]
fn killed_at_any_moment_the_script_is_old_or_new_and_the_record_whole() {
    let healed = {
        let env = backup_env();
        let began = Instant::now();
        assert_eq!(env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]).code, 0);
        (env.read("backup.sh"), began.elapsed())
    };
    for part in 0..24_u32 {
        let env = backup_env();
        let mut child = env
            .command(&["run", "--apply", "low", "--", "bash", "backup.sh"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moment = Instant::now() + healed.1 * part / 24;
        while Instant::now() < moment && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().ok();
        child.wait().unwrap();
        let script = env.read("backup.sh");
        assert!(script == BACKUP || script == healed.0, "killed at {part}/24: {script}");
        let tick = env.run(&["tick"]);
        assert_eq!(tick.code, 0, "killed at {part}/24: {tick:?}");
        let audit = env.run(&["audit", "verify"]);
        assert_eq!(audit.code, 0, "killed at {part}/24: {audit:?}");
        let script = env.read("backup.sh");
        assert!(script == BACKUP || script == healed.0, "after recovery at {part}/24: {script}");
        if script == BACKUP {
            // A way on: the next run heals it.
            let again = env.run(&["run", "--apply", "low", "--", "bash", "backup.sh"]);
            assert_eq!(again.code, 0, "killed at {part}/24: {again:?}");
        }
    }
}
