//! The templates, filled in.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use selfheal_core::redact::{Redacted, Redactor};

use super::PromptError;
use super::material::Section;

/// The templates by name.
const TEMPLATES: [(&str, &str); 3] = [
    ("diagnosis_system", include_str!("templates/diagnosis_system.jinja")),
    ("proposal_system", include_str!("templates/proposal_system.jinja")),
    ("case", include_str!("templates/case.jinja")),
];

/// Fills in a template; a value that is missing is an error.
pub(super) fn fill(name: &'static str, values: Value, redactor: &Redactor) -> Result<Redacted, PromptError> {
    let trouble = |source: minijinja::Error| PromptError::Template { name, source: Box::new(source) };
    let source = TEMPLATES.iter().find(|(have, _)| *have == name).map_or("", |(_, source)| source);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(trouble)?;
    environment.set_syntax(syntax);
    let text = environment.render_str(source, values).map_err(trouble)?;
    Ok(redactor.text(&text))
}

/// The user's part of a question: the sections between marks, then what is asked.
pub(super) fn case(
    mark: &str,
    sections: &[Section],
    closing: &str,
    redactor: &Redactor,
) -> Result<Redacted, PromptError> {
    let sections: Vec<Value> = sections
        .iter()
        .map(|section| minijinja::context! { title => section.title.as_str(), text => section.text.as_str() })
        .collect();
    fill("case", minijinja::context! { mark, sections, closing }, redactor)
}
