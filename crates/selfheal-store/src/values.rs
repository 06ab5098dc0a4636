//! Small conversions between Rust's values and SQLite's.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use selfheal_core::redact::Redacted;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as TextError, StrDeserializer};

/// A name that the system gave: text where it is UTF-8, so that people can read and type it, else a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) OsString);

impl Name {
    pub(crate) fn of(path: &Path) -> Self {
        Self(path.as_os_str().to_owned())
    }

    pub(crate) fn path(self) -> PathBuf {
        PathBuf::from(self.0)
    }
}

impl ToSql for Name {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0.to_str() {
            Some(text) => ValueRef::Text(text.as_bytes()),
            None => ValueRef::Blob(self.0.as_bytes()),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl FromSql for Name {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Self(OsString::from_vec(bytes.to_vec()))),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A text that was redacted before it was stored.
pub(crate) struct Stored(pub(crate) Redacted);

impl FromSql for Stored {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text: StrDeserializer<'_, TextError> = value.as_str()?.into_deserializer();
        Redacted::deserialize(text).map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A limit for SQLite.
pub(crate) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// A length of time or a count for SQLite, which has no unsigned numbers.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that was stored with [`signed`].
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
