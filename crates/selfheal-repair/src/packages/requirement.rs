//! One requirement as project files write it (`name[extra]==1.2; marker`), read strictly: these words are handed to an
//! installer, and they come from files of the job.

use super::names::normal;

/// The longest requirement that is read.
const LONGEST: usize = 300;
/// The signs of a version specifier, the longer ones first.
const SIGNS: [&str; 8] = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The name in its normal form.
    pub name: String,
    /// As it is handed to the installer.
    pub text: String,
    /// Whether it comes from an address, a repository or a path, and not from an index.
    pub direct: bool,
    /// Whether it says exactly one version.
    pub pinned: bool,
}

/// Reads a requirement; `None` where it is none, or none that is understood.
pub(super) fn read(line: &str) -> Option<Requirement> {
    let line = line.trim();
    let letter = |c: char| c.is_ascii_alphanumeric();
    if line.len() > LONGEST || line.chars().any(char::is_control) || !line.starts_with(letter) {
        return None;
    }
    let end = line.find(|c: char| !letter(c) && !"-_.".contains(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    if !name.ends_with(letter) {
        return None;
    }
    let (extras, rest) = extras(rest.trim_start())?;
    if let Some(address) = rest.strip_prefix('@') {
        let text = format!("{name}{extras} @ {}", address.trim());
        return Some(Requirement { name: normal(name), text, direct: true, pinned: true });
    }
    let (spec, marker) = match rest.split_once(';') {
        Some((spec, marker)) => (spec, Some(marker.trim())),
        None => (rest, None),
    };
    let spec = specifier(spec)?;
    let pinned = spec.starts_with("==") && !spec.contains([',', '*']);
    let marker = match marker {
        Some(marker) => format!("; {}", plain_marker(marker)?),
        None => String::new(),
    };
    let text = format!("{name}{extras}{spec}{marker}");
    Some(Requirement { name: normal(name), text, direct: false, pinned })
}

/// The same with exactly one version in the place of its own specifier; `None` where the version is none.
pub(super) fn with_version(requirement: &Requirement, version: &str) -> Option<Requirement> {
    if !is_version(version) {
        return None;
    }
    let text = requirement.text.as_str();
    let (front, marker) = text.split_once("; ").map_or((text, None), |(front, marker)| (front, Some(marker)));
    let end = front.find(['=', '~', '!', '<', '>']).unwrap_or(front.len());
    let marker = marker.map(|marker| format!("; {marker}")).unwrap_or_default();
    let text = format!("{}=={version}{marker}", front.get(..end)?);
    Some(Requirement { text, pinned: true, ..requirement.clone() })
}

/// `[extra,other]` at the beginning, without blanks; what is behind it.
fn extras(text: &str) -> Option<(String, &str)> {
    let Some(inner) = text.strip_prefix('[') else { return Some((String::new(), text)) };
    let (inner, rest) = inner.split_once(']')?;
    let good = |c: char| c.is_ascii_alphanumeric() || "-_., ".contains(c);
    inner.chars().all(good).then(|| (format!("[{}]", inner.replace(' ', "")), rest.trim_start()))
}

fn specifier(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let mut parts = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (sign, version) = SIGNS.iter().find_map(|sign| Some((*sign, part.strip_prefix(sign)?.trim())))?;
        parts.push(format!("{sign}{version}"));
        if !is_version(version) {
            return None;
        }
    }
    Some(parts.join(","))
}

fn is_version(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || ".*+!_-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(good)
}

/// A marker of plain comparisons: `python_version < "3.9" and sys_platform == 'linux'`.
fn plain_marker(text: &str) -> Option<&str> {
    let good = |c: char| c.is_ascii_alphanumeric() || " _.<>=!'\"()-".contains(c);
    (!text.is_empty() && text.chars().all(good)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Option<String> {
        read(line).map(|found| found.text)
    }

    #[test]
    fn requirements_are_read_as_they_are_written() {
        assert_eq!(text("PyYAML==6.0.1").as_deref(), Some("PyYAML==6.0.1"));
        assert_eq!(
            text("requests [ socks ] >= 2.0 , <3 ; python_version < '3.9'").as_deref(),
            Some("requests[socks]>=2.0,<3; python_version < '3.9'")
        );
        assert_eq!(text("six (>=1.9)").as_deref(), Some("six>=1.9"));
        assert!(read("tool @ https://example.org/tool.whl").unwrap().direct);
        assert!(read("PyYAML==6.0.1").unwrap().pinned && !read("PyYAML==6.*").unwrap().pinned);
    }

    #[test]
    fn what_is_no_requirement_is_left_out() {
        for line in
            ["", "-r other.txt", "--index-url=x", "./wheels/x.whl", "a b", "a==1 --hash=x", "a;`id`", "é"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_lock_says_the_version() {
        let some = read("Requests[socks]>=2; python_version > '3'").unwrap();
        assert_eq!(
            with_version(&some, "2.31.0").unwrap().text,
            "Requests[socks]==2.31.0; python_version > '3'"
        );
        assert_eq!(with_version(&some, "2; rm"), None);
    }
}
