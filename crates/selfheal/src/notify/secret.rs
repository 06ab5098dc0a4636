//! Secrets of channels: the settings say where each is, and it is read when it is needed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use selfheal_notify::Secret;

use crate::context::Context;

/// The largest file of a secret, in bytes.
const MOST: usize = 64 << 10;

/// The secret at a place: `env:NAME`, `file:PATH` or `credential:NAME` (of systemd). The redactor knows it from then on.
///
/// # Errors
/// When it is not there, in words that do not repeat what was set: it may be the secret itself.
pub(super) fn at(context: &Context, key: &str, place: &str) -> Result<Secret, String> {
    let text = match place.split_once(':') {
        Some(("env", name)) => context.var(name).ok_or(format!("the variable {name} is not set"))?,
        Some(("file", path)) => read(Path::new(path))?,
        Some(("credential", name)) => read(&credential(context, name)?)?,
        _ => return Err(format!("`{key}` says where the secret is: env:NAME, file:PATH or credential:NAME")),
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("`{key}` is empty"));
    }
    context.redactor().know(text);
    Ok(Secret::new(text))
}

/// An address may stand in the settings itself.
///
/// # Errors
/// As [`at`].
pub(super) fn address(context: &Context, url: &str) -> Result<Secret, String> {
    if url.starts_with("https://") || url.starts_with("http://") {
        context.redactor().know(url);
        return Ok(Secret::new(url));
    }
    at(context, "url", url)
}

/// The file that a place names, if it names one: to be hidden in boxes.
#[must_use]
pub(super) fn file(place: &str) -> Option<&str> {
    place.strip_prefix("file:")
}

fn credential(context: &Context, name: &str) -> Result<PathBuf, String> {
    let folder = context.env.get(OsStr::new("CREDENTIALS_DIRECTORY"));
    let folder = folder.ok_or("there are no credentials of systemd here")?;
    match name.contains('/') {
        true => Err("a credential's name has no slash".to_owned()),
        false => Ok(Path::new(folder).join(name)),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes =
        selfheal_exec::read_regular(path, MOST).ok_or(format!("{} cannot be read", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not text", path.display()))
}
