//! What can be wrong with steps as a whole: names that are not there, circles, outputs that two write.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reach, RetryClass, Step, Task};

/// Something wrong with a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the step, from 0.
    pub step: usize,
    /// The key of the step.
    pub key: &'static str,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Everything that is wrong with a task, in the order of its steps.
#[must_use]
pub fn check(task: &Task) -> Vec<Fault> {
    let known = Names::of(task);
    let mut faults = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut written = BTreeMap::new();
    for (number, step) in task.steps.iter().enumerate() {
        let mut fault = |key, what: String, hint: &str| {
            faults.push(Fault { step: number, key, what, hint: hint.to_owned() });
        };
        if seen.insert(&step.id, number).is_some() {
            fault("id", format!("there are two steps `{}`", step.id), "give each step its own id");
        }
        names(task, &known, step, &mut fault);
        for output in &step.outputs {
            if let Some(other) = written.insert(output, &step.id).filter(|other| **other != step.id) {
                let what = format!("`{other}` and `{}` both write {}", step.id, output.display());
                fault("outputs", what, "let one step write it, or give the other a name of its own");
            }
        }
        if step.reach == Reach::Any && !step.paths.is_empty() {
            let what = format!("`{}` runs on the machine, where paths cannot be held", step.id);
            fault("paths", what, "leave `paths` out, or leave `effects` at \"files\"");
        }
        if step.retry == RetryClass::Transient && step.reach == Reach::Any && !step.idempotent {
            let what = format!("`{}` may not run twice and cannot be tried again", step.id);
            fault("retry", what, "set idempotent = true if it does no harm twice, or leave `retry` out");
        }
    }
    faults.extend(circle(task));
    faults
}

fn names(task: &Task, known: &Names<'_>, step: &Step, fault: &mut impl FnMut(&'static str, String, &str)) {
    for need in &step.needs {
        if known.step(need).is_none() {
            let hint = near(task, need);
            fault("needs", format!("`{}` needs `{need}`, and there is no such step", step.id), &hint);
        } else if known.stands_in_for(need).is_some() {
            let hint = "need the step that it stands in for";
            fault("needs", format!("`{}` needs `{need}`, which only stands in for another", step.id), hint);
        }
    }
    for other in step.when.iter().flat_map(super::When::steps) {
        if !step.needs.iter().any(|need| need == other) {
            let what = format!("`when` of `{}` looks at `{other}`, which it does not need", step.id);
            fault("when", what, &format!("add \"{other}\" to its needs"));
        }
    }
    if let Some(other) = &step.fallback {
        let found = known.step(other);
        if found.is_none() {
            fault("fallback", format!("there is no step `{other}` to fall back to"), &near(task, other));
        } else if other == &step.id {
            fault("fallback", format!("`{other}` cannot stand in for itself"), "name another step");
        }
        let uses = task.steps.iter().filter(|step| step.fallback.as_ref() == Some(other)).count();
        if uses > 1 {
            fault("fallback", format!("`{other}` stands in for two steps"), "give each a step of its own");
        }
    }
}

/// The steps in an order in which each comes after what it needs; without those in a circle.
#[must_use]
pub fn order(task: &Task) -> Vec<&Step> {
    let names = Names::of(task);
    let mut waits: Vec<usize> = Vec::new();
    let mut behind: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, step) in task.steps.iter().enumerate() {
        let before: BTreeSet<&str> = names.before(step).collect();
        waits.push(before.len());
        before.into_iter().for_each(|name| behind.entry(name).or_default().push(number));
    }
    let mut ready: BTreeSet<usize> =
        waits.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(number, _)| number).collect();
    let mut order = Vec::new();
    while let Some(step) = ready.pop_first().and_then(|number| task.steps.get(number)) {
        order.push(step);
        // Of two steps with one name the first counts.
        let is_first = names.step(&step.id).is_some_and(|first| std::ptr::eq(first, step));
        for number in behind.get(step.id.as_str()).into_iter().flatten().filter(|_| is_first) {
            if let Some(waits) = waits.get_mut(*number) {
                *waits -= 1;
                if *waits == 0 {
                    ready.insert(*number);
                }
            }
        }
    }
    order
}

/// The steps by their names, for tasks with many.
pub(super) struct Names<'a> {
    steps: BTreeMap<&'a str, &'a Step>,
    stand_ins: BTreeMap<&'a str, &'a Step>,
}

impl<'a> Names<'a> {
    /// Of a task.
    pub(super) fn of(task: &'a Task) -> Self {
        // The first of a name counts.
        let steps = task.steps.iter().rev().map(|step| (step.id.as_str(), step));
        let firsts = task.steps.iter().rev();
        let stand_ins = firsts.filter_map(|step| Some((step.fallback.as_deref()?, step)));
        Self { steps: steps.collect(), stand_ins: stand_ins.collect() }
    }

    /// A step by its name.
    pub(super) fn step(&self, id: &str) -> Option<&'a Step> {
        self.steps.get(id).copied()
    }

    /// The step that a step stands in for.
    pub(super) fn stands_in_for(&self, id: &str) -> Option<&'a Step> {
        self.stand_ins.get(id).copied()
    }

    /// What must have ended before a step: what it needs, and the step that it stands in for.
    fn before(&self, step: &'a Step) -> impl Iterator<Item = &'a str> {
        let first = self.stands_in_for(&step.id).map(|first| first.id.as_str());
        step.needs.iter().map(String::as_str).filter(|name| self.steps.contains_key(name)).chain(first)
    }
}

fn circle(task: &Task) -> Option<Fault> {
    let ordered: BTreeSet<&str> = order(task).iter().map(|step| step.id.as_str()).collect();
    let (number, first) =
        task.steps.iter().enumerate().find(|(_, step)| !ordered.contains(step.id.as_str()))?;
    let names = Names::of(task);
    let mut way = vec![first.id.as_str()];
    // Every step that is left waits for another one that is left, so this walk ends in the circle.
    while let Some(next) =
        way.last().and_then(|at| names.before(names.step(at)?).find(|name| !ordered.contains(name)))
    {
        if let Some(start) = way.iter().position(|name| *name == next) {
            way.push(next);
            way.drain(..start);
            break;
        }
        way.push(next);
    }
    let what = format!("the steps wait for each other: {}", way.join(" needs "));
    Some(Fault { step: number, key: "needs", what, hint: "take one of these needs out".to_owned() })
}

/// A step whose name is like another name.
fn near(task: &Task, name: &str) -> String {
    let likeness = |other: &str| {
        let same = name.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
        same * 2 + usize::from(name.len().abs_diff(other.len()) <= 2)
    };
    let best = task.steps.iter().map(|step| step.id.as_str()).max_by_key(|other| likeness(other));
    match best.filter(|other| likeness(other) >= 3) {
        Some(other) => format!("did you mean `{other}`?"),
        None => "look at the ids of the steps".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(steps: &[(&str, &[&str])]) -> Task {
        let step = |(id, needs): &(&str, &[&str])| Step {
            id: (*id).to_owned(),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            ..Step::default()
        };
        Task { id: "t".to_owned(), steps: steps.iter().map(step).collect(), ..Task::default() }
    }

    fn told(task: &Task) -> Vec<String> {
        check(task).into_iter().map(|fault| format!("{} {}: {}", fault.step, fault.key, fault.what)).collect()
    }

    #[test]
    fn a_circle_is_named_as_a_circle_and_not_with_what_hangs_on_it() {
        let task = task(&[("z", &["a"]), ("a", &["c"]), ("b", &["a"]), ("c", &["b"]), ("d", &[])]);
        assert_eq!(told(&task), ["0 needs: the steps wait for each other: a needs c needs b needs a"]);
        assert_eq!(order(&task).iter().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["d"]);
    }

    #[test]
    fn missing_and_double_names_and_outputs_are_told() {
        let mut task = task(&[("read", &["raed"]), ("read", &[]), ("write", &["read"])]);
        for step in &mut task.steps {
            step.outputs = vec!["out".into()];
        }
        assert_eq!(
            told(&task),
            [
                "0 needs: `read` needs `raed`, and there is no such step",
                "1 id: there are two steps `read`",
                "2 outputs: `read` and `write` both write out",
            ]
        );
        assert_eq!(check(&task).first().unwrap().hint, "did you mean `read`?");
    }

    #[test]
    fn a_stand_in_comes_after_what_it_stands_in_for() {
        let mut task = task(&[("cache", &[]), ("fetch", &[])]);
        task.steps.last_mut().unwrap().fallback = Some("cache".to_owned());
        assert_eq!(order(&task).iter().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["fetch", "cache"]);
        assert_eq!(told(&task), Vec::<String>::new());
        task.steps.last_mut().unwrap().fallback = Some("cash".to_owned());
        assert_eq!(told(&task), ["1 fallback: there is no step `cash` to fall back to"]);
    }
}
