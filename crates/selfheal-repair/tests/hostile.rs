//! Whatever a job is made of and says, rules come to an end and do not panic.

use std::ffi::OsString;
use std::path::PathBuf;

use proptest::prelude::*;
use selfheal_core::fault::Fault;
use selfheal_core::ids::JobKey;
use selfheal_core::job::{Job, Repeatable};
use selfheal_repair::{Case, Options, ScriptFile, candidates, combine};

use crate::machine::{Files, report};

/// Pieces that scripts are made of, broken ones among them.
const PIECES: &[&str] = &[
    "for f in ",
    "\"$A\"/*.log",
    "; do\n",
    "done",
    "\n",
    "while read -r x",
    " | ",
    "cp \"$f\" \"$B/\"",
    "if [ ",
    " ]; then\n",
    "fi\n",
    "$(",
    ")",
    "\"",
    "'",
    "`",
    "((n++))",
    "${A%/*}",
    "cat <<EOF\n",
    "EOF",
    "é",
    "\t",
    "case x in\n",
    "a) ",
    ";;",
    "esac",
    "f() {",
    "}",
    "&&",
    "||",
    "set -euo pipefail\n",
    "print x, y\n",
    "def f(a={}):\n  a[1] = 2\n",
    "import time\n",
    "time.clock()",
    "except A, e:\n",
    "d.has_key(",
    "open('x', 'w')",
    "x['aB']",
    "((",
    "))",
    "[[",
    "\\",
    "#",
    "08",
    "sed -i '' ",
    "date -v-1d ",
    "rm -rf $X/",
    "\r\n",
    "<",
    ">",
    "🙂",
    "=",
    "(",
    "const a = require('b')\n",
    "use Foo;\n",
    "do 'x.pl'",
    "all: x\n  y\n",
    "sort(cmp=",
    "lambda a, b: ",
    ".sort(",
    "let x=",
    "expr 1 + ",
];

fn faults() -> impl Strategy<Value = Fault> {
    let word = "[a-zA-Z_/*.$é'\" -]{0,12}";
    let name = word.prop_map(String::from);
    prop_oneof![
        name.clone().prop_map(|path| Fault::NoSuchPath { path: path.into() }),
        name.clone().prop_map(|pattern| Fault::UnmatchedGlob { pattern }),
        name.clone().prop_map(|name| Fault::CommandNotFound { name }),
        name.clone().prop_map(|name| Fault::UnsetVariable { name }),
        name.clone().prop_map(|key| Fault::KeyMissing { key }),
        name.clone().prop_map(|message| Fault::Syntax { near: None, message }),
        name.clone().prop_map(|name| Fault::MissingName { owner: "time".into(), name }),
        name.clone().prop_map(|name| Fault::MissingModule { name }),
        name.clone().prop_map(|construct| Fault::Dialect { construct }),
        name.clone().prop_map(|message| Fault::Other { message }),
        name.clone().prop_map(|codec| Fault::Encoding { codec }),
        name.clone().prop_map(|option| Fault::UnknownOption { command: "date".into(), option }),
        name.prop_map(|name| Fault::NoSuchReference { name }),
        Just(Fault::BadValue { value: Some("08".into()), message: "12,5".into() }),
        Just(Fault::WrongType { message: "bytes naive hashing before hashing".into() }),
        Just(Fault::NotSorted { path: None }),
        Just(Fault::SilentExit { code: 1 }),
        Just(Fault::SilentExit { code: 141 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_script_and_any_fault(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        fault in faults(),
        line in 0_u32..12,
        name in prop::sample::select(&["x.sh", "x.py", "x.js", "x.pl", "Makefile", "x.conf"][..]),
    ) {
        let folder = PathBuf::from("/nonexistent/job/folder");
        let path = folder.join(name);
        let file = ScriptFile::new(path.clone(), pieces.concat(), 0o644);
        let argv = vec![OsString::from("sh"), OsString::from(name)];
        let job = Job { key: JobKey::new("t"), argv: argv.clone(), cwd: folder.clone(), script: Some(path.clone()), repeatable: Repeatable::Unstated };
        let report = report(fault, path, line);
        let scene = Files(folder);
        let case = Case { job: &job, argv: &argv, report: &report, script: Some(&file), trace: None, scene: &scene };
        let found = candidates(&case, &Options { preview: true, ..Options::default() });
        prop_assert!(found.len() <= 8);
        for candidate in &found {
            prop_assert!(!candidate.proposal.changes.is_empty());
            prop_assert!(!candidate.proposal.summary.is_empty());
            prop_assert_eq!(&combine(&candidate.proposal, &candidate.proposal).changes, &candidate.proposal.changes);
        }
    }
}
