//! `selfheal rules`: which rules may act unattended, and accepting those that an upgrade changed.

use std::collections::BTreeMap;

use selfheal_core::ports::{Clock, Entry, Ledger};
use serde_json::json;

use super::{Ended, print};
use crate::cli::{RulesArgs, RulesCommand};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::{exit_code, rule_prints};

/// Lists them, or accepts some.
///
/// # Errors
/// When a name is not that of a rule, or the store cannot be read or written.
pub fn run(context: &Context, args: &RulesArgs) -> Ended {
    match &args.command {
        RulesCommand::List => list(context),
        RulesCommand::Accept { names } => accept(context, names),
    }
}

fn list(context: &Context) -> Ended {
    let (texts, settings) = (context.texts(), &context.settings.rules);
    let present = rule_prints::all();
    let accepted = context.store()?.accepted_rules(&present)?;
    for rule in selfheal_repair::rules() {
        let name = rule.name();
        let state = if settings.off.iter().any(|off| off == name) {
            "rules-off"
        } else if rule.preview() && !settings.promotes(name) {
            "rules-preview"
        } else {
            match accepted.get(name) {
                None => "rules-new",
                Some(print) if present.get(name) != Some(print) => "rules-changed",
                Some(_) => "rules-accepted",
            }
        };
        print(&format!("{name:<24} {}\n", texts.say(state, &[])));
    }
    Ok(exit_code::OK)
}

fn accept(context: &Context, names: &[String]) -> Ended {
    let store = context.store()?;
    let present = rule_prints::all();
    if let Some(wrong) = names.iter().find(|name| !present.contains_key(*name)) {
        return Err(CommandError::new(format!("{wrong}: there is no such rule")).hint("selfheal rules list"));
    }
    let accepted = store.accepted_rules(&present)?;
    let asked = |name: &String| names.is_empty() || names.contains(name);
    let fresh: BTreeMap<String, String> = present
        .into_iter()
        .filter(|(name, print)| asked(name) && accepted.get(name) != Some(print))
        .collect();
    if !fresh.is_empty() {
        store.accept_rules(&fresh)?;
        let details = json!({ "rules": fresh, "by": context.uid });
        let body = context
            .redactor()
            .json(&details)
            .map_err(|error| CommandError::new("failed to write a ledger record").because(&error))?;
        let (at, kind) = (context.clock.now(), "rules_accepted".to_owned());
        store.append(&[Entry { at, kind, incident: None, body }])?;
    }
    let named: Vec<&str> = fresh.keys().map(String::as_str).collect();
    let values = [("n", named.len().to_string()), ("names", named.join(", "))];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", context.texts().say("rules-accepted-now", &values)));
    Ok(exit_code::OK)
}
