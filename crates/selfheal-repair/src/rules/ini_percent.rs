//! # A percent sign in a value of an INI file
//!
//! ## What it finds
//! Python's `configparser` stops at a value with a percent sign: "'%' must be followed by '%' or '('".
//!
//! ## Why it fails
//! `ConfigParser` takes `%(name)s` in values for a reference to another value, and a lone percent sign for a mistake. A new
//! password, a format or a percentage has one.
//!
//! ## Fix
//! The parser takes values as they are: `interpolation=None`.
//!
//! ## Example
//! ```python
//! conf = configparser.ConfigParser()
//! ```
//! ```python
//! conf = configparser.ConfigParser(interpolation=None)
//! ```
//!
//! ## Safety
//! Only where no file that the program reads uses references (`%(`) or doubled percent signs: those would be read otherwise.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, LARGEST};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(IniPercent, "ini_percent", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::Other { message } | Fault::BadValue { message, .. } | Fault::Syntax { message, .. } => {
            message.contains("'%' must be followed by") || message.contains("invalid interpolation syntax")
        }
        _ => false,
    });
    if !told {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let made = ["configparser.ConfigParser", "configparser.SafeConfigParser"];
        let calls = module
            .calls()
            .into_iter()
            .filter(|call| made.contains(&call.resolved.as_str()) && call.keyword("interpolation").is_none());
        let parts: Vec<Part> = calls
            .filter_map(|call| python::add_argument(&module, &call.span, "interpolation=None"))
            .collect();
        let refers = python::data_files(case, &module)
            .iter()
            .filter_map(|path| case.scene.read(path, LARGEST))
            .any(|bytes| {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                text.contains('[')
                    && text.contains('=')
                    && (text.contains("%(") || text.contains("%%"))
                    && !text.contains("configparser")
            });
        let Some((first, _)) = parts.first().filter(|_| !refers) else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "ini_percent",
            "a value of the settings has a percent sign, which the parser takes for a reference to another value",
            "take the values as they are",
        )
        .evidence("no settings file uses references to other values")
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: interpolation=None"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, data: &str) -> TestCase {
        let message =
            "configparser.InterpolationSyntaxError: '%' must be followed by '%' or '(', found: '%x'"
                .to_owned();
        TestCase::new("x.py", text, TestScene::new().file("a.ini", data))
            .fault(Fault::Other { message })
            .at(3)
    }

    #[test]
    fn takes_values_as_they_are() {
        let text = "import configparser\nc = configparser.ConfigParser()\nc.read('a.ini')\n";
        assert!(
            case(text, "[a]\np = 5%x\n").healed(&IniPercent).contains("ConfigParser(interpolation=None)")
        );
        let text = "from configparser import ConfigParser\nc = ConfigParser(strict=False)\nc.read('a.ini')\n";
        assert!(
            case(text, "[a]\np = 5%x\n")
                .healed(&IniPercent)
                .contains("ConfigParser(strict=False, interpolation=None)")
        );
    }

    #[test]
    fn leaves_files_with_references_alone() {
        let text = "import configparser\nc = configparser.ConfigParser()\nc.read('a.ini')\n";
        assert!(case(text, "[a]\nb = /x\np = %(b)s/5%x\n").silent(&IniPercent));
        assert!(case("import configparser\nc = configparser.RawConfigParser()\n", "").silent(&IniPercent));
    }
}
