//! # A Python program asks for a variable of the environment that is not set
//!
//! ## What it finds
//! `os.environ["USER"]` (or `HOME`, `LOGNAME`, `TMPDIR`, `HOSTNAME`, …) in a Python program, where the job's environment
//! does not have it.
//!
//! ## Why it fails
//! Login shells set these variables, schedulers do not.
//!
//! ## Fix
//! The system is asked instead: `getpass.getuser()`, `os.path.expanduser("~")`, `tempfile.gettempdir()`,
//! `socket.gethostname()`. These look into the environment first.
//!
//! ## Example
//! ```python
//! owner = os.environ["USER"]
//! ```
//! ```python
//! owner = getpass.getuser()
//! ```
//!
//! ## Safety
//! Only variables whose value the system itself knows; never one that is a setting of the job.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python;
use crate::shell::splice;

rule!(PythonEnvironment, "python_environment", Safe, propose);

/// Variables, what asks the system for their value, and the module that it needs.
const KNOWN: &[(&str, &str, &str)] = &[
    ("USER", "getpass.getuser()", "getpass"),
    ("LOGNAME", "getpass.getuser()", "getpass"),
    ("USERNAME", "getpass.getuser()", "getpass"),
    ("HOME", "os.path.expanduser(\"~\")", "os"),
    ("TMPDIR", "tempfile.gettempdir()", "tempfile"),
    ("TMP", "tempfile.gettempdir()", "tempfile"),
    ("TEMP", "tempfile.gettempdir()", "tempfile"),
    ("HOSTNAME", "socket.gethostname()", "socket"),
    ("PWD", "os.getcwd()", "os"),
];

fn propose(case: &Case) -> Vec<Candidate> {
    let known = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => KNOWN.iter().find(|(name, ..)| name == key),
        _ => None,
    });
    let Some((name, expression, needs)) = known.filter(|(name, ..)| case.scene.var(name).is_none()) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for (file, module) in python::modules(case) {
        let accesses = module
            .subscripts()
            .into_iter()
            .filter(|a| a.key == *name && !a.stored && a.object.ends_with("environ"));
        let mut parts: Vec<python::Part> =
            accesses.map(|access| (access.span, (*expression).to_owned())).collect();
        let Some((first, _)) = parts.first() else { continue };
        let line = python::line_of(&file.text, first.start);
        parts.extend(python::import(&module, needs));
        let draft = Draft::new(
            "python_environment",
            format!("line {line}: {name} is not in the environment where the job runs"),
            "ask the system, which looks into the environment first",
        )
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: {expression}"));
        out.extend(draft.done());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, key: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new()).fault(Fault::KeyMissing { key: key.into() })
    }

    #[test]
    fn asks_the_system() {
        let healed =
            case("import os\nx = os.environ[\"USER\"] + \"-1\"\n", "USER").healed(&PythonEnvironment);
        assert_eq!(healed, "import getpass\nimport os\nx = getpass.getuser() + \"-1\"\n");
        let healed =
            case("from os import environ\nt = environ['TMPDIR']\n", "TMPDIR").healed(&PythonEnvironment);
        assert_eq!(healed, "import tempfile\nfrom os import environ\nt = tempfile.gettempdir()\n");
    }

    #[test]
    fn leaves_settings_and_other_mappings_alone() {
        assert!(case("import os\nx = os.environ['API_TOKEN']\n", "API_TOKEN").silent(&PythonEnvironment));
        assert!(case("x = row['USER']\n", "USER").silent(&PythonEnvironment));
    }
}
