//! The script of a step that only states a need: one that was kept before, or a new one, which is run at once only where
//! that is allowed.

use selfheal_core::ports::Clock;
use selfheal_core::task::{StepOutcome, StepResult, Work};

use super::{News, StepOrder};
use crate::cli::ApplyUpTo;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::tasks::read::digest;
use crate::tasks::told::TaskView;
use crate::tasks::writing::{self, Need, Record, Standing};

/// The order with a script that may be run; else the result of the step.
pub(super) fn script_for(
    context: &Context,
    order: StepOrder,
    need: &str,
    language: &str,
) -> Result<(StepOrder, News), Box<StepResult>> {
    let id = digest(&(need, language, &order.context.task, &order.context.step, &order.folder));
    let known = Record::find(context, &id).ok();
    let (record, news) = match known {
        Some(record) => (record, News::default()),
        None => written(context, &order, id, (need, language))
            .map_err(|error| failed(context, &error.one_line()))?,
    };
    let text = record.written.script.clone();
    if record.standing == Standing::Kept {
        let mut order = order;
        order.step.work = Work::Script { language: language.to_owned(), text };
        return Ok((order, news));
    }
    let short = crate::drafts::short(&record.id);
    let why = context.texts().say("task-script-waits", &[("id", short)]);
    let (decisions, issues) = news;
    Err(Box::new(StepResult { decisions, issues, ..*failed(context, &why) }))
}

fn failed(context: &Context, why: &str) -> Box<StepResult> {
    let why = Some(context.redactor().text(why).as_str().to_owned());
    let plain = StepResult::plain(StepOutcome::Failed, crate::exit_code::NOT_STARTED);
    Box::new(StepResult { why, repeatable: true, ..plain })
}

/// Has it written, and keeps it at once where the policy allows as much.
fn written(
    context: &Context,
    order: &StepOrder,
    id: String,
    (need, language): (&str, &str),
) -> Result<(Record, News), CommandError> {
    let view = TaskView::read(&order.context.state, &order.context.step, &context.redactor())
        .map_err(|error| CommandError::new("failed to read the state of the task").because(&error))?;
    let wanted =
        Need { need, language, folder: &order.folder, outputs: &order.step.outputs, task: Some(&view) };
    let written = writing::write(context, &id, &wanted)?;
    let news = written.state_update.as_ref().map(|update| update.news(&view)).unwrap_or_default();
    let allowed = [ApplyUpTo::Low, ApplyUpTo::Medium]
        .into_iter()
        .find(|apply| order.apply.as_deref() == Some(apply.word()))
        .is_some_and(|apply| written.is_within(apply));
    let record = Record {
        id,
        need: need.to_owned(),
        language: language.to_owned(),
        folder: order.folder.clone(),
        at: context.clock.now(),
        standing: if allowed { Standing::Kept } else { Standing::Waits },
        written,
    };
    record.store(context)?;
    Ok((record, news))
}
