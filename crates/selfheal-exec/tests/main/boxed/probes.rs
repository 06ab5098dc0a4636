//! Probes of further languages and of jobs that stand in their way, in real boxes with the real interpreters.

use selfheal_core::trace::Trace;

use super::traced::{alike, failing, has, traced};
use super::{Place, can_try, said};

/// A job of its own folder, traced; it must end and speak as it does untraced. `None` where nothing can be tried.
fn job(program: &str, name: &str, text: &str, argv: &[&str]) -> Option<(std::path::PathBuf, Trace)> {
    let place = Place::new();
    if !can_try(&place) || !has(program) {
        return None;
    }
    let script = place.write(name, text);
    Some((script, alike(&place, &traced(&place, name, argv))))
}

const COPY: &str = "#!/usr/bin/perl\nuse strict;\nuse warnings FATAL => 'all';\nmy %conf = (dest => '/none/where');\n\
    sub copy {\n  my ($from, $to) = @_;\n  my @parts = (1, 'b c');\n  open(my $in, '<', \"$from/x\") or die \"cannot open $from/x: $!\\n\";\n  \
    return 1;\n}\neval { die \"caught\\n\" };\ncopy($conf{dest}, 'to');\nprint \"never\\n\";\n";

#[test]
fn perl_shows_frames_with_values_and_lines() {
    let Some((script, trace)) = job("perl", "copy.pl", COPY, &["perl", "copy.pl"]) else { return };
    let frames: Vec<_> = trace.frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
    assert_eq!(frames, [("main", 12), ("copy", 8)]);
    for (name, value) in
        [("from", "/none/where"), ("to", "to"), ("@parts", "(1, b c)"), ("%conf", "(dest => /none/where)")]
    {
        assert_eq!(trace.value(name), Some(value), "{:?}", trace.frames);
    }
    assert_eq!((trace.failing_step().unwrap().line, &trace.failing_step().unwrap().file), (8, &script));
    assert!([4, 6, 7, 8, 11, 12].iter().all(|line| trace.ran(&script, *line)) && !trace.ran(&script, 13));
    assert!(!trace.ran(&script, 9) && trace.lines.len() == 1, "{:?}", trace.lines);
}

#[test]
fn perl_programs_keep_their_own_handlers_and_codes() {
    let own = "use strict;\nsub handler { print STDERR \"own: \", ref $_[0], \"\\n\"; exit 9 }\n$SIG{__DIE__} = 'handler';\n\
        my $x = sub { my $deep = 7; die { code => $deep } if $_[0] };\nprint 'calls ', scalar(@{[caller]}), \"\\n\";\n$x->(5);\n";
    if let Some((_, trace)) = job("perl", "own.pl", own, &["perl", "own.pl"]) {
        assert_eq!(trace.frames.last().map(|frame| frame.line), Some(4), "{:?}", trace.frames);
    }
    let local = "use strict; eval { local $SIG{__DIE__} = sub { print \"mine\\n\" }; die 1 }; print defined $SIG{__DIE__} ? 1 : 1;\n\
        sub leave { my $code = shift; exit $code }\nleave(4);\n";
    if let Some((_, trace)) = job("perl", "local.pl", local, &["perl", "local.pl"]) {
        assert_eq!((failing(&trace).1, trace.value("code")), (2, Some("4")));
    }
    if let Some((_, trace)) = job("perl", "bad.pl", "use strict;\nmy $x = ;\n", &["perl", "bad.pl"]) {
        assert_eq!(failing(&trace), (vec!["my $x = ;"], 2, None));
    }
    if let Some((script, trace)) =
        job("perl", "warm.pl", "my $n = 0;\n$n++ for 1 .. 3;\nexit 0;\n", &["perl", "-w", "warm.pl"])
    {
        assert!(trace.ran(&script, 2) && trace.failing.is_none());
    }
}

#[test]
fn perl_in_taint_mode_runs_as_ever() {
    let place = Place::new();
    if !can_try(&place) || !has("perl") {
        return;
    }
    place.write("taint.pl", "use strict;\nprint ${^TAINT}, \"\\n\";\ndie \"off\\n\";\n");
    let order = traced(&place, "taint.pl", &["perl", "-T", "taint.pl"]);
    let (with, without) =
        (place.run(&order), place.run(&selfheal_core::ports::BoxOrder { traced: false, ..order }));
    assert_eq!(said(&with), said(&without));
    assert_eq!(said(&with).1, "1\n");
}

#[test]
fn node_shows_lines_and_values() {
    let text = "function read(o, n) {\n  const list = [1, 2];\n  if (n > 5) {\n    console.log('never');\n  }\n  \
        return o.items.length;\n}\ntry { JSON.parse('{') } catch {}\nread({a: 1}, 3);\nconsole.log('never');\n";
    let Some((script, trace)) = job("node", "job.js", text, &["node", "job.js"]) else { return };
    assert_eq!(failing(&trace), (vec!["return o.items.length;"], 6, None));
    assert_eq!(
        (trace.value("n"), trace.value("list"), trace.value("o")),
        (Some("3"), Some("[1, 2]"), Some("{a: 1}"))
    );
    assert!([2, 3, 6, 8, 9].iter().all(|line| trace.ran(&script, *line)), "{:?}", trace.lines);
    assert!(!trace.ran(&script, 4) && !trace.ran(&script, 10), "{:?}", trace.lines);
}

#[test]
fn node_modules_that_wait_show_values_too() {
    let text = "import fs from 'fs';\nasync function go(x) {\n  await null;\n  const path = '/none/' + x;\n  \
        return fs.readFileSync(path);\n}\nawait go('where');\n";
    let place = Place::new();
    if !can_try(&place) || !has("node") {
        return;
    }
    let script = place.write("job.mjs", text);
    let order = traced(&place, "job.mjs", &["node", "job.mjs"]);
    let (with, without) =
        (place.run(&order), place.run(&selfheal_core::ports::BoxOrder { traced: false, ..order }));
    // Above the error node may name another place inside of itself.
    let from_error = |run: &selfheal_core::ports::BoxedRun| {
        let stderr = run.run.stderr.text();
        stderr.split_once("Error: ENOENT").map(|(_, rest)| rest.to_owned())
    };
    assert_eq!((said(&with).0, from_error(&with)), (said(&without).0, from_error(&without)));
    let trace = with.trace.unwrap();
    assert_eq!((failing(&trace).1, trace.value("path")), (5, Some("/none/where")), "{:?}", trace.frames);
    assert!(trace.ran(&script, 4));
}

#[test]
fn perl_and_awk_inside_bash_are_seen() {
    let place = Place::new();
    if !can_try(&place) || !has("perl") {
        return;
    }
    place.write("copy.pl", COPY);
    place.write("job.sh", "set -e\nmode=daily\nperl copy.pl\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["bash", "job.sh"]));
    assert_eq!(failing(&trace).0, ["perl", "copy.pl"]);
    assert_eq!((trace.value("mode"), trace.value("from")), (Some("daily"), Some("/none/where")));
    place.write("awk.sh", "set -e\nsep=,\nawk -F \"$sep\" '{ print $1 } END { exit 3 }' /none/table\n");
    let trace = alike(&place, &traced(&place, "awk.sh", &["bash", "awk.sh"]));
    let (words, line, _) = failing(&trace);
    assert_eq!(
        (words.first(), words.get(2), words.last(), line),
        (Some(&"awk"), Some(&","), Some(&"/none/table"), 3)
    );
    assert_eq!(trace.value("sep"), Some(","));
}

#[test]
fn scripts_without_a_file_are_seen() {
    let place = Place::new();
    if !can_try(&place) {
        return;
    }
    let line = "set -e; name='x y'; ls \"/none/$name\"";
    let trace = alike(&place, &traced(&place, "", &["bash", "-c", line]));
    assert_eq!((failing(&trace).0, trace.value("name")), (vec!["ls", "/none/x y"], Some("x y")));
    place.write("inner.sh", "set -e\nname=abc\nls \"/none/$name\"\n");
    place.write("job.sh", "set -e\nbash -s < inner.sh\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["bash", "job.sh"]));
    assert!(trace.steps.iter().any(|step| step.words == ["ls", "/none/abc"]), "{:?}", trace.steps);
    assert_eq!(failing(&trace).2, Some(2));
}

#[test]
fn dash_options_and_strings_are_seen() {
    let place = Place::new();
    if !can_try(&place) || !place.sh("readlink -f /bin/sh").run.stdout.text().contains("dash") {
        return;
    }
    place.write("job.sh", "name=x\necho out\nls \"/none/$name\"\necho never\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["sh", "-eu", "job.sh"]));
    assert_eq!(failing(&trace), (vec!["ls", "/none/x"], 3, None));
    let trace = alike(&place, &traced(&place, "", &["sh", "-e", "-c", "n=1; ls /none/$n; echo never"]));
    assert_eq!(failing(&trace).0, ["ls", "/none/1"]);
}

#[test]
fn make_shows_the_command_of_the_recipe_that_failed() {
    let place = Place::new();
    if !can_try(&place) || !has("make") {
        return;
    }
    let makefile = place.write("Makefile", "DEST = /none/where\nNAME = a b\nall: one\n\techo two\none:\n\t@echo 'one'\n\tls \"$(DEST)/$(NAME)\"\n");
    let trace = alike(&place, &traced(&place, "Makefile", &["make"]));
    let step = trace.failing_step().unwrap();
    assert_eq!((&step.file, step.line, step.status), (&makefile, 7, Some(2)));
    assert_eq!(step.words, ["ls", "/none/where/a b"]);
    place.write("job.sh", "set -e\nmake -s -f Makefile\n");
    let trace = alike(&place, &traced(&place, "job.sh", &["bash", "job.sh"]));
    assert_eq!(failing(&trace).0, ["make", "-s", "-f", "Makefile"]);
    assert!(trace.steps.iter().any(|step| step.words == ["ls", "/none/where/a b"]), "{:?}", trace.steps);
}

/// What a traced bash script shows that may speak another way: only its code must be that of the untraced run.
fn stubborn(text: &str) -> Option<Trace> {
    let place = Place::new();
    if !can_try(&place) {
        return None;
    }
    place.write("job.sh", text);
    let order = traced(&place, "job.sh", &["bash", "job.sh"]);
    let (with, without) =
        (place.run(&order), place.run(&selfheal_core::ports::BoxOrder { traced: false, ..order }));
    assert_eq!((said(&with).0, said(&with).1), (said(&without).0, said(&without).1), "{text}");
    with.trace
}

#[test]
fn bash_jobs_in_the_way_of_the_trace_are_followed_or_let_go() {
    // Each ends with `ls /none/last`: it must be what failed, or nothing is said to have.
    for (text, followed) in [
        (
            "set -e\nprintf '\\036T\\037B\\0370\\0371\\n' >&2\nprintf '\\036x\\037B\\0371\\037%s\\n' $$ 2>/dev/null >&198 || true\nls /none/last\n",
            true,
        ),
        ("set -e\nunset BASH_ENV\nls /none/last\n", true),
        ("set -e\nPS4='+ '\nset -x\nls /none/last\n", true),
        ("set -e\nPS4='$(echo own) '\ntrue\nls /none/last\n", true),
        ("set -e\nexec 198>&-\nfalse || true\nls /none/last\n", false),
        ("exec ls /none/last\n", true),
        ("set -e\ntrap 'echo err >&2' ERR\ntrap ':' DEBUG\nls /none/last\n", true),
        ("set -e\nBASH_XTRACEFD=2\ntrue\nls /none/last\n", false),
    ] {
        let Some(trace) = stubborn(text) else { continue };
        let step = trace.failing_step();
        let words =
            step.map(|step| step.words.iter().filter(|word| *word != "exec").cloned().collect::<Vec<_>>());
        let right = words.as_deref() == Some(&["ls".to_owned(), "/none/last".to_owned()]);
        assert!(right || !followed && step.is_none(), "{text}: {words:?} of {:?}", trace.steps);
    }
}

#[test]
fn a_hundred_thousand_steps_are_bounded() {
    let text = "import sys\nn = 0\nfor i in range(100000):\n    n += i\nsys.exit(3)\n";
    if let Some((script, trace)) = job("python3", "long.py", text, &["python3", "long.py"]) {
        assert!(trace.ran(&script, 4) && trace.steps.len() <= 10_001);
        assert_eq!(trace.value("i"), Some("99999"));
    }
    let text = "my $n = 0;\nfor my $i (1 .. 100000) {\n  $n += $i;\n}\ndie \"n is $n\\n\";\n";
    if let Some((script, trace)) = job("perl", "long.pl", text, &["perl", "long.pl"]) {
        assert!(trace.ran(&script, 3));
        assert_eq!((trace.value("n"), failing(&trace).1), (Some("5000050000"), 5));
    }
    let text = "let n = 0;\nfor (let i = 0; i < 100000; i++) {\n  try { if (i % 2) throw i; } catch { n++; }\n}\nthrow new Error('n');\n";
    if let Some((script, trace)) = job("node", "long.js", text, &["node", "long.js"]) {
        assert!(trace.ran(&script, 3));
        assert_eq!(failing(&trace).1, 5);
    }
}
