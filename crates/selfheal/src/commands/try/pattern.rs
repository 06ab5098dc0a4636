//! Patterns for paths: `*` for any characters, `?` for one. One without a slash is about the last part of a path.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a path fits a pattern, as it is or below the folder of the command.
pub(super) fn fits(pattern: &str, cwd: &Path, path: &Path) -> bool {
    let pattern = pattern.as_bytes();
    if !pattern.contains(&b'/') {
        return path.file_name().is_some_and(|name| matches(pattern, name.as_bytes()));
    }
    let near = path.strip_prefix(cwd).is_ok_and(|rest| matches(pattern, rest.as_os_str().as_bytes()));
    near || matches(pattern, path.as_os_str().as_bytes())
}

/// Goes back to the last star only, so that it is never slower than pattern times text.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == b'?' || text.get(t) == Some(byte) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_about_names_or_whole_paths() {
        let cwd = Path::new("/w");
        for (pattern, path, wanted) in [
            ("*.log", "/w/a/b.log", true),
            ("*.log", "/w/a.log/b", false),
            ("a/*", "/w/a/b/c", true),
            ("/etc/*.d/?", "/etc/x.d/y", true),
            ("/etc/*.d/?", "/etc/x.d/yy", false),
            ("b", "/w/b", true),
            ("*a*a*a*b", "/w/aaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("*", "/w/x", true),
        ] {
            assert_eq!(fits(pattern, cwd, Path::new(path)), wanted, "{pattern} {path}");
        }
    }
}
