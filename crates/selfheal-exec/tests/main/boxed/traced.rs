//! Probes, in real boxes with the real interpreters.

use selfheal_core::ports::BoxOrder;
use selfheal_core::trace::Trace;

use super::{Place, can_try, said};

const BACKUP: &str = r#"#!/bin/bash
set -euo pipefail
SRC="$1"
dest="out dir"
mkdir -p "$dest"
copy() {
  local f=$1
  cp "$f" "$dest/$(basename "$f").bak"
}
for f in "$SRC"/*.log; do
  copy "$f"
done
echo done
"#;

pub(super) fn traced(place: &Place, name: &str, argv: &[&str]) -> BoxOrder {
    BoxOrder { traced: true, script: Some(place.work.join(name)), ..place.order(argv) }
}

/// Runs traced and untraced, and checks that both end and speak alike.
pub(super) fn alike(place: &Place, order: &BoxOrder) -> Trace {
    let run = place.run(order);
    let bare = place.run(&BoxOrder { traced: false, ..order.clone() });
    assert_eq!(said(&run), said(&bare));
    run.trace.unwrap()
}

#[test]
fn bash_shows_the_words_and_values_of_what_failed() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let script = place.write("backup.sh", BACKUP);
    std::fs::create_dir(place.work.join("logs")).unwrap();
    let trace = alike(&place, &traced(&place, "backup.sh", &["bash", "backup.sh", "logs"]));
    let step = trace.failing_step().unwrap();
    assert_eq!(step.words, ["cp", "logs/*.log", "out dir/*.log.bak"]);
    assert_eq!((&step.file, step.line, step.status), (&script, 8, Some(1)));
    assert_eq!(trace.value("f"), Some("logs/*.log"));
    assert_eq!(trace.value("dest"), Some("out dir"));
    let frames: Vec<_> = trace.frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
    assert_eq!(frames, [("main", 11), ("copy", 8)]);
    assert!(trace.complete);
    assert!([2, 3, 4, 5, 7, 8, 10, 11].iter().all(|line| trace.ran(&script, *line)), "{:?}", trace.lines);
    assert!(!trace.ran(&script, 13));
}

/// A traced bash script that ends as it does untraced.
fn bash(text: &str) -> (std::path::PathBuf, Trace) {
    let place = Place::new();
    let script = place.write("job.sh", text);
    let trace = if can_try(&place) {
        alike(&place, &traced(&place, "job.sh", &["bash", "job.sh", "a b"]))
    } else {
        Trace::default()
    };
    (script, trace)
}

pub(super) fn failing(trace: &Trace) -> (Vec<&str>, u32, Option<i32>) {
    let step = trace.failing_step().unwrap();
    (step.words.iter().map(String::as_str).collect(), step.line, step.status)
}

/// Whether the machine cannot run boxes: [`bash`] gave nothing then.
fn nothing(trace: &Trace) -> bool {
    *trace == Trace::default()
}

#[test]
fn bash_traps_of_the_script_still_run() {
    let (_, trace) = bash(
        "set -Eeuo pipefail\ntrap 'echo \"failed at $LINENO: $BASH_COMMAND\" >&2' ERR\n\
         trap 'echo bye $?' EXIT\nf() { local inner=\"x y\"; grep -q nothing /dev/null; }\necho start\nf\necho never\n",
    );
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["grep", "-q", "nothing", "/dev/null"], 4, Some(1)));
        assert_eq!(trace.value("inner"), Some("x y"));
    }
}

#[test]
fn bash_error_trap_is_not_inherited_by_functions() {
    let (_, trace) = bash("trap 'echo trapped' ERR\nf() { false; true; }\nf\nfalse\nexit 7\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["exit", "7"], 5, Some(7)));
    }
}

#[test]
fn bash_unset_variable_has_its_line_and_text() {
    let (script, trace) =
        bash("set -eu\ngreeting=hi\nf() {\n  echo \"$greeting\"\n  cp \"$NOWHERE/a\" b\n}\nf\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["cp", "$NOWHERE/a", "b"], 5, Some(1)));
        assert_eq!(trace.value("greeting"), Some("hi"));
        assert!(trace.ran(&script, 4) && trace.ran(&script, 7));
    }
}

#[test]
fn bash_substitution_and_pipeline_show_the_command_inside() {
    let (_, trace) = bash("set -e\nx=$(ls /nowhere/at/all)\necho $x\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["ls", "/nowhere/at/all"], 2, Some(2)));
    }
    let (_, trace) = bash("set -eo pipefail\ncat /nowhere/file | sort | wc -l\necho never\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["cat", "/nowhere/file"], 2, Some(1)));
    }
}

#[test]
fn bash_trace_survives_being_turned_off_and_on() {
    let (script, trace) = bash(
        "set +x\necho one\nset -e; set +o xtrace\nf() { echo \"two $1\"; }\nf \"$1\"\n(\n  echo three\n  cd /nowhere\n)\n",
    );
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["cd", "/nowhere"], 8, Some(1)));
        assert!([1, 2, 3, 4, 5, 7, 8].iter().all(|line| trace.ran(&script, *line)), "{:?}", trace.lines);
        assert!(
            trace.steps.iter().all(|step| !step.words.concat().contains("selfheal")),
            "{:?}",
            trace.steps
        );
    }
}

#[test]
fn bash_keeps_exit_codes_and_odd_values() {
    for (text, code) in [
        ("exit 0\n", 0),
        ("exit 42\n", 42),
        ("kill -9 $$\n", 137),
        ("exec false\n", 1),
        ("nosuchcommand\n", 127),
        ("if true; then\n", 2),
        ("set -e\ntrue && false || true\nfalse | true\necho ok\n", 0),
        ("a=('x y' $'\\t\\n' '')\nb=$'\\xff\\e'\nfalse\n", 1),
        ("IFS=:\nset -f\nfalse\n", 1),
    ] {
        let place = Place::new();
        place.write("job.sh", text);
        if can_try(&place) {
            let order = traced(&place, "job.sh", &["bash", "job.sh"]);
            let run = place.run(&order);
            let bare = place.run(&BoxOrder { traced: false, ..order });
            assert_eq!((said(&run), said(&run).0), (said(&bare), code), "{text}");
        }
    }
}

#[test]
fn bash_scripts_that_are_called_are_seen() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write("outer.sh", "set -e\ncd sub\nbash ./inner.sh 'p q'\n");
    std::fs::create_dir(place.work.join("sub")).unwrap();
    let inner = place.write("sub/inner.sh", "set -e\nname=$1\nrm \"$name\"\n");
    let trace = alike(&place, &traced(&place, "outer.sh", &["bash", "outer.sh"]));
    assert_eq!(failing(&trace), (vec!["rm", "p q"], 3, Some(1)));
    assert_eq!(trace.failing_step().unwrap().file, inner);
    assert_eq!(trace.value("name"), Some("p q"));
}

#[test]
fn files_are_named_without_links() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    std::fs::create_dir(place.work.join("real")).unwrap();
    let script = place.write("real/job.sh", "#!/bin/bash\nfalse\n");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("real/job.sh", place.work.join("link")).unwrap();
    let order = BoxOrder { script: Some(script.clone()), ..traced(&place, "", &["./link"]) };
    let trace = alike(&place, &order);
    assert!(trace.ran(&script, 2), "{:?}", trace.lines);
    assert_eq!(trace.failing_step().unwrap().file, script);
}

#[test]
fn wrappers_that_clean_the_environment_are_seen_through() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    place.write(
        "job.sh",
        "set -eu\nenv | sort | grep -vE 'BASH_ENV|PYTHONPATH|NODE_OPTIONS|PERL5|PWD|SHLVL|^_=' || true\nls \"$MISSING\"\n",
    );
    for argv in [
        &["env", "-i", "PATH=/usr/bin:/bin", "A=b", "bash", "job.sh"][..],
        &["nice", "env", "-i", "timeout", "60", "bash", "job.sh"],
        &["timeout", "60", "bash", "job.sh"],
    ] {
        let trace = alike(&place, &traced(&place, "job.sh", argv));
        assert_eq!(failing(&trace), (vec!["ls", "$MISSING"], 3, Some(1)), "{argv:?}");
    }
}

#[test]
fn bash_handlers_and_broken_text_are_told_apart_from_the_failure() {
    let (_, trace) = bash("set -e\ntrap 'tail -n 1 /etc/hostname >&2; : more' ERR\ncp /nowhere/a b\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["cp", "/nowhere/a", "b"], 3, Some(1)));
    }
    let (_, trace) = bash("set -e\necho one\nif true; then\n  echo two\n");
    if !nothing(&trace) {
        let (words, line, _) = failing(&trace);
        assert!(words.is_empty() && line >= 3, "{words:?} {line}");
    }
    let inner = "set -o pipefail\ncat /etc/hostname\nexit 9\n";
    let text =
        format!("cat > part <<'X'\n{inner}X\nset -eo pipefail\nbash part | sort | head -n 1\necho never\n");
    let (_, trace) = bash(&text);
    if !nothing(&trace) {
        assert_eq!(trace.failing_step().unwrap().words[0], "exit", "{:?}", trace.failing_step());
    }
}

#[test]
fn bash_loops_do_not_flood() {
    let (script, trace) = bash("for ((i = 0; i < 20000; i++)); do x=$i; done\nfalse\n");
    if !nothing(&trace) {
        assert_eq!(failing(&trace), (vec!["false"], 2, Some(1)));
        assert!(trace.steps.len() <= 10_001 && !trace.complete && trace.ran(&script, 2));
        assert_eq!(trace.value("x"), Some("19999"));
    }
}

pub(super) fn has(program: &str) -> bool {
    let found =
        std::process::Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        println!("skipped: there is no {program}");
    }
    found
}

const SALES: &str = "import subprocess\n\ndef total(row, key='total'):\n    copy = dict(row)\n    return copy[key]\n\n\
    def main():\n    subprocess.run(['true', 'a b'])\n    total({'Total': 3})\n\nmain()\n";

#[test]
fn python_shows_frames_with_values() {
    let place = Place::new();
    if !can_try(&place) || !has("python3") {
        return;
    }
    let script = place.write("sales.py", SALES);
    let trace = alike(&place, &traced(&place, "sales.py", &["python3", "sales.py"]));
    let frames: Vec<_> = trace.frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
    assert_eq!(frames, [("main", 11), ("main", 9), ("total", 5)]);
    assert_eq!(trace.value("copy"), Some("{'Total': 3}"));
    assert_eq!(failing(&trace), (vec!["return copy[key]"], 5, None));
    assert!(trace.steps.iter().any(|step| step.words == ["true", "a b"] && step.line == 8));
    assert!(trace.ran(&script, 5) && !trace.ran(&script, 6));
}

#[test]
fn python_exit_codes_and_existing_sitecustomize_are_kept() {
    let place = Place::new();
    if !can_try(&place) || !has("python3") {
        return;
    }
    std::fs::create_dir(place.work.join("site")).unwrap();
    place.write("site/sitecustomize.py", "import builtins\nbuiltins.greeting = 'hello'\n");
    place.write("job.py", "import os, sys\ndef leave():\n    code = 4\n    sys.exit(code)\nprint(greeting, sys.path[1])\nleave()\n");
    let mut order = traced(&place, "job.py", &["python3", "job.py"]);
    order.env.insert("PYTHONPATH".into(), place.work.join("site").into());
    let trace = alike(&place, &order);
    assert_eq!(failing(&trace), (vec!["sys.exit(code)"], 4, None));
    assert_eq!(trace.value("code"), Some("4"));
}

#[test]
fn python_text_that_does_not_parse_has_its_line() {
    let place = Place::new();
    if !can_try(&place) || !has("python3") {
        return;
    }
    place.write("job.py", "x = 1\nprint 'two'\n");
    let trace = alike(&place, &traced(&place, "job.py", &["python3", "job.py"]));
    assert_eq!(failing(&trace), (vec!["print 'two'"], 2, None));
}

#[test]
fn python_inside_bash_is_seen() {
    let place = Place::new();
    if !can_try(&place) || !has("python3") {
        return;
    }
    place.write("sales.py", SALES);
    place.write("job.sh", "set -e\nmode=daily\npython3 sales.py\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["bash", "job.sh"]));
    assert_eq!(failing(&trace), (vec!["python3", "sales.py"], 3, Some(1)));
    assert_eq!((trace.value("mode"), trace.value("row")), (Some("daily"), Some("{'Total': 3}")));
}

#[test]
fn node_shows_frames() {
    let place = Place::new();
    if !can_try(&place) || !has("node") {
        return;
    }
    let script = place.write("job.js", "function read(o) {\n  return o.items.length;\n}\nread({});\n");
    let trace = alike(&place, &traced(&place, "job.js", &["node", "job.js"]));
    let inner = trace.frames.last().unwrap();
    assert_eq!((&inner.file, inner.line, inner.function.as_str()), (&script, 2, "read"));
    assert_eq!(inner.source, "return o.items.length;");
    place.write("job.js", "function leave() {\n  process.exit(3);\n}\nleave();\n");
    let trace = alike(&place, &traced(&place, "job.js", &["node", "job.js"]));
    assert_eq!(failing(&trace), (vec!["process.exit(3);"], 2, None));
}

#[test]
fn dash_shows_the_commands() {
    let place = Place::new();
    if !can_try(&place) || !place.sh("readlink -f /bin/sh").run.stdout.text().contains("dash") {
        return;
    }
    place.write("job.sh", "set -e\nname=x\necho out\ncp \"$name\" y\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["sh", "job.sh"]));
    assert_eq!(failing(&trace), (vec!["cp", "x", "y"], 4, None));
    assert!(!trace.complete && trace.lines.is_empty());
}
