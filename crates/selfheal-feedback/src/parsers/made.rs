//! Places that stand on another line than the message: make names the line of the recipe after what went wrong in it,
//! docker build the line of the Dockerfile.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use super::{Found, Line, Spot};
use crate::template::unquote;

/// Gives findings that name no place the place that a line after them names.
pub fn place(lines: &[Line<'_>], found: &mut [Found]) {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut from = 0;
    // docker names the place before it says what is wrong there.
    let mut waits: Option<(usize, Spot)> = None;
    for line in lines {
        if let Some(folder) = entered(line.text) {
            folders.push(folder);
        } else if line.text.contains(": Leaving directory ") {
            folders.pop();
        } else if let Some(spot) = recipe(line.text, folders.last()).or_else(|| dockerfile(line.text)) {
            let here =
                found.iter_mut().filter(|one| one.order >= from && one.order < line.order || own_line(one));
            let mut used = false;
            for one in here.filter(|one| one.order >= from && (one.spots.is_empty() || own_line(one))) {
                one.spots.clear();
                one.spots.push(spot.clone());
                used = true;
            }
            if !used {
                waits = Some((line.order, spot));
            }
            from = line.order + 1;
        }
    }
    if let Some((order, spot)) = waits
        && let Some(next) = found.iter_mut().find(|one| one.order > order && one.spots.is_empty())
    {
        next.spots.push(spot);
    }
}

/// Whether a finding is make's own line about a step, whose file is told without its folder.
fn own_line(found: &Found) -> bool {
    matches!(found.fault, Fault::SilentExit { .. }) && found.text.contains("*** [")
}

/// `make[1]: Entering directory '/x'`.
fn entered(text: &str) -> Option<PathBuf> {
    let (_, folder) = text.split_once(": Entering directory ")?;
    Some(PathBuf::from(unquote(folder.trim())))
}

/// `make[1]: *** [Makefile:3: build] Error 127`.
fn recipe(text: &str, folder: Option<&PathBuf>) -> Option<Spot> {
    let (tool, rest) = text.split_once(": *** [")?;
    tool.contains("make").then_some(())?;
    let (place, _) = rest.split_once("] ")?;
    let (place, _) = place.split_once(": ")?;
    let (file, line) = place.rsplit_once(':')?;
    let file = folder.map_or_else(|| PathBuf::from(file), |folder| folder.join(Path::new(file)));
    Some(Spot::new(file, line.parse().ok().filter(|line| *line > 0)?))
}

/// `Dockerfile:3` on a line of its own, as the builder writes it above the lines that it shows.
fn dockerfile(text: &str) -> Option<Spot> {
    let (file, line) = text.trim().rsplit_once(':')?;
    let base = file.rsplit('/').next()?;
    let named = base == "Dockerfile" || base == "Containerfile" || base.ends_with(".Dockerfile");
    (named && !file.contains(' ')).then(|| Some(Spot::new(file, line.parse().ok()?))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_is_the_place_of_what_went_wrong_in_it() {
        // GNU make 4.3.
        let text = "make[1]: Entering directory '/j/lib'\nmake[1]: nosuch: No such file or directory\nmake[1]: *** [Makefile:3: build] Error 127\nmake[1]: Leaving directory '/j/lib'\nmake: *** [Makefile:2: all] Error 2\n";
        let found = super::super::read_text(text);
        assert_eq!(found[0].fault, Fault::CommandNotFound { name: "nosuch".into() });
        assert_eq!(found[0].spots, [Spot::new("/j/lib/Makefile", 3)]);
    }
}
