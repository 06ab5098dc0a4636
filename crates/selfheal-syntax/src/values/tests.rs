//! Tests of values on whole scripts.

use super::*;

fn no_env(_: &str) -> Option<String> {
    None
}

/// What the last argument of the command `use` is worth.
fn worth(text: &str) -> Resolved {
    let script = Script::parse(text).unwrap();
    let command = script.commands().iter().find(|command| command.is("use")).unwrap();
    let env = |name: &str| (name == "HOME").then(|| "/home/u".to_owned());
    let values = Values::of(&script, &env).with_script_path("/opt/job/run.sh");
    values.resolve(command.words.last().unwrap(), command.lines.0)
}

fn known(text: &str) -> Option<String> {
    worth(text).known()
}

#[test]
fn follows_assignments_defaults_and_operators() {
    for (text, value) in [
        ("x=/a; y=\"$x/b\"; use \"$y/c\"", "/a/b/c"),
        ("use \"${X:-/d}/e\"", "/d/e"),
        ("x=\"${x:-/d}\"\nuse $x", "/d"),
        ("use \"${HOME:-/x}/y\"", "/home/u/y"),
        ("use ~/y", "/home/u/y"),
        ("use \"$(dirname \"$0\")/lib\"", "/opt/job/lib"),
        ("D=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\nuse $D", "/opt/job"),
        ("f=/a/b.log; use \"$(basename \"$f\" .log)\"", "b"),
        ("f=/a/b.log; use \"${f##*/}\"", "b.log"),
        ("f=/a/b.log; use \"${f%.*}.gz\"", "/a/b.gz"),
        ("x=ab; x+=cd; use $x", "abcd"),
        ("a=(x \"y z\"); use \"${a[1]}\"", "y z"),
        ("a=(x y); use \"${a[@]}\"", "x y"),
        ("a[0]=x; a[1]=y; use \"${a[@]}\"", "x y"),
        ("declare -A m=([k]=\"v w\" [l]=z); use \"${m[k]}\"", "v w"),
        ("declare -A m\nm[k]=v\nuse ${m[\"k\"]}", "v"),
        ("f() { use \"$1\"; }\nf /q", "/q"),
        ("g() { f \"$1\"; }\nf() { use \"$1\"; }\ng /q", "/q"),
        ("S=/s\nfor f in \"$S\"/*.log; do use \"$f\"; done", "/s/*.log"),
        ("unset D; use \"$D/bin\"", "/bin"),
        ("read -r c <<< 'a b'; use $c", "a b"),
        ("v=X; X=1; use ${!v}", "1"),
        ("declare -n r=q; q=2; use $r", "2"),
        ("set -- a b; use \"$2\"", "b"),
        ("x=abc; use ${x:1:1}${x:0:1}", "ba"),
    ] {
        assert_eq!(known(text).as_deref(), Some(value), "{text}");
    }
}

#[test]
fn what_depends_on_the_run_is_not_known() {
    assert_eq!(worth("use \"/a/$(date)\""), Resolved::Prefix("/a/".to_owned()));
    assert_eq!(worth("use \"$X\""), Resolved::Unknown);
    assert_eq!(worth("x=1; if y; then x=2; fi; use $x"), Resolved::Unknown);
    assert_eq!(worth("while read -r x; do use \"$x\"; done"), Resolved::Unknown);
    assert_eq!(worth("for d in /a /b; do use $d; done"), Resolved::Unknown);
}

#[test]
fn alternatives_are_all_there() {
    let script = Script::parse("for d in /a /b; do use \"$d/x\"; done").unwrap();
    let values = Values::of(&script, &no_env);
    let command = script.commands().iter().find(|command| command.is("use")).unwrap();
    let all: Vec<_> = values.alternatives(&command.words[1], 1).iter().filter_map(Value::known).collect();
    assert_eq!(all, ["/a/x", "/b/x"]);
}

#[test]
fn in_any_environment_a_default_is_only_one_possibility() {
    let script = Script::parse("use \"${X:-/d}\" \"${Y:?}\"").unwrap();
    let values = Values::in_any_environment(&script);
    let use_it = &script.commands()[0];
    assert_eq!(values.alternatives(&use_it.words[1], 1).len(), 2);
    let y = values.alternatives(&use_it.words[2], 1);
    assert!(matches!(y[0].pieces.first(), Some(Piece::Unknown(unknown)) if unknown.nonempty));
}

#[test]
fn loops_of_definitions_and_bombs_end() {
    assert_eq!(worth("x=$y; y=$x; x=$y; use $x"), Resolved::Unknown);
    let mut text = String::from("a0=x\n");
    for n in 1..60 {
        text.push_str(&format!("a{n}=\"$a{}$a{}\"\n", n - 1, n - 1));
    }
    text.push_str("use $a59\n");
    let _ = worth(&text);
    assert!(operators::matches("*a*a*a*b", "aaaaaaaaaaaaaaaab"));
    assert!(!operators::matches("*.log", "a.txt"));
}

#[test]
fn arrays_that_grow_are_followed() {
    let script =
        Script::parse("cmd=(sudo systemctl)\ncmd+=(disable --now)\ncmd+=(sshd)\n\"${cmd[@]}\"\n").unwrap();
    let values = Values::in_any_environment(&script);
    let word = script.commands().last().unwrap().words.first().unwrap();
    let all: Vec<Option<String>> = values.alternatives(word, 4).iter().map(|value| value.known()).collect();
    assert_eq!(all, [Some("sudo systemctl disable --now sshd".to_owned())]);
}
