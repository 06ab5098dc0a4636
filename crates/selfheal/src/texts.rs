//! Everything selfheal says to people, by id, in the language of the caller. The sentences are in `locales/*.ftl`; what
//! a language lacks is said in English.

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource};
use unic_langid::LanguageIdentifier;

const ENGLISH: &str = include_str!("../locales/en.ftl");
const CHINESE: &str = include_str!("../locales/zh.ftl");
const EXPLAIN_ENGLISH: &str = include_str!("../locales/explain.en.ftl");
const EXPLAIN_CHINESE: &str = include_str!("../locales/explain.zh.ftl");

/// The languages that there are texts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// The language of a locale name such as `zh_CN.UTF-8`.
    #[must_use]
    pub fn of_locale(locale: &str) -> Self {
        if locale.starts_with("zh") { Self::Chinese } else { Self::English }
    }
}

/// The texts of one language.
pub struct Texts {
    bundles: Vec<FluentBundle<FluentResource>>,
}

impl Texts {
    /// Loads the texts of a language.
    #[must_use]
    pub fn of(language: Language) -> Self {
        let mut bundles = Vec::new();
        if language == Language::Chinese {
            bundles.extend(bundle("zh", &[CHINESE, EXPLAIN_CHINESE]));
        }
        bundles.extend(bundle("en", &[ENGLISH, EXPLAIN_ENGLISH]));
        Self { bundles }
    }

    /// The sentence with this id; the id itself where no language has it, so that nothing is ever hidden.
    #[must_use]
    pub fn say(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.find(id, values).unwrap_or_else(|| id.to_owned())
    }

    /// The sentence with this id, if there is one.
    #[must_use]
    pub fn find(&self, id: &str, values: &[(&str, &str)]) -> Option<String> {
        let mut args = FluentArgs::new();
        for (name, value) in values {
            match value.parse::<i64>() {
                Ok(number) if name.starts_with("n_") || *name == "n" => args.set(*name, number),
                _ => args.set(*name, *value),
            }
        }
        self.bundles.iter().find_map(|bundle| {
            let pattern = bundle.get_message(id)?.value()?;
            let mut errors = Vec::new();
            let text = bundle.format_pattern(pattern, Some(&args), &mut errors).into_owned();
            errors.is_empty().then_some(text)
        })
    }
}

fn bundle(language: &str, sources: &[&'static str]) -> Option<FluentBundle<FluentResource>> {
    let id: LanguageIdentifier = language.parse().ok()?;
    let mut bundle = FluentBundle::new(vec![id]);
    // The isolation marks are invisible characters that a terminal or a log would keep.
    bundle.set_use_isolating(false);
    for source in sources {
        // A broken entry is left out; a test holds that there is none.
        let resource = FluentResource::try_new((*source).to_owned()).unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource(resource).ok()?;
    }
    Some(bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(source: &str) -> Vec<&str> {
        source
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
            .filter_map(|line| line.split_once(" =").map(|(id, _)| id))
            .collect()
    }

    #[test]
    fn both_languages_parse_and_have_the_same_texts() {
        for source in [ENGLISH, CHINESE, EXPLAIN_ENGLISH, EXPLAIN_CHINESE] {
            assert!(FluentResource::try_new(source.to_owned()).is_ok());
        }
        assert_eq!(ids(ENGLISH), ids(CHINESE));
        assert_eq!(ids(EXPLAIN_ENGLISH), ids(EXPLAIN_CHINESE));
        // One that comes twice would keep a whole file out.
        let all: Vec<&str> = [ENGLISH, EXPLAIN_ENGLISH].into_iter().flat_map(ids).collect();
        let once: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), once.len());
    }

    #[test]
    fn plural_forms_follow_the_number() {
        let texts = Texts::of(Language::English);
        assert_eq!(texts.say("lines", &[("n", "1")]), "1 line");
        assert_eq!(texts.say("lines", &[("n", "4")]), "4 lines");
    }
}
