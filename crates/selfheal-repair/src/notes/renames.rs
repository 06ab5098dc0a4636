//! How people write that something is called differently now: `OLD is now called NEW`, `NEW (formerly OLD)`.

/// Words between an old and a new name.
const BETWEEN: usize = 8;

/// Whether a character can be one of a name.
pub(crate) fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// A word of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without the marks around it.
    pub(crate) text: String,
    /// Whether it stands in quotes or backticks.
    quoted: bool,
    /// Whether a sentence ends with it.
    ends: bool,
    /// Whether a paragraph, or an item of a list, begins with it.
    begins: bool,
}

/// The words of a text.
pub(crate) fn words(text: &str) -> Vec<Word> {
    const QUOTES: [char; 6] = ['`', '"', '\'', '“', '”', '*'];
    let mut out = Vec::new();
    let mut begins = true;
    for line in text.lines() {
        let bare = line.trim_start();
        begins |= bare.is_empty()
            || bare.starts_with(['#', '|'])
            || bare.starts_with("- ")
            || bare.starts_with("* ");
        for raw in line.split_whitespace() {
            let boxed = raw.trim_end_matches([',', ';', ':', '.']);
            let boxed = boxed.starts_with('[') && boxed.ends_with(']');
            let bare =
                raw.trim_start_matches(['(', '[']).trim_end_matches([')', ']', ',', ';', ':', '.', '!', '?']);
            let inner = bare.trim_matches(QUOTES);
            // Of `money.parse()` the function is what is called differently.
            let inner = match inner.strip_suffix("()") {
                Some(path) => path.rsplit(['.', ':']).next().unwrap_or(path),
                None => inner,
            };
            let name = inner.trim_end_matches([':', '.', ',']);
            if name.is_empty() || name == "-" || name.chars().all(|c| c == '#' || c == '=') {
                continue;
            }
            out.push(Word {
                text: name.to_owned(),
                quoted: boxed || bare.starts_with(QUOTES),
                ends: raw.trim_end_matches([')', ']']).ends_with(['.', ';', '!', '?']),
                begins: std::mem::take(&mut begins),
            });
        }
    }
    out
}

/// Words that may stand between an old name and its new one.
const FILLING: [&str; 42] = [
    "is",
    "was",
    "are",
    "were",
    "has",
    "have",
    "been",
    "now",
    "to",
    "as",
    "by",
    "with",
    "the",
    "a",
    "option",
    "flag",
    "key",
    "field",
    "column",
    "function",
    "setting",
    "variable",
    "list",
    "parameter",
    "name",
    "and",
    "in",
    "from",
    "simply",
    "just",
    "of",
    "favour",
    "favor",
    "header",
    "on",
    "known",
    "section",
    "command",
    "status",
    "value",
    "table",
    "program",
];
/// Words of which one must.
const CHANGING: [&str; 13] = [
    "called",
    "named",
    "renamed",
    "replaced",
    "became",
    "becomes",
    "moved",
    "→",
    "->",
    "=>",
    "spelled",
    "spelt",
    "deprecated",
];
/// Words before an old name that say that the new one stands further in front.
const FORMERLY: [&str; 7] = ["formerly", "previously", "replaces", "supersedes", "earlier", "once", "was"];

/// A name that is another one now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Renamed<'w> {
    /// What it was.
    pub(crate) old: &'w str,
    /// What it is.
    pub(crate) new: &'w str,
}

/// All names of which a text says that they were changed, of those that `wanted` lets through. What is `known` to be a name,
/// since the data has it, need not look like one.
pub(crate) fn renames<'w>(
    words: &'w [Word],
    wanted: &dyn Fn(&str) -> bool,
    known: &dyn Fn(&str) -> bool,
) -> Vec<Renamed<'w>> {
    let places = words.iter().enumerate().filter(|(_, word)| wanted(&word.text));
    let new = |(at, word): (usize, &'w Word)| {
        let new = behind(words, at, &word.text, known).or_else(|| in_front(words, at, &word.text))?;
        Some(Renamed { old: word.text.as_str(), new })
    };
    places.filter_map(new).collect()
}

/// `OLD is now called NEW`, `renamed OLD to NEW`, `OLD -> NEW`.
fn behind<'a>(words: &'a [Word], at: usize, old: &str, known: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let this = words.get(at)?;
    let lower = |at: usize| words.get(at).map(|word| word.text.to_lowercase()).unwrap_or_default();
    // `renamed the option OLD to NEW`: the word that says so stands in front, in the same sentence.
    let mut changing = (1..=3)
        .map_while(|back| at.checked_sub(back).and_then(|place| words.get(place)))
        .take_while(|word| !word.ends)
        .any(|word| {
            ["renamed", "rename", "renames", "replaced", "replace", "moved", "changed"]
                .contains(&word.text.to_lowercase().as_str())
        });
    if this.ends {
        return None;
    }
    for next in at + 1..=at + BETWEEN {
        let word = words.get(next).filter(|word| !word.begins)?;
        let text = lower(next);
        let is_now = text == "now" && ["is", "are"].contains(&lower(next.checked_sub(1)?).as_str());
        changing |= CHANGING.contains(&text.as_str()) || is_now;
        let filling = !word.quoted && (FILLING.contains(&text.as_str()) || CHANGING.contains(&text.as_str()));
        if !filling {
            let named = is_alike(this, word, old) || word.text != old && known(&word.text);
            return (changing && named).then_some(word.text.as_str());
        }
        if word.ends {
            return None;
        }
    }
    None
}

/// `NEW (formerly OLD)`, `NEW replaces OLD`, `use NEW instead of OLD`, and ``NEW`: …; it was called `OLD`.`
fn in_front<'a>(words: &'a [Word], at: usize, old: &str) -> Option<&'a str> {
    let this = words.get(at)?;
    let back = |steps: usize| at.checked_sub(steps).and_then(|place| words.get(place));
    let lower = |steps: usize| back(steps).map(|word| word.text.to_lowercase()).unwrap_or_default();
    let called = ["called", "named"].contains(&lower(1).as_str())
        && ["was", "were", "been"].contains(&lower(2).as_str());
    let instead = lower(1) == "of" && lower(2) == "instead";
    if FORMERLY.contains(&lower(1).as_str()) || instead {
        let word = back(if instead { 3 } else { 2 })?;
        return is_alike(this, word, old).then_some(word.text.as_str());
    }
    if !called || !this.quoted {
        return None;
    }
    // The name that the paragraph is about.
    let begin = (0..at).rev().find(|place| words.get(*place).is_some_and(|word| word.begins))?;
    let subject = words.get(begin..at)?.iter().find(|word| word.quoted)?;
    is_alike(this, subject, old).then_some(subject.text.as_str())
}

/// Whether a word is the name of a file: letters behind a point, and a name before it.
pub(crate) fn is_file_name(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(head, ending)| {
        !head.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Whether a word can be the new name: written like a name, and marked as one where the old one is.
fn is_alike(this: &Word, word: &Word, old: &str) -> bool {
    let name = word.text.as_str();
    let of_a_file = |c: char| is_of_a_name(c) || c == '.';
    let named = match is_file_name(old) {
        true => is_file_name(name) && name.chars().all(of_a_file),
        false => name.chars().all(is_of_a_name),
    };
    let whole = name.len() >= 2 && name.len() <= 64 && named && name != old;
    let shaped = name.starts_with('-')
        || name.contains('_')
        || name.trim_matches('-').contains('-')
        || name.chars().skip(1).any(char::is_uppercase);
    let upper = |text: &str| text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase);
    let shaped = shaped || is_file_name(name);
    whole && (word.quoted || !this.quoted && shaped) && upper(old) == upper(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_of(text: &str, old: &str) -> Vec<String> {
        let words = words(text);
        renames(&words, &|name| name == old, &|_| false).into_iter().map(|pair| pair.new.to_owned()).collect()
    }

    #[test]
    fn reads_how_documents_say_it() {
        for (text, old, new) in [
            ("The flag --outbox is now called --spool; its meaning is the same.", "--outbox", "--spool"),
            ("- `posted` is now called `settled()`: banks say so.", "posted", "settled"),
            ("names differ: `payee` became `creditor`, and `debtor` is new", "payee", "creditor"),
            ("Renamed REPORT_DROP to SHARED_TREE: reports", "REPORT_DROP", "SHARED_TREE"),
            ("* rename the option `-o` to `--output`", "-o", "--output"),
            ("`retries` has been replaced by `max_tries`.", "retries", "max_tries"),
            ("--old -> --new", "--old", "--new"),
            ("`items` → `results`", "items", "results"),
            ("`max_tries` (formerly `retries`) limits", "retries", "max_tries"),
            ("Use `fetch_all` instead of `fetch`.", "fetch", "fetch_all"),
            ("; since 1.9 the section [storage] is called [folders]", "storage", "folders"),
            ("- status \"done\" was renamed to \"completed\"", "done", "completed"),
            ("* The column amount is called net_amount now, because", "amount", "net_amount"),
            ("# changed in 3.0: retention -> keep_days", "retention", "keep_days"),
            ("unknown key 'listen_port' (was renamed to 'port' in 2.0)", "listen_port", "port"),
            ("- `money.parse()` has been renamed to `money.parse_cents()`; it", "parse", "parse_cents"),
            ("2031: settings.conf was renamed to mirror.conf, since", "settings.conf", "mirror.conf"),
            ("txt2page was renamed to render-page in spring.", "txt2page", "render-page"),
            ("`heartbeat`: minutes. Before release 6 it was called `cadence`.", "cadence", "heartbeat"),
        ] {
            assert_eq!(new_of(text, old), [new], "{text}");
        }
    }

    #[test]
    fn a_plain_word_is_a_name_where_the_data_has_it() {
        let words = words("-- 5: ticket is called tickets, status is called state, since May");
        let found = renames(&words, &|name| name == "status", &|name| name == "state");
        assert_eq!(found, [Renamed { old: "status", new: "state" }]);
        assert_eq!(renames(&words, &|name| name == "status", &|_| false), []);
    }

    #[test]
    fn reads_nothing_into_other_sentences() {
        for (text, old) in [
            ("The flag --outbox is now required.", "--outbox"),
            ("The flag --outbox is faster. It is called --spool elsewhere.", "--outbox"),
            ("`posted` is called by `settled` and by others", "other"),
            ("--outbox is now OFF by default", "--outbox"),
            ("`a_b` is gone.\n\n- `c_d` is new", "a_b"),
            ("`payee` is now optional, see `creditor`", "payee"),
            ("the list is now sorted", "list"),
        ] {
            assert_eq!(new_of(text, old), Vec::<String>::new(), "{text}");
        }
    }
}
