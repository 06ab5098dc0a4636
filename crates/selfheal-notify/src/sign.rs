//! The signatures that chat robots ask for: that whoever knows only the address cannot write.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

fn mac(key: &[u8], text: &[u8]) -> String {
    // A key of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(text);
    STANDARD.encode(mac.finalize().into_bytes())
}

/// DingTalk: what is added to the address. The moment is in milliseconds.
pub(crate) fn in_address(secret: &str, at_ms: i64) -> String {
    let sign = mac(secret.as_bytes(), format!("{at_ms}\n{secret}").as_bytes());
    format!("timestamp={at_ms}&sign={}", utf8_percent_encode(&sign, NON_ALPHANUMERIC))
}

/// Feishu: `timestamp`, in seconds, and `sign` of the body.
pub(crate) fn in_body(secret: &str, at_ms: i64) -> (String, String) {
    let seconds = at_ms.div_euclid(1_000);
    (seconds.to_string(), mac(format!("{seconds}\n{secret}").as_bytes(), b""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both were computed with another tool: `printf … | openssl dgst -sha256 -hmac KEY -binary | base64`.
    #[test]
    fn the_signatures_are_those_of_the_services() {
        assert_eq!(
            in_address("SECabc", 1_700_000_000_000),
            format!("timestamp=1700000000000&sign={DINGTALK}")
        );
        assert_eq!(in_body("SECabc", 1_700_000_000_999), ("1700000000".to_owned(), FEISHU.to_owned()));
    }

    const DINGTALK: &str = "jcUpW0QmtKduN03n4JqQ0PBosVjqnM8gU7fIIvsDmCM%3D";
    const FEISHU: &str = "XprR1de+0SSBnwWyU/4k6x2TL+Q2SJlM5NNEdAv7MWg=";
}
