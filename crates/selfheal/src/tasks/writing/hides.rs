//! What in a new script hides a failure. It is judged like a repair: as a change of an empty script that stops where something
//! fails, so what does not stop there, or forgets that something failed, is found.

use selfheal_core::admission::Weight;
use selfheal_guard::masking_of;
use selfheal_syntax::Language;

/// What is said where a script goes on after a failure.
const STOPS: &str = "it does not stop where a command fails: begin with `set -euo pipefail`";
/// Findings about options that are good to have and that not every script needs.
const MILD: [(&str, &str); 2] = [
    ("masking/nounset-removed", "unset variables are taken as empty: there is no `set -u`"),
    ("masking/pipefail-removed", "only the last member of a pipeline counts: there is no `set -o pipefail`"),
];

/// What may hide a failure, a sentence each.
///
/// # Errors
/// What does hide one: for the model to mend.
pub fn failures(name: &str, language: Language, script: &str) -> Result<Vec<String>, String> {
    let empty = match (language, name) {
        (Language::Shell, "sh") => "#!/bin/sh\nset -eu\n",
        (Language::Shell, _) => "#!/bin/bash\nset -euo pipefail\n",
        _ => "",
    };
    let mut said = Vec::new();
    for finding in masking_of(language, empty, script) {
        let mild = MILD.iter().find(|(rule, _)| *rule == finding.rule).map(|(_, why)| (*why).to_owned());
        let why = match (&mild, finding.rule.as_str()) {
            (Some(mild), _) => mild.clone(),
            (None, "masking/errexit-removed") => STOPS.to_owned(),
            (None, _) => finding.why.clone(),
        };
        let line = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        if mild.is_none() && finding.weight >= Weight::Refuse {
            return Err(format!("it would hide a failure: {line}{why}"));
        }
        if finding.weight > Weight::Note {
            said.push(format!("{line}{why}"));
        }
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str) -> Result<Vec<String>, String> {
        failures("bash", Language::Shell, script)
    }

    fn python(script: &str) -> Result<Vec<String>, String> {
        failures("python", Language::Python, script)
    }

    #[test]
    fn honest_scripts_are_let_through() {
        for script in [
            "#!/bin/bash\nset -euo pipefail\ncat part-1 part-2 > whole\n",
            "set -euo pipefail\n[ -f in.csv ] || { echo 'in.csv is missing' >&2; exit 1; }\ntmp=$(mktemp)\n\
             trap 'rm -f \"$tmp\"' EXIT\nsort in.csv > \"$tmp\"\nmv \"$tmp\" out.csv\nexit 0\n",
        ] {
            assert_eq!(bash(script), Ok(Vec::new()), "{script}");
        }
        assert_eq!(failures("sh", Language::Shell, "set -eu\ncp a b\n"), Ok(Vec::new()));
        let missing = "import sys\nfrom pathlib import Path\ntry:\n    text = Path('a').read_text()\n\
                       except FileNotFoundError as error:\n    sys.exit(f'missing: {error}')\nprint(len(text))\n";
        assert_eq!(python(missing), Ok(Vec::new()));
    }

    #[test]
    fn what_hides_a_failure_is_sent_back_and_what_may_is_told() {
        let why = |said: Result<Vec<String>, String>| said.unwrap_err();
        assert!(why(bash("cat part-9 > whole\necho done\n")).contains("set -euo pipefail"));
        assert!(
            why(bash("set -euo pipefail\ntrap 'exit 0' ERR\ncat a > b\n"))
                .contains("ends the script with success")
        );
        assert!(why(bash("set -euo pipefail\nset +e\ncat a > b\n")).contains("switched off"));
        assert!(
            why(python("try:\n    open('a').read()\nexcept Exception:\n    pass\n")).contains("forgotten")
        );
        let said = bash("set -euo pipefail\ncat part-9 > whole || true\n").unwrap();
        assert!(said[0].starts_with("line 2: ") && said[0].contains("without anybody noticing"), "{said:?}");
        assert!(bash("set -e\ncat a > b\n").unwrap().iter().any(|why| why.contains("no `set -u`")));
    }
}
