//! Values that are newly cut: only what stands in front of a sign of a number is taken, and the rest is lost.

use selfheal_core::admission::{Finding, Weight};

use super::change::{Place, tight};
use crate::finding::at;

/// Words that say that numbers are read here.
const NUMBERS: &[&str] = &[
    "float", "int(", "number", "parseint", "decimal", "to_f", "to_i", "price", "amount", "total", "cents",
    "cost", "qty", "quantity", "rate", "isdigit", "sum", "euro", "+ 0", "$((", "| bc",
];

/// Words that say that it is the name of something.
const NAMES: &[&str] = &[
    "file", "path", "host", "hostname", "stem", "base", "version", "domain", "ext", "name", "filename",
    "basename", "fqdn",
];

/// Values of numbers that are cut at a sign.
pub fn compare(places: &[Place], after: &str) -> Vec<Finding> {
    let mut out = Vec::new();
    for place in places.iter().filter(|place| !place.old.is_empty()) {
        let old = place.old.join("\n");
        for (line, code) in &place.new {
            let cut = [',', '.'].into_iter().find(|sign| cuts(code, *sign) && !cuts(&old, *sign));
            let Some(sign) = cut.filter(|_| reads_numbers(&format!("{old}\n{}", near(after, *line)), code))
            else {
                continue;
            };
            let why = format!("it cuts the value at `{sign}`: what stands behind it is lost");
            out.push(at("masking/value-cut", *line, Weight::Refuse, why));
        }
    }
    out
}

/// The lines around a line.
fn near(text: &str, line: u32) -> String {
    text.lines().skip((line as usize).saturating_sub(3)).take(6).collect::<Vec<_>>().join("\n")
}

/// Whether the lines around read numbers, and this one no name.
fn reads_numbers(near: &str, code: &str) -> bool {
    let (near, code) = (near.to_lowercase(), code.to_lowercase());
    NUMBERS.iter().any(|word| near.contains(word))
        && !code.split(|c: char| !c.is_alphanumeric()).any(|word| NAMES.contains(&word))
}

/// Whether a line takes only what stands in front of a sign.
pub fn cuts(text: &str, sign: char) -> bool {
    let plain = tight(text);
    let forms = [
        format!(".partition(\"{sign}\")[0]"),
        format!(".split(\"{sign}\")[0]"),
        format!(".split(\"{sign}\",1)[0]"),
        format!(".split(\"{sign}\").first"),
        format!(".split(\"{sign}\").shift()"),
        format!("-d{sign}-f1"),
        format!("-d\"{sign}\"-f1"),
        format!(")=split/{sign}/,"),
        format!(")=split/\\{sign}/,"),
        format!("/{sign}.*/"),
        format!("/{sign}.*$/"),
        format!("/\\{sign}.*/"),
        format!("r\"{sign}.*\""),
    ];
    // `${file%.*}` takes the end of a name away.
    let expanded = sign == ',' && plain.contains("%,*}");
    let listed =
        plain.contains(&format!(")=split/{sign}/,")) || plain.contains(&format!(")=split/\\{sign}/,"));
    // `my ($a, $b) = split` takes more than the first part.
    let one = !listed || plain.split(")=split").next().is_some_and(|names| !names.contains(','));
    expanded || one && forms.iter().any(|form| plain.contains(form.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masking::change::places;
    use selfheal_syntax::Language;

    #[test]
    fn cutting_a_value_is_seen_in_every_language() {
        for text in [
            "x.partition(',')[0]",
            "x.split( \",\" )[0]",
            "${x%%,*}",
            "cut -d, -f1",
            "cut -d ',' -f 1",
            "my ($n) = split /,/, $x;",
            "x.split(',').first",
        ] {
            assert!(cuts(text, ','), "{text}");
        }
        for text in ["x.replace(',', '.')", "a, b = x.split(',')", "my ($a, $b) = split /,/, $x;"] {
            assert!(!cuts(text, ','), "{text}");
        }
    }

    #[test]
    fn numbers_are_told_from_names() {
        let refused =
            |before: &str, after: &str| !compare(&places(Language::Python, before, after), after).is_empty();
        assert!(refused("n = float(t)\n", "n = float(t.split(',')[0])\n"));
        assert!(!refused("n = f(t)\n", "n = f(t.split(',')[0])\n"));
        assert!(!refused("total = filename\n", "total = filename.split('.')[0]\n"));
    }
}
