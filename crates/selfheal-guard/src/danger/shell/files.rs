//! Commands that delete, overwrite, move or open up files, judged by where their operands lead.

use selfheal_core::admission::Danger::{self, High, Low, Medium};

use selfheal_syntax::values::{Piece, Value};

use super::argv::Arg;
use super::places::Place;
use super::rules::has_letter;
use super::{Stdin, Walk};

/// Line and subject of a finding.
type Spot<'a> = (u32, &'a str);

/// Judges a command by the files that it names.
pub fn judge(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], stdin: &Stdin, spot: Spot<'_>) {
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" | "truncate" => {
            delete(walk, name, arguments, spot)
        }
        "find" | "fd" if has_word(arguments, &["-delete", "--delete"]) => {
            search_and_delete(walk, arguments, spot)
        }
        "cp" | "mv" | "install" | "ln" => copy(walk, name, arguments, spot),
        "tee" | "sponge" | "touch" | "mkdir" | "mkfifo" => {
            operands(arguments).for_each(|arg| written(walk, walk.places().of(&arg.value), true, spot))
        }
        "dd" => disk_copy(walk, arguments, spot),
        "sed" | "perl" | "gsed" if in_place(name, arguments) => edit(walk, name, arguments, spot),
        "tar" | "bsdtar" | "unzip" | "7z" | "cpio" | "unrar" | "bsdcpio" => {
            unpack(walk, name, arguments, spot)
        }
        "rsync" => mirror(walk, arguments, spot),
        "chmod" => mode(walk, arguments, spot),
        "chown" | "chgrp" | "chattr" | "setfacl" | "chcon" => owner(walk, name, arguments, spot),
        "ed" | "ex" | "vi" | "vim" | "nvim" => {
            let files = operands(arguments).filter(|arg| arg.spelled().starts_with(['/', '~']));
            files.for_each(|arg| written(walk, walk.places().of(&arg.value), false, spot))
        }
        "xargs" if *stdin == Stdin::Opaque => {}
        "fallocate" | "head" if huge(arguments) => {
            walk.hit(spot, High, "danger/exhaustion", "it fills the disk");
        }
        "split" | "csplit" | "mktemp" => {}
        _ => {}
    }
}

/// A size of 100 GB or more among the arguments.
fn huge(arguments: &[Arg]) -> bool {
    arguments.iter().map(Arg::spelled).any(|word| {
        let size = word.trim_start_matches(['-', 'c', 'l']).trim_start_matches("ength=");
        let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
        let unit = size.get(digits.len()..).unwrap_or_default();
        match digits.parse::<u64>() {
            Ok(number) => unit.starts_with('T') || (unit.starts_with('G') && number >= 100),
            Err(_) => false,
        }
    })
}

fn operands(arguments: &[Arg]) -> impl Iterator<Item = &Arg> {
    let end = arguments.iter().position(|arg| arg.spelled() == "--").unwrap_or(arguments.len());
    arguments
        .iter()
        .enumerate()
        .filter(move |(at, arg)| {
            *at > end || (*at < end && (!arg.spelled().starts_with('-') || arg.spelled() == "-"))
        })
        .map(|(_, arg)| arg)
}

fn has_word(arguments: &[Arg], words: &[&str]) -> bool {
    arguments.iter().any(|arg| words.contains(&arg.spelled().as_str()))
}

fn has_short(arguments: &[Arg], letters: &str) -> bool {
    arguments.iter().any(|arg| has_letter(&arg.spelled(), letters))
}

fn delete(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let recursive = has_short(arguments, "rR")
        || has_word(arguments, &["--recursive", "--no-preserve-root"])
        || arguments.iter().any(|arg| arg.spelled().starts_with("-\u{1}"));
    let sized = |arg: &&Arg| name != "truncate" || !arg.spelled().starts_with(|c: char| c.is_ascii_digit());
    let targets: Vec<Arg> = operands(arguments).filter(sized).cloned().collect();
    for target in targets {
        let pattern = target.spelled().contains(['*', '?', '[']);
        let place = walk.places().of(&target.value);
        // `.*` is `..` too.
        let spelled = target.spelled();
        let place = if spelled == ".*" || spelled.ends_with("/.*") { Place::Above } else { place };
        if holds_history(&spelled) && place != Place::OwnTemporary && name != "truncate" {
            walk.hit(spot, High, "danger/git-history", "it deletes the history of a repository");
        }
        deleted(walk, place, recursive, pattern, spot);
    }
}

fn deleted(walk: &mut Walk<'_>, place: Place, recursive: bool, pattern: bool, (line, subject): Spot<'_>) {
    let (danger, why) = match place {
        Place::OwnTemporary | Place::Nothing => return,
        Place::Inside => (Medium, "it deletes files of the job"),
        Place::Temporary => (Medium, "it deletes files in a temporary folder"),
        Place::Guarded => (Medium, "it deletes below a folder that is named by a variable"),
        Place::Unknown => (Medium, "it deletes what a variable names"),
        Place::PerhapsTop if recursive || pattern => {
            (High, "an empty variable makes it delete from the top of the tree")
        }
        Place::PerhapsTop => (Medium, "it deletes below a folder that is named by a variable"),
        Place::UnknownList => (High, "what it deletes is a list that nobody knows"),
        Place::Outside | Place::Home | Place::Above => (High, "it deletes outside of the job's folder"),
        Place::System | Place::Device | Place::Private | Place::Top => {
            (High, "it deletes what belongs to the system or to a person")
        }
    };
    walk.hit((line, subject), danger, "danger/delete", why);
}

/// Whether a path is the data of a repository from which a version is brought back. A lock that was left behind is none.
fn holds_history(path: &str) -> bool {
    let mut parts = path.trim_end_matches('/').split('/');
    parts.any(|part| matches!(part, ".git" | ".hg" | ".svn" | ".bzr" | ".jj"))
        && !path.ends_with(".lock")
        && !path.contains("/hooks")
}

fn search_and_delete(walk: &mut Walk<'_>, arguments: &[Arg], spot: Spot<'_>) {
    let roots: Vec<Arg> =
        arguments.iter().take_while(|arg| !arg.spelled().starts_with('-')).cloned().collect();
    let places: Vec<Place> = if roots.is_empty() {
        vec![walk.places().text(".")]
    } else {
        roots.iter().map(|arg| walk.places().of(&arg.value)).collect()
    };
    if arguments.iter().any(|arg| holds_history(&arg.spelled())) {
        walk.hit(spot, High, "danger/git-history", "it deletes the history of a repository");
    }
    for place in places {
        let place = if place == Place::Unknown { Place::PerhapsTop } else { place };
        deleted(walk, place, true, true, spot);
    }
}

/// Judges that a file is written.
pub fn written(walk: &mut Walk<'_>, place: Place, gently: bool, (line, subject): Spot<'_>) {
    let (danger, why) = match place {
        Place::System | Place::Device | Place::Top => (High, "it writes to a file of the system"),
        Place::Private => (High, "it writes to keys, or to what runs by itself"),
        Place::Home | Place::Above => {
            (if gently { Medium } else { High }, "it writes outside of the job's folder")
        }
        Place::Outside => (Medium, "it writes outside of the job's folder"),
        _ => (Low, ""),
    };
    if danger > Low {
        walk.hit((line, subject), danger, "danger/write", why);
    }
}

fn copy(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let into = arguments
        .iter()
        .position(|arg| matches!(arg.spelled().as_str(), "-t" | "--target-directory"))
        .and_then(|at| arguments.get(at + 1));
    let into = into.cloned().or_else(|| {
        arguments.iter().find_map(|arg| arg.spelled().strip_prefix("--target-directory=").map(Arg::text))
    });
    let mut all: Vec<Arg> = operands(arguments).cloned().collect();
    let Some(target) = into.or_else(|| if all.len() > 1 { all.pop() } else { None }) else { return };
    let place = walk.places().of(&target.value);
    let hooks = target.spelled().contains(".git/hooks");
    written(walk, if hooks { Place::Private } else { place }, false, spot);
    if name == "mv" {
        let away = matches!(place, Place::Outside | Place::Temporary | Place::Home | Place::Above);
        if away {
            walk.hit(spot, Medium, "danger/overwrite", "it moves files out of the job's folder");
        }
        if all.iter().any(|source| holds_history(&source.spelled())) {
            walk.hit(spot, High, "danger/git-history", "it moves the history of a repository away");
        }
        for source in &all {
            let from = walk.places().of(&source.value);
            if matches!(
                from,
                Place::System | Place::Private | Place::Home | Place::Outside | Place::Above | Place::Top
            ) {
                deleted(walk, from, true, true, spot);
            }
        }
    }
    let forced = has_short(arguments, "f") || has_word(arguments, &["--force"]);
    if matches!(name, "mv" | "cp") && forced && matches!(place, Place::Inside) {
        walk.hit(spot, Medium, "danger/overwrite", "it overwrites a file without asking");
    }
    let bits = arguments.windows(2).find_map(|pair| match pair {
        [option, bits] if matches!(option.spelled().as_str(), "-m" | "--mode") => Some(bits.spelled()),
        _ => None,
    });
    if let Some(bits) = bits.filter(|bits| name == "install" && is_special(bits)) {
        special(walk, &bits, spot);
    }
    if all.iter().any(|arg| arg.spelled() == "/dev/null") {
        let outside = matches!(place, Place::Outside | Place::Home | Place::Above);
        walk.hit(spot, if outside { High } else { Medium }, "danger/overwrite", "it empties a file");
    }
}

fn disk_copy(walk: &mut Walk<'_>, arguments: &[Arg], spot: Spot<'_>) {
    let of = arguments.iter().position(|arg| arg.spelled().starts_with("of="));
    let bounded = arguments.iter().any(|arg| arg.spelled().starts_with("count="));
    let endless = arguments
        .iter()
        .any(|arg| ["if=/dev/zero", "if=/dev/urandom", "if=/dev/random"].contains(&arg.spelled().as_str()));
    if let Some(arg) = of.and_then(|at| arguments.get(at)) {
        let place = match written_to(arg) {
            Some(value) if walk.places().of(&value) == Place::OwnTemporary => Place::OwnTemporary,
            _ => walk.places().text(arg.spelled().trim_start_matches("of=")),
        };
        let unknown = arg.spelled().trim_start_matches("of=").starts_with('\u{1}');
        if unknown && place != Place::OwnTemporary {
            walk.hit(spot, Medium, "danger/write", "it writes raw data to what a variable names");
        } else if place == Place::Inside || place == Place::Temporary {
            walk.hit(spot, Medium, "danger/overwrite", "it overwrites a file with raw data");
        }
        written(walk, place, false, spot);
        if endless && !bounded && place != Place::Nothing {
            walk.hit(spot, High, "danger/exhaustion", "it writes without end");
        }
    }
    if arguments.iter().any(|arg| {
        arg.spelled().starts_with("if=/dev/")
            && walk.places().text(arg.spelled().trim_start_matches("if=")) == Place::Device
    }) {
        walk.hit(spot, High, "danger/device", "it reads a raw device");
    }
}

/// What `of=…` names.
fn written_to(arg: &Arg) -> Option<Value> {
    let mut pieces = arg.value.pieces.clone();
    let Some(Piece::Text(first)) = pieces.first_mut() else { return None };
    *first = first.strip_prefix("of=")?.to_owned();
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Some(Value { pieces })
}

fn in_place(name: &str, arguments: &[Arg]) -> bool {
    arguments.iter().any(|arg| {
        let word = arg.spelled();
        word.starts_with("--in-place")
            || word.starts_with("-i")
            || (name == "perl" && has_letter(&word, "i"))
            || (word.starts_with('-') && !word.starts_with("--") && word.len() < 5 && word.ends_with('i'))
    })
}

fn edit(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let all: Vec<Arg> = operands(arguments).cloned().collect();
    let script_given = arguments.iter().any(|arg| {
        matches!(arg.spelled().as_str(), "-e" | "-f")
            || arg.spelled().starts_with("--expression")
            || (name == "perl" && arg.spelled().ends_with('e'))
    });
    for file in all.iter().skip(usize::from(!script_given || name == "perl")) {
        let place = walk.places().of(&file.value);
        written(walk, place, false, spot);
        if place == Place::Inside {
            walk.hit(spot, Medium, "danger/overwrite", "it edits a file in place");
        }
    }
}

fn unpack(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let first = arguments.first().map(Arg::spelled).unwrap_or_default();
    let old_style = name.ends_with("tar") && !first.starts_with('-') && first.contains('x');
    let extracts = match name {
        "tar" | "bsdtar" => {
            old_style || has_short(arguments, "x") || has_word(arguments, &["--extract", "--get"])
        }
        "7z" | "unrar" => matches!(first.as_str(), "x" | "e"),
        "cpio" => has_short(arguments, "i"),
        _ => !has_short(arguments, "ltpZ"),
    };
    let folder = arguments
        .iter()
        .position(|arg| matches!(arg.spelled().as_str(), "-C" | "--directory" | "-d"))
        .and_then(|at| arguments.get(at + 1));
    let folder = folder.cloned().or_else(|| {
        arguments.iter().find_map(|arg| arg.spelled().strip_prefix("--directory=").map(Arg::text))
    });
    let top = has_short(arguments, "P") || has_word(arguments, &["--absolute-names"]);
    if !extracts {
        return;
    }
    let place = folder.map_or_else(|| walk.places().text("."), |folder| walk.places().of(&folder.value));
    written(walk, if place == Place::Outside { Place::Home } else { place }, false, spot);
    if matches!(place, Place::UnknownList) || top {
        walk.hit(spot, High, "danger/write", "it unpacks to a place that nobody knows");
    }
    if arguments.iter().any(|arg| {
        ["--overwrite", "--unlink-first", "--recursive-unlink", "-o", "-aoa"]
            .contains(&arg.spelled().as_str())
    }) {
        walk.hit(spot, Medium, "danger/overwrite", "it overwrites files with those of an archive");
    }
}

fn mirror(walk: &mut Walk<'_>, arguments: &[Arg], spot: Spot<'_>) {
    let dry = has_short(arguments, "n") || has_word(arguments, &["--dry-run", "--list-only"]);
    let deletes = arguments
        .iter()
        .any(|arg| arg.spelled().starts_with("--del") || arg.spelled().starts_with("--remove-source"));
    let Some(target) = operands(arguments).last().cloned().filter(|_| !dry) else { return };
    let place = walk.places().of(&target.value);
    if deletes {
        let moves = arguments.iter().any(|arg| arg.spelled().starts_with("--remove-source"));
        let sources: Vec<Place> = operands(arguments).map(|arg| walk.places().of(&arg.value)).collect();
        for place in if moves { sources } else { vec![place] } {
            let place = if place == Place::Unknown { Place::PerhapsTop } else { place };
            deleted(walk, place, true, true, spot);
        }
    } else {
        written(walk, place, false, spot);
    }
}

/// A set-uid or set-gid bit. What the owner and the group may do in a folder with a set-gid bit is no other capability: of
/// such a mode only the special bit and what all others may do tells two versions apart.
fn special(walk: &mut Walk<'_>, bits: &str, (line, subject): Spot<'_>) {
    let all_others = bits.strip_prefix('2').filter(|rest| rest.len() == 3).and_then(|rest| rest.get(2..));
    let subject = match all_others {
        Some(others) => subject.replace(bits, &format!("2..{others}")),
        None => subject.to_owned(),
    };
    walk.hit((line, &subject), High, "danger/mode", "it sets a set-uid or set-gid bit");
}

/// A mode with a set-uid, set-gid or sticky bit, as a number or in letters.
fn is_special(bits: &str) -> bool {
    let octal = bits.len() >= 4
        && bits.chars().all(|c| c.is_digit(8))
        && !bits.starts_with('0')
        && !bits.starts_with('1');
    let letters = bits.split(',').any(|part| part.contains('+') || part.contains('='))
        && bits.split(['+', '=']).skip(1).any(|part| part.contains('s'));
    octal || letters
}

fn mode(walk: &mut Walk<'_>, arguments: &[Arg], spot: Spot<'_>) {
    let recursive = has_short(arguments, "R") || has_word(arguments, &["--recursive"]);
    let all: Vec<Arg> = operands(arguments).cloned().collect();
    let by_letters = arguments.iter().any(|arg| {
        arg.spelled().starts_with('-')
            && arg.spelled().chars().skip(1).all(|c| "rwxX".contains(c))
            && arg.spelled().len() > 1
    });
    let bits = if by_letters { String::new() } else { all.first().map(Arg::spelled).unwrap_or_default() };
    if is_special(&bits) {
        special(walk, &bits, spot);
    }
    let open = bits.ends_with(['2', '3', '6', '7']) && bits.chars().all(|c| c.is_ascii_digit())
        || bits.contains("o+w")
        || bits.contains("a+w")
        || bits.contains("o=rw");
    for file in all.iter().skip(usize::from(!by_letters)) {
        let place = walk.places().of(&file.value);
        changed(walk, place, recursive, open, spot);
        if walk.fetched.contains(&file.spelled()) {
            walk.hit(spot, High, "danger/fetched-code", "it makes a file executable that it fetched");
        }
    }
}

fn owner(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let recursive = has_short(arguments, "R") || has_word(arguments, &["--recursive"]);
    let skip = match name {
        "setfacl" => {
            arguments.iter().filter(|arg| matches!(arg.spelled().as_str(), "-m" | "-x" | "-M")).count()
        }
        _ => 1,
    };
    let files: Vec<Arg> = operands(arguments)
        .filter(|arg| !(name == "chattr" && arg.spelled().starts_with(['+', '='])))
        .skip(if name == "chattr" { 0 } else { skip })
        .cloned()
        .collect();
    for file in files {
        let place = walk.places().of(&file.value);
        changed(walk, place, recursive, true, spot);
    }
}

/// Mode, owner or attributes of something are changed.
fn changed(walk: &mut Walk<'_>, place: Place, recursive: bool, opens: bool, (line, subject): Spot<'_>) {
    let danger = match place {
        Place::System | Place::Device | Place::Private | Place::Top => High,
        Place::Home | Place::Outside | Place::Above | Place::PerhapsTop | Place::UnknownList if recursive => {
            High
        }
        Place::Home | Place::Outside | Place::Above => Medium,
        Place::Inside | Place::Guarded | Place::Unknown | Place::Temporary if recursive || opens => Medium,
        _ => Danger::Low,
    };
    if danger > Low {
        walk.hit((line, subject), danger, "danger/mode", "it changes mode, owner or attributes of files");
    }
}
