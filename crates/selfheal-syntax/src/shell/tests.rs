//! Tests of the whole way from text to [`Script`].

use super::*;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap()
}

fn named<'a>(script: &'a Script, name: &str) -> &'a Command {
    script.commands().iter().find(|command| command.is(name)).unwrap()
}

#[test]
fn commands_have_words_redirections_and_assignments() {
    let script = script("X=1 Y=\"a $b\" cmd \"$x\"/*.log >out 2>&1 <in\n>>log echo hi\n");
    let cmd = named(&script, "cmd");
    assert_eq!(cmd.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["cmd", "\"$x\"/*.log"]);
    assert_eq!(cmd.assignments.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["X", "Y"]);
    assert!(cmd.assignments.iter().all(|a| a.for_command));
    let redirects: Vec<_> = cmd
        .redirects
        .iter()
        .map(|r| (r.operator.as_str(), r.target.as_ref().unwrap().text.as_str()))
        .collect();
    assert_eq!(redirects, [(">", "out"), (">&", "1"), ("<", "in")]);
    assert_eq!(cmd.redirects[1].descriptor.as_deref(), Some("2"));
    assert_eq!(named(&script, "echo").redirects[0].operator, ">>");
    assert_eq!(script.slice(&cmd.words[1].span), "\"$x\"/*.log");
}

#[test]
fn contexts_say_who_consumes_a_status() {
    let script = script(
        "a\nif b; then c; fi\nd && e || f\n! g\nh | i\n(j)\nk &\nx=$(l)\nwhile m; do n; done\nfun() { o; }\n! p | q\n",
    );
    let consumers = |name: &str| named(&script, name).context.consumers.clone();
    assert!(named(&script, "a").context.failure_ends());
    assert_eq!(consumers("b"), [Consumer::If]);
    assert!(named(&script, "c").context.branch && consumers("c").is_empty());
    assert_eq!(consumers("d"), [Consumer::Or, Consumer::And]);
    assert_eq!(
        (consumers("e"), named(&script, "e").context.after),
        (vec![Consumer::Or], Some(ListOperator::And))
    );
    assert_eq!((consumers("f"), named(&script, "f").context.after), (vec![], Some(ListOperator::Or)));
    assert_eq!(consumers("g"), [Consumer::Not]);
    assert_eq!((consumers("h"), named(&script, "h").context.pipeline), (vec![Consumer::Pipe], Some((0, 2))));
    assert!(consumers("i").is_empty());
    assert!(named(&script, "j").context.subshell && named(&script, "k").context.background);
    assert!(named(&script, "l").context.substitution);
    assert_eq!(consumers("m"), [Consumer::While]);
    assert_eq!(named(&script, "n").context.loops, [3 - 3]);
    assert_eq!(named(&script, "o").context.function.as_deref(), Some("fun"));
    assert_eq!(consumers("q"), [Consumer::Not]);
}

#[test]
fn for_loops_know_their_lines_and_indentation() {
    let text = "set -e\n\tfor f in \"$SRC\"/*.log \"$x\"; do\n\t\tcp \"$f\" \"$DST/\"\n\t\tgzip \"$f\"\n\tdone\nfor g in a b; do x; done\nfor h; do y; done\n";
    let script = script(text);
    let loops: Vec<_> = script.for_loops().collect();
    let first = loops[0];
    assert_eq!(first.variable.as_deref(), Some("f"));
    assert_eq!(first.list.as_ref().unwrap().len(), 2);
    assert!(first.list.as_ref().unwrap()[0].has_glob());
    assert_eq!((first.line, first.do_line, first.done_line, first.body_lines), (2, 2, 5, Some((3, 4))));
    assert_eq!((first.indent.as_str(), first.body_indent.as_str(), first.one_line), ("\t", "\t\t", false));
    assert!(loops[1].one_line && loops[2].list.is_none());
    assert_eq!(script.slice(&loops[1].body), " x; ");
}

#[test]
fn assignments_options_and_traps() {
    let text = "#!/bin/bash -e\nset -uo pipefail\nx=\"a\"\nexport Y=1\nf() { local z=$(g) w; }\narr=(a \"b c\")\nset +e\ntrap 'rm -f \"$t\"' EXIT INT\nshopt -s nullglob\ny+=b\n";
    let script = script(text);
    let of = |name: &str| script.assignments().find(|a| a.name == name).unwrap();
    assert_eq!(of("x").value.as_ref().unwrap().literal().as_deref(), Some("a"));
    assert_eq!(of("Y").declared_by.as_deref(), Some("export"));
    assert_eq!((of("z").declared_by.as_deref(), of("z").function.as_deref()), (Some("local"), Some("f")));
    assert!(of("w").value.is_none() && of("y").append && of("z").conditional && !of("x").conditional);
    assert_eq!(of("arr").elements.as_ref().unwrap().len(), 2);
    let options: Vec<_> = script.set_options().iter().map(|o| (o.name.as_str(), o.on, o.line)).collect();
    assert_eq!(
        options,
        [
            ("errexit", true, 1),
            ("nounset", true, 2),
            ("pipefail", true, 2),
            ("errexit", false, 7),
            ("nullglob", true, 9)
        ]
    );
    assert!(script.option_at("errexit", 6) && !script.option_at("errexit", 8));
    let trap = &script.traps()[0];
    assert_eq!(
        (trap.action.as_deref(), trap.signals.as_slice()),
        (Some("rm -f \"$t\""), ["EXIT".to_owned(), "INT".to_owned()].as_slice())
    );
}

#[test]
fn heredocs_and_what_follows_them() {
    let script = script("cat <<'E' | sort\n$a\nE\npsql <<SQL || exit 1\nselect $(b);\nSQL\n");
    let docs = script.heredocs();
    assert_eq!((docs[0].quoted, docs[0].body.trim(), docs[0].delimiter.as_str()), (true, "$a", "E"));
    assert!(!docs[1].quoted);
    assert_eq!(named(&script, "cat").context.pipeline, Some((0, 2)));
    assert_eq!(named(&script, "sort").context.pipeline, Some((1, 2)));
    assert_eq!(named(&script, "psql").context.consumers, [Consumer::Or]);
    assert_eq!(named(&script, "exit").context.after, Some(ListOperator::Or));
    assert!(named(&script, "b").context.substitution);
}

#[test]
fn tests_and_arithmetic() {
    let script = script("[ -e \"$f\" ] || continue\n[[ -n $x && $y == a* ]]\n((n++))\ntest -d x\n");
    assert_eq!(script.tests().count(), 3);
    let first = script.tests().next().unwrap();
    assert_eq!(first.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["-e", "\"$f\""]);
    assert_eq!(script.arithmetic().next().unwrap().words[0].text, "n++");
}

#[test]
fn continuations_do_not_hide_commands_and_spans_are_the_originals() {
    let text = "r\\\nm -rf \\\n  \"$x\"\n";
    let script = script(text);
    let rm = named(&script, "rm");
    assert_eq!((rm.lines, script.slice(&rm.span)), ((1, 3), "r\\\nm -rf \\\n  \"$x\""));
    assert_eq!(script.slice(&rm.words[2].span), "\"$x\"");
}

#[test]
fn errors_are_seen_and_nothing_panics() {
    assert!(script("if true; then\n").has_error());
    assert!(!script("if true; then x; fi\n").has_error());
    for text in [
        "",
        "\u{0}",
        "((((",
        "{{{{",
        "<<<<<<",
        "$(((",
        "case",
        "for",
        "\"",
        "é & é",
        "cat <<A <<B\na\nA\nb\nB\nx",
    ] {
        let _ = Script::parse(text);
    }
    let deep = format!("{}x{}", "( ".repeat(5_000), " )".repeat(5_000));
    assert!(script(&deep).has_error());
}

#[test]
fn the_second_parser_has_its_own_mind() {
    assert_eq!(second_opinion("for f in a; do b; done\n", false), Second::Good);
    assert!(matches!(second_opinion("if x; then\n", false), Second::Bad { .. }));
    assert_eq!(second_opinion(&"<<a ".repeat(1_000), false), Second::NoOpinion);
    for deep in ["$(", "(", "{ ", "if x; then ", "! ", "${x:-", "[[ ( "] {
        assert_eq!(second_opinion(&deep.repeat(5_000), false), Second::NoOpinion, "{deep}");
    }
}

#[test]
fn the_second_parser_is_not_asked_what_it_would_read_again_and_again() {
    // Each of these doubles its work with every repetition; twenty would take minutes.
    for (form, behind) in
        [("((", ""), ("( ( a ", ""), ("for ((", ""), ("(( [ (", ""), ("case x in a) ", ""), ("((", ";")]
    {
        let text = format!("{}{behind}", form.repeat(25));
        assert_eq!(second_opinion(&text, false), Second::NoOpinion, "{text}");
    }
    for text in [
        "x=$(( (a + b) * (c + (d * 2)) ))\n",
        "((i++))\n(( (i) > 2 )) && echo x\n",
        "case a in\nb) case c in\nd) echo x;;\nesac;;\nesac\n",
        "( (cd a; (ls)) )\n",
    ] {
        assert_eq!(second_opinion(&text.repeat(50), false), Second::Good, "{text}");
    }
}

#[test]
fn a_text_that_was_just_parsed_is_given_again() {
    let text = "echo shared\n";
    let first = Script::shared(text).unwrap();
    assert!(std::rc::Rc::ptr_eq(&first, &Script::shared(text).unwrap()));
    for other in ["a\n", "b\n", "c\n", "d\n"] {
        assert_eq!(Script::shared(other).unwrap().text(), other);
    }
    let again = Script::shared(text).unwrap();
    assert!(!std::rc::Rc::ptr_eq(&first, &again), "only a few are kept");
    assert_eq!(again.commands().len(), 1);
}
