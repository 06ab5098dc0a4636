//! Options that a tool does not know (any more), in every tool's words.

use selfheal_core::fault::Fault;

use super::{Row, row, tool_before};
use crate::template::{Holes, unquote};

/// The option of the hole `option`; the tool is what the line begins with.
fn unknown(holes: &Holes<'_>) -> Option<Fault> {
    let shown = unquote(holes.get("option").trim_end_matches([',', ';', '.', ':', ')']));
    let option = if shown.starts_with('-')
        || shown.starts_with('+')
        || shown.is_empty()
        || !holes.get("short").is_empty()
    {
        shown.to_owned()
    } else if shown.chars().count() == 1 {
        format!("-{shown}")
    } else {
        shown.to_owned()
    };
    let command = if holes.get("tool").is_empty() {
        tool_before(holes.before).unwrap_or_default()
    } else {
        holes.text("tool")
    };
    (!option.is_empty() && option.len() < 200).then_some(Fault::UnknownOption { command, option })
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("unrecognized option {option:q}", unknown),
        row("unrecognised option {option:q}", unknown),
        row("unrecognized option: {option:w}", unknown),
        row("unrecognized argument: {option:w}", unknown),
        row("unrecognized arguments: {option:w}", unknown),
        row("invalid option -- {option:q}", unknown),
        row("illegal option -- {option:q}", unknown),
        row("unknown option -- {option:q}", unknown),
        row("invalid option: {option:q}", unknown),
        row("unknown option: {option:q}", unknown),
        row("unknown option `{option}'", unknown),
        row("Unknown cipher: {option:w}", unknown).of("openssl"),
        row("Unknown option or cipher: {option:w}", unknown).of("openssl"),
        row("unknown option {option:q}", unknown),
        row("Unknown option: {option:q}", unknown),
        row("unknown switch `{option}'", unknown),
        row("unknown flag: {option:w}", unknown),
        row("unknown shorthand flag: {option:q}", unknown),
        row("flag provided but not defined: {option:w}", unknown),
        row("unexpected argument {option:q} found", unknown),
        row("No such option: {option:w}", unknown),
        row("no such option: {option:w}", unknown),
        row("not an option: {option:w}", unknown),
        row("no such command: {option:q}", unknown),
        row("unknown command: {option:q}", unknown),
        row("unknown subcommand {option:q}", unknown),
        row("unknown subcommand: {option:q}", unknown),
        row("unrecognized command {option:q}", unknown),
        row("unrecognized subcommand {option:q}", unknown),
        row("invalid choice: {option:q} (choose from ", unknown),
        row("bad option: {option:w}", unknown),
        row("Unrecognized option: {option:w}", unknown),
        row("Unsupported option {option:q}", unknown),
        row("unsupported option {option:q}", unknown),
        row("option {option:q} is ambiguous", unknown),
        row("option {option:q} is not recognized", unknown),
        row("^curl: option {option:w}: is unknown", unknown),
        row("^find: unknown predicate {option:q}", unknown),
        row("^ps: error: unsupported {option}$", unknown),
        row("^{option:w}: invalid option", unknown),
        row("^{tool:w}: {option:w}: invalid option", unknown),
        row("^{tool:w}: {option:w}: unknown option", unknown),
        row("Ungültige Option -- {option:q}", unknown),
        row("ungültige Option -- {option:q}", unknown),
        row("unbekannte Option {option:q}", unknown),
        row("option invalide -- {option:q}", unknown),
        row("option non reconnue {option:q}", unknown),
        row("无效选项 -- {option:q}", unknown),
        row("unrecognized subcommand {option:q}", unknown),
        row("unknown command {option:q}", unknown),
        row("Unknown command: {option:q}", unknown),
        row("unknown subcommand: {option:q}", unknown),
        row("is not a valid option", |h| {
            let option = h.before.split_whitespace().last()?;
            let command = tool_before(h.before).unwrap_or_default();
            Some(Fault::UnknownOption { command, option: unquote(option).to_owned() })
        }),
    ]
}
