//! The templates, filled in. A template of the user's takes the place of the built-in one of its name; the Chinese ones end in
//! `_zh`.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use selfheal_core::redact::Redacted;

use super::PromptError;
use super::input::PromptInput;
use super::material::Section;

/// The templates by name, English and Chinese.
const TEMPLATES: [(&str, &str, &str); 5] = [
    (
        "diagnosis_system",
        include_str!("templates/diagnosis_system.jinja"),
        include_str!("templates/diagnosis_system_zh.jinja"),
    ),
    (
        "proposal_system",
        include_str!("templates/proposal_system.jinja"),
        include_str!("templates/proposal_system_zh.jinja"),
    ),
    (
        "short_system",
        include_str!("templates/short_system.jinja"),
        include_str!("templates/short_system_zh.jinja"),
    ),
    (
        "choice_system",
        include_str!("templates/choice_system.jinja"),
        include_str!("templates/choice_system_zh.jinja"),
    ),
    ("case", include_str!("templates/case.jinja"), include_str!("templates/case_zh.jinja")),
];

/// The names of the templates that a user may replace, without `.jinja`.
pub fn template_names() -> impl Iterator<Item = String> {
    TEMPLATES.iter().flat_map(|(name, ..)| [(*name).to_owned(), format!("{name}_zh")])
}

/// Fills in a template; a value that is missing is an error.
pub(super) fn fill(
    input: &PromptInput<'_>,
    name: &'static str,
    values: Value,
) -> Result<Redacted, PromptError> {
    let trouble = |source: minijinja::Error| PromptError::Template { name, source: Box::new(source) };
    let full = if input.chinese { format!("{name}_zh") } else { name.to_owned() };
    let built_in = TEMPLATES
        .iter()
        .find(|(have, ..)| *have == name)
        .map_or("", |(_, english, chinese)| if input.chinese { chinese } else { english });
    let source = input.templates.get(&full).map_or(built_in, String::as_str);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(trouble)?;
    environment.set_syntax(syntax);
    let text = environment.render_str(source, values).map_err(trouble)?;
    Ok(input.redactor.text(&text))
}

/// The user's part of a question: the sections between marks, then what is asked.
pub(super) fn case(
    input: &PromptInput<'_>,
    mark: &str,
    sections: &[Section],
    closing: &str,
) -> Result<Redacted, PromptError> {
    let sections: Vec<Value> = sections
        .iter()
        .map(|section| minijinja::context! { title => section.title.as_str(), text => section.text.as_str() })
        .collect();
    fill(input, "case", minijinja::context! { mark, sections, closing })
}
