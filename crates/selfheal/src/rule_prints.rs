//! The prints of rules: what a rule is, without its comments and tests, as a short hash. An upgrade that changes what a rule
//! does changes its print, and then the rule does not act unattended until somebody accepts it.

use std::collections::BTreeMap;

use selfheal_core::ports::PortError;
use selfheal_store::Store;
use sha2::{Digest, Sha256};

/// The prints of all rules, by name.
#[must_use]
pub fn all() -> BTreeMap<String, String> {
    let rules = selfheal_repair::rules().iter();
    rules.map(|rule| (rule.name().to_owned(), print_of(rule.source()))).collect()
}

/// The rules among `names` that are not as they were accepted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn changed(store: &Store, names: &[String]) -> Result<Vec<String>, PortError> {
    let present = all();
    let accepted = store.accepted_rules(&present)?;
    let differs = |name: &&String| accepted.get(*name) != present.get(*name);
    Ok(names.iter().filter(differs).cloned().collect())
}

fn print_of(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut state = Sha256::new();
    let lines = code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    for line in lines {
        state.update(line.as_bytes());
        state.update(b"\n");
    }
    state.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_a_rule_do_not_change_it_and_its_code_does() {
        let rule = "//! A page.\nfn f() {\n    // why\n    g();\n}\n\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(print_of(rule), print_of("fn f() {\n        g();\n}"));
        assert_ne!(print_of(rule), print_of("fn f() {\n        h();\n}"));
    }

    #[test]
    fn every_rule_has_a_print_of_its_own() {
        let prints = all();
        let different: std::collections::BTreeSet<_> = prints.values().collect();
        assert_eq!((prints.len(), different.len()), (selfheal_repair::rules().len(), prints.len()));
    }
}
