//! The small differences between servers that all call themselves compatible, learned from their error messages.

/// How a server wants to be asked. Begins with the most exact way and gives up only what the server rejects by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// How the answer's form is asked for.
    pub(crate) format: Format,
    /// The name of the output limit.
    pub(crate) limit: &'static str,
    /// Whether a temperature may be stated.
    pub(crate) temperature: bool,
}

/// How the answer's form is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// By schema; the server's grammar sees to it.
    Schema,
    /// As any JSON object; the schema stands in the prompt.
    Object,
    /// By the prompt alone.
    Prompt,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { format: Format::Schema, limit: "max_tokens", temperature: true }
    }
}

impl Dialect {
    /// The next way to ask a server that rejected a request with this status and message; `None` when the message names
    /// nothing that could be given up.
    pub(crate) fn after(self, status: u16, message: &str) -> Option<Self> {
        if !matches!(status, 400 | 404 | 422 | 500 | 501) {
            return None;
        }
        let names = |word: &str| message.contains(word);
        if self.limit == "max_tokens" && names("max_completion_tokens") {
            return Some(Self { limit: "max_completion_tokens", ..self });
        }
        if self.temperature && names("temperature") {
            return Some(Self { temperature: false, ..self });
        }
        let about_format = ["response_format", "json_schema", "json_object", "grammar", "schema"];
        if !about_format.into_iter().any(names) {
            return None;
        }
        match self.format {
            Format::Schema => Some(Self { format: Format::Object, ..self }),
            Format::Object => Some(Self { format: Format::Prompt, ..self }),
            Format::Prompt => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_up_only_what_the_server_names_and_ends() {
        let first = Dialect::default();
        let renamed = first.after(400, "Use 'max_completion_tokens' instead of 'max_tokens'").unwrap();
        assert_eq!(renamed, Dialect { limit: "max_completion_tokens", ..first });
        let plain = renamed.after(400, "'temperature' does not support 0.2 with this model").unwrap();
        let object = plain.after(422, "response_format.type json_schema is not supported").unwrap();
        let prompt = object.after(400, "unknown field response_format").unwrap();
        assert_eq!((object.format, prompt.format), (Format::Object, Format::Prompt));
        assert_eq!(prompt.after(400, "response_format"), None);
        assert_eq!(first.after(400, "the context is too long"), None);
        assert_eq!(first.after(401, "temperature"), None);
    }
}
