//! The first rule set, each kind end to end: the job fails, is healed, and does its work.

use std::os::unix::fs::PermissionsExt;

use crate::support::{document, env};

/// Lays files out, runs the job with repairs of medium risk allowed, and returns the environment when it was healed.
fn healed(files: &[(&str, &str)], command: &[&str]) -> selfheal_testkit::TestEnv {
    let env = env();
    for (name, text) in files {
        env.write(name, text);
    }
    let mut args = vec!["--apply", "medium", "--stdout", "final", "--"];
    args.extend_from_slice(command);
    let (outcome, document) = document(&env, &args);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    env
}

#[test]
fn bash_syntax_run_by_sh() {
    healed(
        &[(
            "list.sh",
            "#!/bin/bash\nnames=(one two)\nfor n in \"${names[@]}\"; do\n  echo \"$n\"\ndone > names.txt\n",
        )],
        &["sh", "list.sh"],
    );
}

#[test]
fn line_ends_of_another_system() {
    healed(
        &[("job.sh", "#!/bin/bash\r\nset -eu\r\nmkdir -p out\r\necho x > out/a\r\n")],
        &["bash", "job.sh"],
    );
}

#[test]
fn a_step_without_its_execute_bit() {
    let env = healed(
        &[("job.sh", "#!/bin/bash\nset -eu\n./step.sh\n"), ("step.sh", "#!/bin/bash\necho done > result\n")],
        &["bash", "job.sh"],
    );
    assert_ne!(std::fs::metadata(env.work().join("step.sh")).unwrap().permissions().mode() & 0o100, 0);
}

#[test]
fn a_missing_folder() {
    let env = healed(&[("job.sh", "#!/bin/bash\nset -eu\ndate > reports/today.txt\n")], &["bash", "job.sh"]);
    assert!(env.work().join("reports/today.txt").exists());
}

#[test]
fn a_variable_with_an_evident_default() {
    let env = env();
    env.write("job.sh", "#!/bin/bash\nset -eu\necho \"by $USER\" > who.txt\n");
    let (outcome, document) =
        document(&env, &["--apply", "low", "--", "env", "-i", "PATH=/usr/bin:/bin", "bash", "job.sh"]);
    assert_eq!(document["status"], "healed", "{outcome:?}\n{document:#}");
    assert!(env.read("who.txt").len() > "by \n".len());
}

#[test]
fn a_module_that_left_the_standard_library() {
    healed(
        &[("job.py", "from collections import Mapping\nprint(isinstance({}, Mapping))\n")],
        &["python3", "job.py"],
    );
}

#[test]
fn a_key_whose_other_spelling_is_in_the_data() {
    healed(
        &[
            (
                "job.py",
                "import json\nwith open('orders.json') as f:\n    for order in json.load(f):\n        print(order['orderId'])\n",
            ),
            ("orders.json", "[{\"order_id\": 7}, {\"order_id\": 8}]\n"),
        ],
        &["python3", "job.py"],
    );
}

#[test]
fn a_change_of_directory_that_fails_unnoticed() {
    // Without strict mode the job goes on in the wrong folder and fails later.
    let env = env();
    env.write("job.sh", "#!/bin/bash\ncd work/today\necho x > list.txt\nls list.txt other.txt > /dev/null\n");
    let (outcome, document) = document(&env, &["--apply", "medium", "--", "bash", "job.sh"]);
    assert_ne!(outcome.code, 0, "the folder is missing, so the job must go on to fail: {document:#}");
}

#[test]
fn a_smaller_alternative_that_does_less_does_not_win() {
    // The empty folder is what fails; a missing destination is seen only in a scenario of the larger repair.
    let env = env();
    env.write(
        "backup-logs.sh",
        "#!/bin/bash\nset -euo pipefail\nLOG_SRC=${LOG_SRC:-logs}\nBACKUP_DIR=${BACKUP_DIR:-backup}\ncopied=0\nfor f in \"$LOG_SRC\"/*.log; do\n  cp -p \"$f\" \"$BACKUP_DIR/$(basename \"$f\").old\"\n  copied=$((copied + 1))\ndone\necho \"copied $copied\"\n",
    );
    std::fs::create_dir(env.work().join("logs")).unwrap();
    std::fs::create_dir(env.work().join("backup")).unwrap();
    let healed = env.run(&["run", "--apply", "medium", "--", "bash", "backup-logs.sh"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    std::fs::remove_dir(env.work().join("backup")).unwrap();
    env.write("logs/a.log", "a\n");
    let again = env.run(&["run", "--", "bash", "backup-logs.sh"]);
    assert_eq!(again.code, 0, "{again:?}\n{}", env.read("backup-logs.sh"));
}

#[test]
fn two_repairs_as_small_that_do_different_things_are_for_a_person() {
    let env = env();
    env.write("job.sh", "#!/bin/bash\nset -eu\nlabel > out.txt\n");
    for (folder, text) in [("tools-a", "one"), ("tools-b", "two")] {
        env.script(&format!("{folder}/label"), &format!("#!/bin/sh\necho {text}\n"));
    }
    let before = env.read("job.sh");
    let (outcome, held) = document(&env, &["--apply", "medium", "--", "bash", "job.sh"]);
    assert_eq!(held["status"], "held", "{held:#}\n{outcome:?}");
    assert!(held["holds"].as_array().unwrap().iter().any(|hold| hold == "tie"), "{held:#}");
    assert_eq!(env.read("job.sh"), before);

    // As small and the same effects: nothing to decide.
    env.script("tools-b/label", "#!/bin/sh\necho one\n");
    env.write("other.sh", &before);
    let (_, healed) = document(&env, &["--apply", "medium", "--stdout", "final", "--", "bash", "other.sh"]);
    assert_eq!(healed["status"], "healed", "{healed:#}");
    assert_eq!(env.run(&["run", "--", "bash", "other.sh"]).code, 0);
    assert_eq!(env.read("out.txt"), "one\n");
}
