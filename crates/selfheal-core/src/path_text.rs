//! Paths as text where they are Unicode, so that people can read them, else as their bytes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The two forms.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(PathBuf),
    Bytes(OsString),
}

impl Form {
    fn path(self) -> PathBuf {
        match self {
            Self::Text(path) => path,
            Self::Bytes(name) => PathBuf::from(name),
        }
    }
}

/// Writes a path.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => path.as_os_str().serialize(to),
    }
}

/// Reads it back.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Form::deserialize(from).map(Form::path)
}

/// The same for a path that there need not be.
pub mod option {
    use super::{Deserialize, Deserializer, Form, PathBuf, Serializer};

    /// Writes a path, or nothing.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => super::serialize(path, to),
            None => to.serialize_none(),
        }
    }

    /// Reads it back.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Option::<Form>::deserialize(from).map(|form| form.map(Form::path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        #[serde(with = "crate::path_text::option")]
        other: Option<PathBuf>,
    }

    #[test]
    fn text_stays_text_and_bytes_come_back() {
        let plain = Holder { path: "/srv/ä.sh".into(), other: None };
        let text = serde_json::to_string(&plain).unwrap();
        assert_eq!(text, r#"{"path":"/srv/ä.sh","other":null}"#);
        let bytes = [b"/srv/".as_slice(), &[0xff, 0xfe]].concat();
        let odd: OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
        for holder in [plain, Holder { path: odd.clone().into(), other: Some(odd.into()) }] {
            let text = serde_json::to_string(&holder).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder);
        }
    }
}
