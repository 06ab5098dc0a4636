//! Environments as lists of pairs when they are written: a name that need not be Unicode is no key in JSON.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the pairs in order.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer, V: Serialize>(map: &BTreeMap<OsString, V>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(map)
}

/// Reads the pairs back.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    from: D,
) -> Result<BTreeMap<OsString, V>, D::Error> {
    Vec::<(OsString, V)>::deserialize(from).map(|pairs| pairs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use crate::ports::BoxOrder;

    #[test]
    fn an_order_with_an_environment_survives_json() {
        let mut order = BoxOrder::default();
        order.env.insert(OsString::from("A"), OsString::from("1"));
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<BoxOrder>(&text).unwrap().env, order.env);
    }
}
