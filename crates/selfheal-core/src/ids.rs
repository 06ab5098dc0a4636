//! Identifiers and points in time, each with a type of its own so that they cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text of an identifier that was made by the program or read from the store.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The whole identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The last eight characters: what people see and type. A UUIDv7 begins with the time, so its end is the
            /// part that tells two of one day apart.
            #[must_use]
            pub fn short(&self) -> &str {
                let cut = self.0.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
                self.0.get(cut..).unwrap_or(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id_type!(
    /// One failure from its first run to its end (a UUIDv7).
    IncidentId
);
id_type!(
    /// One execution of a command (a UUIDv7).
    RunId
);
id_type!(
    /// The name under which a job's runs belong together: `--job NAME`, else user, resolved script and cwd.
    JobKey
);
id_type!(
    /// SHA-256 of a file's content, as 64 hexadecimal digits, the same that `sha256sum` prints.
    ContentHash
);
id_type!(
    /// What two failures have in common when they are the same failure: numbers, times and addresses masked, the
    /// discriminating word (module, path, host, option) kept.
    Signature
);

/// Milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
