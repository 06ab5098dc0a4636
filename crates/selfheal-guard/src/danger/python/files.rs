//! Files in Python programs: what deletes, moves, opens or walks over them.

use selfheal_core::admission::Danger::{High, Medium};
use selfheal_syntax::python::Call;
use selfheal_syntax::values::Piece;

use super::Judge;
use crate::danger::shell::places::Place;

impl Judge<'_> {
    pub(super) fn deletes(&mut self, line: u32, place: Place, tree: bool, subject: &str) {
        let danger = match place {
            Place::OwnTemporary | Place::Nothing => return,
            Place::Inside | Place::Temporary | Place::Guarded | Place::Unknown => Medium,
            Place::PerhapsTop => {
                if tree {
                    High
                } else {
                    Medium
                }
            }
            _ => High,
        };
        self.hit((line, subject), danger, "danger/delete", "it deletes files");
    }

    pub(super) fn moves(&mut self, call: &Call, subject: &str) {
        let which = if call.resolved.starts_with("os.ch")
            || call.resolved.contains("mk")
            || call.resolved == "shutil.chown"
        {
            call.arguments.first()
        } else {
            call.arguments.get(1)
        };
        let value = which.map(|argument| self.value(argument)).unwrap_or_default();
        let place = self.place(&value);
        let taken = matches!(call.resolved.as_str(), "shutil.move" | "os.rename" | "os.replace")
            && call.arguments.first().is_some_and(|source| {
                matches!(
                    self.place(&self.value(source)),
                    Place::System | Place::Private | Place::Home | Place::Top
                )
            });
        if taken
            || matches!(
                place,
                Place::System | Place::Device | Place::Private | Place::Top | Place::Home | Place::Above
            )
        {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it changes files outside of the job's folder",
            );
        } else if place == Place::Outside
            || matches!(call.resolved.as_str(), "os.replace" | "os.rename" | "shutil.move")
        {
            self.hit((call.line, subject), Medium, "danger/overwrite", "it moves or overwrites files");
        }
        let special = call.resolved == "os.chmod"
            && call.arguments.get(1).is_some_and(|bits| {
                ["0o4", "0o2", "0o6", "S_ISUID", "S_ISGID"].iter().any(|mark| {
                    bits.text.contains(mark) && (bits.text.len() > 5 || bits.text.contains("S_IS"))
                })
            });
        if special {
            self.hit((call.line, subject), High, "danger/mode", "it sets a set-uid or set-gid bit");
        }
    }

    pub(super) fn opens(&mut self, call: &Call, subject: &str) {
        let Some(file) = call.arguments.first() else { return };
        let mode = call
            .arguments
            .get(1)
            .or_else(|| call.keyword("mode"))
            .map(|mode| mode.text.clone())
            .unwrap_or_default();
        let value = if call.resolved == "open"
            || call.resolved.starts_with("io.")
            || call.resolved.starts_with("os.")
        {
            self.value(file)
        } else {
            return;
        };
        let writes = mode.contains(['w', 'a', 'x', '+'])
            || mode.contains("O_WR")
            || mode.contains("O_RDWR")
            || mode.contains("O_TRUNC");
        let place = self.place(&value);
        if place == Place::Private {
            self.hit(
                (call.line, subject),
                High,
                "danger/secrets",
                "it touches keys, passwords or what runs by itself",
            );
        } else if writes
            && matches!(place, Place::System | Place::Device | Place::Top | Place::Home | Place::Above)
        {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it writes to a file of the system or of a person",
            );
        } else if writes && place == Place::Outside {
            self.hit((call.line, subject), Medium, "danger/write", "it writes outside of the job's folder");
        }
    }

    pub(super) fn path_method(&mut self, call: &Call, deletes: bool, subject: &str) {
        let Some(node) = self.module.root().descendant_for_byte_range(call.span.start, call.span.end) else {
            return;
        };
        let Some(object) =
            node.child_by_field_name("function").and_then(|function| function.child_by_field_name("object"))
        else {
            return;
        };
        if self.module.text_of(object) == "os" || self.module.text_of(object) == "shutil" {
            return;
        }
        let value = self.worth(object, 0);
        let known = matches!(value.pieces.first(), Some(Piece::Text(_)))
            || matches!(value.pieces.first(), Some(Piece::Unknown(unknown)) if unknown.name.as_deref() == Some("HOME"));
        let place = self.place(&value);
        if !known {
            return;
        }
        if deletes {
            self.deletes(call.line, place, false, subject);
        } else if matches!(
            place,
            Place::System | Place::Device | Place::Private | Place::Top | Place::Home | Place::Above
        ) {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it writes to a file of the system or of a person",
            );
        }
    }

    /// Whatever is found below a folder outside is deleted, opened up or signalled.
    pub(super) fn walked(&mut self) {
        let walks = ["os.walk", "os.listdir", "os.scandir", "glob.glob", "glob.iglob"];
        let outside = self.module.calls().into_iter().find(|call| {
            let walks = walks.contains(&call.resolved.as_str())
                || matches!(call.callee.rsplit('.').next(), Some("rglob" | "iterdir"));
            let first = call.arguments.first().filter(|_| walks);
            first.is_some_and(|first| {
                let place = self.place(&self.value(first));
                matches!(place, Place::Outside | Place::System | Place::Home | Place::Top | Place::Above)
            })
        });
        let Some(outside) = outside else { return };
        let proc = outside.arguments.first().is_some_and(|first| first.text.contains("/proc"));
        let changes = [
            "os.remove",
            "os.unlink",
            "os.rmdir",
            "shutil.rmtree",
            "os.chmod",
            "os.chown",
            "os.rename",
            "os.truncate",
        ];
        let methods = ["unlink", "rmdir", "chmod", "write_text"];
        for call in self.module.calls() {
            let method = call.callee.rsplit('.').next().unwrap_or_default();
            let changed = changes.contains(&call.resolved.as_str()) || methods.contains(&method);
            if changed || proc && call.resolved == "os.kill" {
                let why = "it changes or signals whatever it finds outside of the job's folder";
                self.hit((call.line, &call.callee), High, "danger/delete", why);
            }
        }
    }
}
