//! Other repairs of shell scripts, run for real.

use selfheal_core::fault::Fault;

use crate::machine::TestJob;

fn heals(text: &str, argv: &[&str], line: u32, fault: Fault) -> TestJob {
    let job = TestJob::new("job.sh", text, argv);
    job.write("list", "a;1\nb;2");
    job.heal("job.sh", line, fault);
    let (code, output) = job.run();
    assert_eq!(code, 0, "{}\n{output}", std::fs::read_to_string(job.path("job.sh")).unwrap());
    job
}

#[test]
fn bash_syntax_under_sh() {
    let text = "#!/bin/bash\nwords=(a b)\n[[ ${#words[@]} -eq 2 ]] && echo \"$1\" > result\n";
    let fault = Fault::Dialect { construct: "(".to_owned() };
    let job = heals(text, &["sh", "job.sh", "x y"], 2, fault);
    assert_eq!(std::fs::read_to_string(job.path("result")).unwrap(), "x y\n");
}

#[test]
fn counters_and_counts() {
    let text = "set -e\nn=0\n((n++))\necho $n > result\n";
    heals(text, &["bash", "job.sh"], 3, Fault::SilentExit { code: 1 });
    let text = "set -e\nn=$(grep -c zzz list)\necho $n > result\n";
    let job = heals(text, &["bash", "job.sh"], 2, Fault::SilentExit { code: 1 });
    assert_eq!(std::fs::read_to_string(job.path("result")).unwrap(), "0\n");
    job.remove("list");
    assert_ne!(job.run().0, 0, "a missing file still fails");
}

#[test]
fn sums_of_a_read_loop() {
    let text = "s=0\ncat list | while IFS=';' read -r k v; do\n  s=$((s + v))\ndone\n[ $s -eq 3 ]\n";
    heals(text, &["bash", "job.sh"], 5, Fault::SilentExit { code: 1 });
}

#[test]
fn a_variable_that_schedulers_do_not_set() {
    let text = "set -u\nunset TMPDIR\necho x > result\n".replace("unset TMPDIR\n", "");
    let text = format!("{text}[ -d \"$TMPDIR\" ]\n");
    let job = TestJob::new("job.sh", &text, &["env", "-u", "TMPDIR", "bash", "job.sh"]);
    assert_ne!(job.run().0, 0);
    job.heal("job.sh", 3, Fault::UnsetVariable { name: "TMPDIR".to_owned() });
    assert_eq!(job.run().0, 0);
}
