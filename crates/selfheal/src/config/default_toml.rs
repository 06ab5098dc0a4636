//! The commented settings file that `init` writes. It is parsed at no other time: a test holds that it says the same
//! as the built-in defaults with the suggested policy.

/// The commented settings file.
pub const DEFAULT_TOML: &str = include_str!("../../default.toml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, Options, Origin, resolve};
    use selfheal_core::proposal::Risk;
    use selfheal_core::settings::{Answer, Limits};

    #[test]
    fn the_template_says_what_the_program_does_by_default() {
        let mut unknown = Vec::new();
        let options = Options::parse(DEFAULT_TOML, &mut unknown).unwrap();
        assert!(unknown.is_empty(), "{unknown:?}");
        let settings = resolve(&[Layer { origin: Origin::User, path: "default.toml".into(), options }]);
        assert_eq!(settings.limits, Limits::default());
        let policy = settings.policy.unwrap();
        assert_eq!(policy.answer(Risk::Low), Answer::Apply);
        assert_eq!(policy.answer(Risk::Medium), Answer::Park);
        assert!(settings.model.is_none());
    }
}
