//! The script behind a command.

use std::ffi::{OsStr, OsString};
use std::fs;

use selfheal_exec::resolve_script;

use crate::common::folder;
use crate::scene::tool;

#[test]
fn the_script_is_found_behind_interpreters_and_wrappers() {
    let (_keep, cwd) = folder();
    for name in
        ["job.sh", "job.py", "job.pl", "prog.awk", "Makefile", "other.mk", "jobs/daily.py", "pkg/__main__.py"]
    {
        fs::create_dir_all(cwd.join(name).parent().unwrap()).unwrap();
        fs::write(cwd.join(name), "x = 1\n").unwrap();
    }
    tool(cwd.join("run"));
    tool(cwd.join("path/command"));
    fs::write(cwd.join("no-mode.sh"), "echo\n").unwrap();
    fs::create_dir(cwd.join("sub")).unwrap();
    fs::write(cwd.join("sub/makefile"), "all:\n").unwrap();
    fs::write(tool(cwd.join("program")), b"\x7fELF\x02\0\0").unwrap();
    let search = cwd.join("path").into_os_string();
    let script = |line: &str| {
        // What stands behind `|` is one word.
        let (words, last) = line.split_once('|').map_or((line, None), |(words, last)| (words, Some(last)));
        let argv: Vec<OsString> = words.split_whitespace().chain(last).map(OsString::from).collect();
        let found = resolve_script(&argv, &cwd, Some(OsStr::new(&search)))?;
        Some(found.strip_prefix(&cwd).unwrap().to_str().unwrap().to_owned())
    };
    for (line, expected) in [
        ("bash job.sh", Some("job.sh")),
        ("bash -e -o pipefail ./sub/../job.sh x", Some("job.sh")),
        ("/bin/sh -eu -- job.sh", Some("job.sh")),
        ("timeout -k 1 5 nice bash job.sh", Some("job.sh")),
        ("env -i A=1 python3.11 -u -W ignore job.py --flag", Some("job.py")),
        ("python3 -m jobs.daily x", Some("jobs/daily.py")),
        ("python3 -m pkg", Some("pkg/__main__.py")),
        ("python3 -m json.tool x", None),
        ("python3 -c pass job.py", None),
        ("perl -w -I lib job.pl", Some("job.pl")),
        ("awk -F : -f prog.awk data", Some("prog.awk")),
        ("gawk --file=prog.awk data", Some("prog.awk")),
        ("awk {print} data", None),
        ("make -s all", Some("Makefile")),
        ("make -f other.mk", Some("other.mk")),
        ("make -C sub", Some("sub/makefile")),
        ("./run x", Some("run")),
        ("./no-mode.sh", Some("no-mode.sh")),
        ("command x", Some("path/command")),
        ("flock -n lock ./run", Some("run")),
        ("flock lock -c |./run x", Some("run")),
        ("sh -c |bash ./job.sh today", Some("job.sh")),
        ("bash -ec |exec ./run", Some("run")),
        ("sh -c |cd sub/.. && ./run >> log 2>&1", Some("run")),
        ("sh -c |cd sub && ../run today > /dev/null 2>errors < in", Some("run")),
        ("sh -c |cd / && ./run", None),
        ("sh -c |./run; true", None),
        ("sh -c |./run | tail", None),
        ("sh -c |test -f x && ./run", None),
        ("sh -c |cd \"$HOME\" && ./run", None),
        ("sh -c |", None),
        ("./program", None),
        ("./nothing", None),
        ("bash nothing.sh", Some("nothing.sh")),
        ("bash", None),
        ("", None),
    ] {
        assert_eq!(script(line).as_deref(), expected, "{line}");
    }
}
