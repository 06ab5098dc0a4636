//! Tables as files have them: which character separates the columns, whether the first line is a heading, and which of its
//! columns a name means.

use crate::{text, units};

/// Rows that are looked at.
const MOST_ROWS: usize = 2_000;
/// Columns of a table: what has more is none that a person wrote a heading for.
const MOST_COLUMNS: usize = 200;

/// A table whose first line is a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Headed {
    /// What separates the columns; `None` where blanks do.
    pub(crate) separator: Option<char>,
    /// The names of the columns.
    pub(crate) heading: Vec<String>,
    /// The other lines, cut into columns.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Headed {
    /// Reads a table, if its first line is a heading: names above columns of which one holds numbers alone, or, with a
    /// separator that all lines have equally often, names that no row repeats.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(MOST_ROWS).collect();
        let separator = [';', '\t', ',', '|'].into_iter().find(|mark| even(&lines, *mark));
        let cut = |line: &&str| -> Vec<String> {
            match separator {
                Some(mark) => {
                    line.split(mark).map(|field| field.trim().trim_matches('"').to_owned()).collect()
                }
                None => line.split_whitespace().map(str::to_owned).collect(),
            }
        };
        let mut rows = lines.iter().map(cut);
        let heading = rows.next()?;
        let rows: Vec<Vec<String>> = rows.collect();
        let named = heading.len() > 1
            && heading.len() <= MOST_COLUMNS
            && heading
                .iter()
                .all(|name| name.chars().next().is_some_and(char::is_alphabetic) && name.len() < 60);
        let below =
            |at: usize| rows.iter().filter_map(move |row| row.get(at)).filter(|value| !value.is_empty());
        let numbers = (0..heading.len())
            .any(|at| below(at).next().is_some() && below(at).all(|value| is_number(value)));
        (named && numbers).then_some(Self { separator, heading, rows })
    }

    /// The column that each name means, as its number from 0 and whether it is in hundredths of what the name says; all of
    /// them, each another one.
    pub(crate) fn columns_of(&self, names: &[&str]) -> Option<Vec<(usize, bool)>> {
        let mut out: Vec<(usize, bool)> = Vec::new();
        for name in names {
            let fits = |(at, column): (usize, &String)| same_column(name, column).map(|cents| (at, cents));
            let mut found = self.heading.iter().enumerate().filter_map(fits);
            let (Some(one), None) = (found.next(), found.next()) else { return None };
            if out.iter().any(|(at, _)| *at == one.0) {
                return None;
            }
            out.push(one);
        }
        Some(out)
    }
}

/// Whether all lines have a character equally often, and at least once.
fn even(lines: &[&str], mark: char) -> bool {
    let count = lines.first().map_or(0, |line| line.matches(mark).count());
    count > 0 && lines.len() > 1 && lines.iter().all(|line| line.matches(mark).count() == count)
}

/// Whether a value is a number, with a sign, a point or a comma.
pub(crate) fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches(['-', '+']).trim_end_matches('%');
    value.starts_with(|c: char| c.is_ascii_digit())
        && value.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
}

/// Whether a name means a column, and whether that is in hundredths of what the name says: `quantity` and `qty`, `unit price`
/// and `UnitPrice`, `price in euro` and `price_cents`.
fn same_column(name: &str, column: &str) -> Option<bool> {
    let (a, b) = (bare(name), bare(column));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    if a == b || abbreviates(&a, &b) || abbreviates(&b, &a) {
        return Some(false);
    }
    let head = units::hundredths().filter_map(|unit| b.strip_suffix(unit)).min_by_key(|head| head.len())?;
    let said = units::currencies().filter_map(|unit| a.strip_suffix(unit)).min_by_key(|head| head.len());
    let said = said.unwrap_or(&a);
    let said = said.strip_suffix("in").unwrap_or(said);
    (head == said && said.len() > 2).then_some(true)
}

/// The letters and digits of a name in lower case, without the ending of a plural.
pub(crate) fn bare(name: &str) -> String {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.strip_suffix('s').filter(|rest| rest.len() > 2).map_or(letters.clone(), str::to_owned)
}

/// Whether a short name is how people shorten a long one: its beginning, or its consonants in order.
pub(crate) fn abbreviates(short: &str, long: &str) -> bool {
    if short.len() < 3 || short.len() + 2 > long.len() {
        return false;
    }
    if long.starts_with(short) {
        return true;
    }
    let mut rest = long.chars();
    let vowels = short.chars().skip(1).any(|c| "aeiou".contains(c));
    !vowels
        && short.chars().next() == long.chars().next()
        && short.chars().all(|c| rest.any(|other| other == c))
}

/// Whether a text names something as a word of its own.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    word.len() > 1 && text::whole_words(text, word).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_stands_above_numbers() {
        let table = Headed::read("article;name;price\nA;Bolt, long;1.20\n").unwrap();
        assert_eq!((table.separator, table.heading.len(), table.rows.len()), (Some(';'), 3, 1));
        assert_eq!(Headed::read("USER USED\nanna 3\n").unwrap().separator, None);
        assert!(Headed::read("anna 3\nbert 4\n").is_none() && Headed::read("a b\nc d\n").is_none());
        assert!(Headed::read("").is_none() && Headed::read("x\n1\n").is_none());
    }

    #[test]
    fn names_mean_columns() {
        let table = Headed::read("sku\twarehouse\tqty\tprice_cents\na\tb\t1\t2\n").unwrap();
        assert_eq!(
            table.columns_of(&["sku", "quantity", "price in euro", "warehouse"]),
            Some(vec![(0, false), (2, false), (3, true), (1, false)])
        );
        assert_eq!(table.columns_of(&["sku", "colour"]), None);
        assert_eq!(table.columns_of(&["sku", "SKU"]), None);
        let two = Headed::read("net_total,net total,x\n1,2,3\n").unwrap();
        assert_eq!(two.columns_of(&["nettotal"]), None);
    }
}
