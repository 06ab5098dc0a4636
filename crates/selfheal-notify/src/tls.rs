//! Which certificate authorities are believed: those of the system, and one file of the user's beside them. The checks
//! cannot be turned off.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use selfheal_core::ports::PortError;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The one provider of the workspace.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The certificates in a PEM file, as DER.
///
/// # Errors
/// When it cannot be read or holds none.
pub(crate) fn read(file: &Path) -> Result<Vec<Vec<u8>>, PortError> {
    let doing = || format!("read the certificates of {}", file.display());
    let pem = std::fs::read(file).map_err(|error| PortError::new(doing(), error))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(one) = item.map_err(|error| PortError::new(doing(), error))? {
            found.push(one.der().to_owned());
        }
    }
    if found.is_empty() {
        return Err(PortError::plain(doing(), selfheal_core::ports::Trouble::Corrupt));
    }
    Ok(found)
}

/// TLS for HTTP. `SSL_CERT_FILE` and `SSL_CERT_DIR` count, as for every program of the system.
///
/// # Errors
/// When the user's file cannot be used.
pub(crate) fn config(extra: Option<&Path>) -> Result<TlsConfig, PortError> {
    let mut certs: Vec<Certificate<'static>> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|cert| Certificate::from_der(cert.as_ref()).to_owned())
        .collect();
    for der in extra.map(read).transpose()?.unwrap_or_default() {
        certs.push(Certificate::from_der(&der).to_owned());
    }
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&certs))
        .unversioned_rustls_crypto_provider(provider())
        .build())
}
