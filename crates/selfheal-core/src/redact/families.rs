//! Tokens that say what they are by their beginning. The families, beginnings and lengths are those that the issuers
//! document and that gitleaks (MIT) has rules for; the table is printed in `docs/redaction.md`.

use std::ops::Range;

/// One form of token.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Who issues it.
    pub name: &'static str,
    /// How it begins.
    pub beginning: &'static str,
    /// What stands behind.
    pub alphabet: Alphabet,
    /// How many characters at least.
    pub least: usize,
}

/// The characters of a token behind its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `-`, `_`.
    Url,
    /// Letters, digits, `-`, `_`, `.`.
    Dotted,
    /// Letters, digits, `-`, `_`, `.`, `+`, `/`, `=`.
    Base64,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+' | b'/' | b'=')
            }
        }
    }
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};

const fn family(name: &'static str, beginning: &'static str, alphabet: Alphabet, least: usize) -> Family {
    Family { name, beginning, alphabet, least }
}

/// The table, sorted by beginning within a first letter so that the longer of two beginnings comes first.
pub const FAMILIES: [Family; 118] = [
    family("1Password service account", "ops_eyJ", Base64, 100),
    family("Adobe client secret", "p8e-", Alnum, 30),
    family("age secret key", "AGE-SECRET-KEY-1", Upper, 50),
    family("Airtable personal token", "pat", Dotted, 70),
    family("Alibaba access key", "LTAI", Alnum, 12),
    family("Anthropic", "sk-ant-", Url, 20),
    family("Artifactory API key", "AKCp", Alnum, 60),
    family("Atlassian", "ATATT3", Base64, 60),
    family("Atlassian app", "ATCTT3", Base64, 60),
    family("Authress", "scauth_", Dotted, 30),
    family("AWS access key", "AKIA", Upper, 16),
    family("AWS temporary key", "ASIA", Upper, 16),
    family("AWS bearer", "ABIA", Upper, 16),
    family("AWS context", "ACCA", Upper, 16),
    family("AWS Bedrock", "ABSK", Base64, 60),
    family("Clojars", "CLOJARS_", Alnum, 50),
    family("Cloudflare origin", "v1.0-", Base64, 60),
    family("Databricks", "dapi", Hex, 32),
    family("Defined Networking", "dnkey-", Url, 40),
    family("DigitalOcean OAuth", "doo_v1_", Hex, 40),
    family("DigitalOcean", "dop_v1_", Hex, 40),
    family("DigitalOcean refresh", "dor_v1_", Hex, 40),
    family("Doppler", "dp.pt.", Alnum, 40),
    family("Doppler service", "dp.st.", Dotted, 40),
    family("Dropbox short-lived", "sl.", Url, 100),
    family("Duffel", "duffel_", Url, 40),
    family("Dynatrace", "dt0c01.", Dotted, 80),
    family("EasyPost", "EZAK", Alnum, 50),
    family("EasyPost test", "EZTK", Alnum, 50),
    family("Facebook page", "EAAM", Alnum, 90),
    family("Facebook", "EAAC", Alnum, 90),
    family("Flutterwave", "FLWSECK", Url, 20),
    family("Fly.io", "fo1_", Url, 40),
    family("Fly.io macaroon", "fm2_", Base64, 90),
    family("Fly.io macaroon", "fm1a_", Base64, 90),
    family("Fly.io macaroon", "fm1r_", Base64, 90),
    family("Frame.io", "fio-u-", Url, 60),
    family("GitHub", "ghp_", Alnum, 30),
    family("GitHub OAuth", "gho_", Alnum, 30),
    family("GitHub app user", "ghu_", Alnum, 30),
    family("GitHub app server", "ghs_", Alnum, 30),
    family("GitHub refresh", "ghr_", Alnum, 30),
    family("GitHub fine-grained", "github_pat_", Url, 40),
    family("GitLab", "glpat-", Dotted, 20),
    family("GitLab deploy", "gldt-", Url, 20),
    family("GitLab runner", "glrt-", Dotted, 20),
    family("GitLab feed", "glft-", Url, 20),
    family("GitLab SCIM", "glsoat-", Url, 20),
    family("GitLab mail", "glimt-", Url, 20),
    family("GitLab agent", "glagent-", Url, 40),
    family("GitLab CI job", "glcbt-", Url, 20),
    family("GitLab trigger", "glptt-", Hex, 40),
    family("GitLab OAuth", "gloas-", Url, 60),
    family("GitLab runner registration", "GR1348941", Url, 20),
    family("Google API key", "AIza", Url, 35),
    family("Google OAuth secret", "GOCSPX-", Url, 24),
    family("Google OAuth token", "ya29.", Url, 40),
    family("Grafana cloud", "glc_", Base64, 32),
    family("Grafana service account", "glsa_", Url, 40),
    family("Harness", "pat.", Dotted, 60),
    family("Heroku", "HRKU-AA", Url, 50),
    family("Hugging Face", "hf_", Alnum, 30),
    family("Hugging Face organisation", "api_org_", Alnum, 30),
    family("Infracost", "ico-", Alnum, 32),
    family("JSON web token", "eyJ", Base64, 40),
    family("Linear", "lin_api_", Alnum, 40),
    family("Mailgun", "key-", Hex, 32),
    family("Mapbox secret", "sk.eyJ", Dotted, 60),
    family("New Relic user key", "NRAK-", Upper, 27),
    family("New Relic insert key", "NRII-", Url, 32),
    family("New Relic browser key", "NRJS-", Alnum, 19),
    family("Notion", "ntn_", Alnum, 40),
    family("npm", "npm_", Alnum, 36),
    family("NuGet", "oy2", Alnum, 43),
    family("Octopus Deploy", "API-", Upper, 26),
    family("OpenAI project", "sk-proj-", Url, 20),
    family("OpenAI service account", "sk-svcacct-", Url, 20),
    family("OpenAI and alike", "sk-", Url, 20),
    family("OpenShift", "sha256~", Url, 43),
    family("Perplexity", "pplx-", Alnum, 40),
    family("PlanetScale password", "pscale_pw_", Dotted, 32),
    family("PlanetScale token", "pscale_tkn_", Dotted, 32),
    family("PlanetScale OAuth", "pscale_oauth_", Dotted, 32),
    family("Postman", "PMAK-", Url, 50),
    family("Prefect", "pnu_", Alnum, 36),
    family("Pulumi", "pul-", Hex, 40),
    family("PyPI", "pypi-", Url, 40),
    family("ReadMe", "rdme_", Alnum, 60),
    family("RubyGems", "rubygems_", Hex, 40),
    family("Scalingo", "tk-us-", Url, 40),
    family("SendGrid", "SG.", Dotted, 50),
    family("Brevo", "xkeysib-", Url, 60),
    family("Sentry organisation", "sntrys_", Base64, 60),
    family("Sentry user", "sntryu_", Hex, 60),
    family("SettleMint", "sm_pat_", Alnum, 16),
    family("Shippo", "shippo_", Url, 40),
    family("Shopify secret", "shpss_", Hex, 32),
    family("Shopify", "shpat_", Hex, 32),
    family("Shopify custom app", "shpca_", Hex, 32),
    family("Shopify private app", "shppa_", Hex, 32),
    family("Slack bot", "xoxb-", Url, 20),
    family("Slack user", "xoxp-", Url, 20),
    family("Slack legacy", "xoxs-", Url, 20),
    family("Slack workspace", "xoxa-", Url, 20),
    family("Slack refresh", "xoxr-", Url, 20),
    family("Slack configuration", "xoxe", Dotted, 60),
    family("Slack app", "xapp-", Url, 20),
    family("SonarQube", "squ_", Hex, 40),
    family("SonarQube project", "sqp_", Hex, 40),
    family("Sourcegraph", "sgp_", Url, 40),
    family("Square", "sq0atp-", Url, 22),
    family("Square secret", "sq0csp-", Url, 40),
    family("Stripe", "sk_live_", Alnum, 16),
    family("Stripe test", "sk_test_", Alnum, 16),
    family("Stripe restricted", "rk_live_", Alnum, 16),
    family("Typeform", "tfp_", Dotted, 40),
    family("HashiCorp Vault", "hvs.", Url, 24),
    family("HashiCorp Vault batch", "hvb.", Url, 60),
];

/// The tokens of a line. A token begins where a word does.
pub(super) fn find(line: &str, out: &mut Vec<Range<usize>>) {
    let bytes = line.as_bytes();
    let mut word_before = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let word = byte.is_ascii_alphanumeric() || *byte == b'_';
        let token = if word && !word_before { token_at(bytes, at) } else { None };
        if let Some(end) = token {
            out.push(at..end);
            at = end;
            word_before = true;
            continue;
        }
        word_before = word;
        at += 1;
    }
}

fn token_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (first, second) = (*rest.first()?, *rest.get(1)?);
    let place = usize::from(first) << 8 | usize::from(second);
    let begun = BEGINS.get(place >> 6).is_some_and(|word| word >> (place & 63) & 1 == 1);
    let by_beginning =
        FAMILIES.iter().filter(|family| begun && rest.starts_with(family.beginning.as_bytes()));
    let length = by_beginning.filter_map(|family| behind(rest, family)).max();
    let numbered =
        || if first.is_ascii_hexdigit() { telegram(rest).or_else(|| mailchimp(rest)) } else { None };
    length.or_else(numbered).map(|length| at + length)
}

/// Which two bytes any family begins with, one bit each: nearly every word is done with it.
static BEGINS: [u64; 1024] = {
    let mut begins = [0; 1024];
    let mut at = 0;
    while at < FAMILIES.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler: out of bounds would not build"
        )]
        {
            let bytes = FAMILIES[at].beginning.as_bytes();
            let place = (bytes[0] as usize) << 8 | bytes[1] as usize;
            begins[place >> 6] |= 1 << (place & 63);
        }
        at += 1;
    }
    begins
};

/// The length of a token of this family.
fn behind(rest: &[u8], family: &Family) -> Option<usize> {
    let tail = rest.get(family.beginning.len()..)?;
    let length = tail.iter().take_while(|byte| family.alphabet.has(**byte)).count();
    let body = tail.get(..length)?;
    let jwt = family.beginning != "eyJ" || body.iter().filter(|byte| **byte == b'.').count() >= 1;
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = body.iter().any(u8::is_ascii_alphabetic);
    (length >= family.least && jwt && digits > 0 && letters).then_some(family.beginning.len() + length)
}

/// `123456789:AA…`: the number of a bot and its key.
fn telegram(rest: &[u8]) -> Option<usize> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let tail = rest.get(digits..)?.strip_prefix(b":AA")?;
    let length = tail.iter().take_while(|byte| Url.has(**byte)).count();
    ((6..=12).contains(&digits) && length >= 30).then_some(digits + 3 + length)
}

/// `0123…cdef-us12`.
fn mailchimp(rest: &[u8]) -> Option<usize> {
    let key = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let tail = rest.get(key..)?.strip_prefix(b"-us")?;
    let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (key == 32 && digits > 0).then_some(key + 3 + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token of a family, with letters and digits that every alphabet has.
    fn sample(family: &Family) -> String {
        let body: String = "A1B2C3D4E5F6".chars().cycle().take(family.least + 2).collect();
        let dot = if family.beginning == "eyJ" { "." } else { "" };
        let body = if family.beginning == "key-" { body.to_lowercase() } else { body };
        format!("{}{body}{dot}", family.beginning)
    }

    #[test]
    fn the_table_is_documented() {
        let page = include_str!("../../../../docs/redaction.md");
        for Family { name, beginning, least, .. } in FAMILIES {
            assert!(page.contains(&format!("| {name} | `{beginning}` | {least} |")), "{name}");
        }
    }

    #[test]
    fn every_family_is_found() {
        for family in &FAMILIES {
            let token = sample(family);
            let line = format!("the key is {token}, or not");
            let mut found = Vec::new();
            find(&line, &mut found);
            assert_eq!(found.len(), 1, "{}: {line}", family.name);
            assert_eq!(&line[found[0].clone()], token.as_str(), "{}", family.name);
        }
        for token in
            ["123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "0123456789abcdef0123456789abcdef-us12"]
        {
            let mut found = Vec::new();
            find(&format!("x {token}"), &mut found);
            assert_eq!(found.len(), 1, "{token}");
        }
    }

    #[test]
    fn words_that_only_begin_like_a_token_stay() {
        for line in [
            "sk-learn-is-a-library-for-python",
            "npm_config_registry",
            "desk-1234567890123456789012345",
            "key-value",
        ] {
            let mut found = Vec::new();
            find(line, &mut found);
            assert!(found.is_empty(), "{line}");
        }
    }
}
