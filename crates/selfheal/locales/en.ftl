# Everything selfheal says to people. The same ids, in the same order, stand in zh.ftl; a test holds that.

lines = { $n ->
    [one] { $n } line
   *[other] { $n } lines
}

# What is being done
progress-examine = finding out why it failed
progress-diagnose = looking for a repair, round { $round }
progress-model = asking the model, round { $round }
progress-verify = trying in a box: { $what }
progress-wait = waiting { $seconds } s before the next try
progress-install = fetching in a box: { $what }

# The story
story-failed = { $command } failed with { $how } (incident { $id })
story-failed-by = { $command } failed: { $how } (incident { $id })
story-retried = { $command } failed, was run again and succeeded in { $seconds } s (incident { $id })
story-repair = { $n ->
    [one] { $n } line
   *[other] { $n } lines
}, risk { $risk }, by { $source }
story-more = … and { $n } more; all of it: selfheal show ID --patch
story-proof = { $passed } of { $n } checks passed in a box ({ $rung })
label-where = where
story-line-of-command = line { $line } of the command: { $command }
label-error = error
label-why = why
label-repair = repair
label-proof = proof
label-done = done
label-undo = undo
label-next = next
label-held = held
label-tried = tried
label-guess = best guess
label-risk = risk
label-job = job
label-when = when
label-until = until
label-changes = changes
label-effect = in box
label-guard = guard
label-blank = { "" }
label-note = note
label-hint = hint

# What a job that goes on waits for
waits-answer = the job waits: { $process } wants an answer at a terminal: { $asked }
waits-terminal = the job waits: { $process } wants somebody to type at a terminal
waits-question = the job seems to wait for an answer: { $asked }

# When the job runs already
overlap-skipped = { $command } still runs from before; this run was skipped
overlap-too-late = { $command } still runs from before although its deadline has passed; it was not started again

# How it ended
end-healed = applied and run again: exit code { $code } in { $seconds } s
end-healed-not-rerun = applied; not run again, the next run uses it (exit code now { $code })
end-retried = run again and succeeded
end-held = nothing was changed: the repair is ready and waits for you
end-failed = nothing was changed: no repair was found
end-suspended = nothing was changed: it may pass by itself, but has not yet
end-handed_over = a person is needed here; no edit of the job can help, or it was taken back
end-refused = nothing was changed: the repair was refused
end-limit = nothing was changed: a limit was reached
end-error = selfheal itself could not go on; the job's own exit code is kept
end-succeeded = it succeeded
end-negative = the exit code is an answer

# Why a person must decide
hold-edited-just-now = the file was edited in the last 30 minutes
hold-deployed-tree = the file is in a git tree that a machine deploys
hold-package-owned = the file belongs to a package
hold-managed = the file says that another tool manages it
hold-network-file-system = the file is on a network file system
hold-writable-by-others = somebody else can write the file
hold-changes-meaning = the repair changes what is read or computed
hold-goes-round = it takes back what an earlier repair of this job did, or turns at a value that was changed over and over
hold-tie = two repairs of the same size work, and they do different things
hold-preview = the rule behind it is in preview; [rules] promote in the settings lets it act
hold-changed-rule = an upgrade changed or brought the rule behind it; selfheal rules accept lets it act
hold-missing-mount = it needs a folder on a mount point that is not mounted
hold-suddenly-empty = an input folder is empty that never was before
hold-general-knowledge = it rests on general knowledge and not on the project ([policy] general-knowledge says who decides then)
hold-installs = the settings ask a person before packages are put in ([repair] install = "ask")
hold-inconclusive = it could not be tried here
hold-unjudged = it could not be judged

# Risks
risk-low = low
risk-medium = medium
risk-high = high

# Notes
note-taken-back = the repaired job failed for real; its files are back as they were
note-file-changed = the file was changed by somebody while its repair was tried; it is left as they made it
note-daily-limit = { $n } repairs were applied by policy today already; this one waits
note-storm = several jobs fail from this cause at once; nothing is tried until it is gone (people were told with incident { $id })
note-picture-not-sent = a picture that the job made is not sent to { $model }: secrets cannot be taken out of it (send = "data" allows that)
note-waiting = a repair for this failure waits already: selfheal approve { $id }
note-breaker = this job ended so { $n } times in a row; nothing more is tried until it succeeds once or a repair is approved
note-spent-output = it was not run again: it had already written to a pipe or file (use --stdout final)
note-spent-input = it was not run again: its input cannot be read twice
note-not-repeatable = it was not run again: { $why } (selfheal run --repeatable says that it may)
note-proposal-changes-nothing = the given proposal changes nothing: the job has these files already
note-proposal-not-needed = the job did not fail, so the given proposal was not needed
note-unusual = unusual: { $what }
note-left-running = still running in the background when the job had ended: { $what }
note-left-running-more = still running in the background when the job had ended: { $what } and { $more } more
note-failed-again = the repair of incident { $id } did not last; its files are back as they were
note-elsewhere = it failed on { $host }: reported, tried again if it may be, its surroundings here compared; nothing is edited there
note-program = it is a program, not a script: reported, tried again if it may be, its surroundings compared; there is nothing to edit
note-told-to-end = selfheal was told to end (signal { $signal }) while it worked on this; what it had not begun is left as it was
hint-declared = { $place } declares { $what }, which is not there; install = "ask" under [repair] in your settings lets selfheal bring it
hint-allowed = { $place } declares { $what }, which is not there; by hand:
hint-left = { $place } declares { $what }, which is not there and which selfheal does not bring: { $why }
hint-undeclared = { $what } has it; no file of the project declares that, so it is never brought
note-install-failed = { $tool } did not bring { $what }: { $why }
note-no-box = no box can be built on this machine, so nothing was tried: { $why }

# Surroundings
env-path-lacks-last-good = PATH lacks { $folder }, where { $command } is; the last good run had it
env-path-lacks-login = PATH lacks { $folder }, where { $command } is; a login shell has it
env-not-set-last-good = { $name } is not set; in the last good run it was { $there }
env-not-set-login = { $name } is not set; in a login shell it is { $there }
env-differs-last-good = { $what } is { $here }; in the last good run it was { $there }
env-differs-login = { $what } is { $here }; in a login shell it is { $there }
env-locale-last-good = the locale is { $here }; in the last good run it was { $there }
env-locale-login = the locale is { $here }; in a login shell it is { $there }
env-no-terminal-last-good = there is no terminal; the last good run had one
env-no-terminal-login = there is no terminal; a login shell has one
env-what-folder = the folder
env-what-user = the user's number
env-what-umask = the umask
env-what-locale = the locale
env-what-terminal = a terminal
env-what-program = the program
env-what-limit = the limit of { $name }
env-run = the run of { $started }, exit code { $code }
env-from-last-good = compared with the last good run, of { $started }:
env-from-login = compared with a login shell:
env-no-last-good = no good run is recorded to compare with
env-no-login = the login shell did not answer in time
env-nothing = nothing is different
env-absent = (not there)
env-more = … and { $n } more: --all

# Questions
ask-apply = Apply this repair (risk { $risk }) and run the job again? [y/N]
ask-policy-low = Apply proved repairs of low risk when nobody is there? [Y/n]
ask-policy-medium = And those of medium risk? [y/N]
ask-model = Base URL of an OpenAI-compatible model server (empty for none):
ask-model-name = The model's name there:
ask-notify = A program to tell you, with the message on its standard input (empty for none):
ask-timer = Install a timer that runs `selfheal tick` every 10 minutes? [y/N]

# Messages
message-held = selfheal: a repair for { $command } waits for you
message-healed = selfheal: { $command } was repaired
message-failed = selfheal: { $command } failed and could not be repaired
message-suspended = selfheal: { $command } keeps failing for a reason that may pass
message-handed_over = selfheal: { $command } needs a person
message-rolled_back = selfheal: the repair of { $command } did not last; its files are back as they were
message-refused = selfheal: a repair for { $command } was refused
message-limit = selfheal: { $command } failed, and a limit was reached
message-error = selfheal: { $command } failed, and selfheal could not go on
message-slow = selfheal: { $command } has been running for { $taken } s
message-slow-why = That is more than three times the longest of its { $runs } good runs, { $longest } s. It goes on until its deadline.
message-approve = Approve with: selfheal approve { $id }
message-approve-until = Approve before { $until } with: selfheal approve { $id }
message-look = Look at it first with: selfheal show { $id } --patch
message-storm = selfheal: { $n } jobs failed from one cause within ten minutes
message-storm-why = Something that they share is broken. Healing stops for this cause; mend that first.
message-several = selfheal: { $n ->
    [one] { $n } message
   *[other] { $n } messages
}
message-more = … and { $n } more: selfheal incidents
message-test = selfheal on { $host } can reach you here
message-test-text = This is a test: selfheal notify test. Nothing is wrong.
undelivered = { $n ->
    [one] { $n } message was
   *[other] { $n } messages were
} never taken by { $channel }: { $why }
expired-unanswered = incident { $id }: nobody answered in time; the repair expired and nothing was changed
expired-changed = incident { $id }: its file was changed meanwhile; the repair expired and nothing was changed
message-show = See more with: selfheal show { $id }

# Other commands
recovered = incident { $id }: its process ended while { $was }; now { $now }
frozen = selfheal is frozen: every job runs bare until `selfheal thaw`
thawed = selfheal is thawed
undone = { $n ->
    [one] { $n } file is
   *[other] { $n } files are
} back as before incident { $id }
undone-force = what was in place is saved; bring it back with: selfheal redo { $id }
undo-clash = { $path } was changed since the repair:
undo-side-repair = as the repair left it
undo-side-before = before the repair
undo-side-now = now
redone = { $n ->
    [one] { $n } file is
   *[other] { $n } files are
} again as the repair of incident { $id } made them
approved = incident { $id }: applied; the next run uses it. Take it back with: selfheal undo { $id }
knowledge-none = nothing was added; what lies beside a job is read all the same
knowledge-documents = { $n ->
    [one] 1 document
   *[other] { $n } documents
}
knowledge-nothing-fits = nothing fits
knowledge-read = { $n ->
    [one] 1 document read
   *[other] { $n } documents read
}
knowledge-same = { $n } unchanged
knowledge-gone = { $n } gone
knowledge-left-out = left out: { $what }
knowledge-binary = { $n } not text
knowledge-secret = { $n } that hold secrets
knowledge-links = { $n } links
knowledge-special = { $n } special files
knowledge-unreadable = { $n } unreadable
knowledge-beyond = { $n } beyond the limits
knowledge-cut = there are too many names: not all were looked at
knowledge-missing = { $path } cannot be reached; what was read of it before stays
memory-none = nothing is remembered yet
memory-forgotten = { $id }: forgotten
memory-imported = { $n } remembered repairs taken over; each is proved again before it is used
memory-line = won { $wins }, lost { $losses }, learnt { $when }
memory-expired = not used any more: { $why }
stats-none = nothing has been counted yet
stats-incidents = incidents: { $list }
stats-makers = repaired by: { $list }
stats-counts = what was right, by class of failure and command:
rejected = incident { $id }: rejected; nothing was changed
noted = incident { $id }: noted; selfheal show { $id } and the report tell it
review-title = selfheal review: { $n ->
    [one] { $n } repair waits
   *[other] { $n } repairs wait
}
review-marked = , { $n } marked
review-none = Nothing waits for a decision.
review-keys = a approve  r reject  e edit  space mark  enter page  ? help  q leave
review-confirm = Apply { $n ->
    [one] { $n } repair
   *[other] { $n } repairs
}? y/n
review-reason = Reject { $n }; why? (enter rejects, esc goes back)
review-changed = A file was changed since the repair was made: it cannot be applied; run the job again.
review-approved = { $n } applied
review-rejected = { $n } rejected
review-trying = trying the edited repair in a box …
review-not-edited = nothing was edited
review-edit-passed = the edited repair passed and took the place of the old one; a applies it
review-edit-failed = the edited repair was not taken: { $why }
review-fails-no-more = the job does not fail any more here, so no repair can be shown to help
review-enter = Press enter to go back.
review-help-1 = up down, j k    go through what waits (or the page, when it has the whole screen)
review-help-2 = PgUp PgDn Home End   go through the page
review-help-3 = enter, tab      give the page the whole screen, or take it back
review-help-4 = space           mark; a and r then take all that are marked
review-help-5 = a               apply, after a question; nothing is run
review-help-6 = r               reject, with the reason
review-help-7 = e               edit the repaired files ($VISUAL, $EDITOR); they are judged and tried again
review-help-8 = q, esc, Ctrl-C  leave; what was not decided waits on
report-title = selfheal on { $host }: { $since } to { $until }
report-overview = Overview
report-failures = failures
report-healed-by = repaired by { $tier }
report-retried = passed when run again
report-was-held = wait for a decision
report-was-failed = not repaired
report-was-suspended = keep failing for a reason that may pass
report-was-handed-over = handed over to a person
report-was-refused = refused
report-was-limit = stopped at a limit
report-was-error = selfheal could not go on
report-was-rolled-back = repaired and taken back
report-was-expired = expired before somebody decided
report-was-succeeded = succeeded
report-was-negative = an answer
report-was-healed = repaired, not watched yet
report-rounds = rounds to a repair, on average
report-saved = time saved (estimate)
report-hours = { $hours } h
report-saved-how = The estimate counts { $repair } minutes of a person for each repair and { $retry } for each failure that passed when run again.
report-tokens = tokens of models
report-cost = cost of models, by the prices set
report-models = What models took
report-model = { $n ->
    [one] 1 call
   *[other] { $n } calls
}, { $tokens } tokens, cost { $cost }
report-no-price = Where no price is set the cost counts as 0: [model] price-in and price-out.
report-undelivered = messages that nobody took
report-waiting = What waits for a decision
report-would = What would have been applied had it been allowed
report-allow = To let such repairs be applied from now on:
report-proof = { $passed } of { $made } checks passed, risk { $risk }, now { $state }
report-again = What comes again and deserves a real fix
report-times = { $n } times
report-notes = What people noted
report-chart-days = Failures by day
report-chart-tiers = Who healed
report-is-healed = healed
report-is-waiting = waits
report-is-failed = not healed
tier-rule = rules
tier-memory = memory
tier-model = a model
tier-given = a person
tier-retry = running again
allowed = { $job }: proved repairs up to risk { $risk } are applied unattended
allowed-none = { $job }: repairs wait for a person
audit-good = the record is whole: { $n ->
    [one] { $n } entry
   *[other] { $n } entries
}
audit-compared = compared with the log: { $n } heads agree, { $others } are of other records
audit-reset = a new record is begun; the old one is kept in { $file }
rules-accepted = may act
rules-preview = in preview: what it proposes waits for a person
rules-off = off in the settings
rules-new = new since an upgrade: what it proposes waits until it is accepted
rules-changed = changed by an upgrade: what it proposes waits until it is accepted
rules-accepted-now = { $n ->
    [0] nothing is to be accepted
    [one] 1 rule is accepted: { $names }
   *[other] { $n } rules are accepted: { $names }
}
gc-would = would go, older than { $days } days: { $incidents } incidents, { $runs } runs, { $messages } messages, { $files } files; { $mib } of { $size } MiB
gc-done = gone, older than { $days } days: { $incidents } incidents, { $runs } runs, { $messages } messages, { $files } files; { $mib } of { $size } MiB
gc-daily = { $n } old incidents dropped
no-incidents = no incidents
tick-done = { $messages } delivered, { $confirmed } confirmed, { $recovered } recovered
init-written = written: { $file }
init-timer = timer installed: selfheal tick runs every 10 minutes
demo-folder = The example is in { $folder }; it is removed at the end, with everything selfheal noted about it.
demo-job = A backup job from a crontab. It worked for months; today the log folder is empty and the backup folder is gone:
demo-run = selfheal run --apply low -- bash backup.sh
demo-end = The same with a job of yours: selfheal run -- COMMAND

# Cron
cron-wrapped = wrapped
cron-bare = not wrapped
cron-unknown-line = is nothing that cron understands
cron-none = no jobs of cron were found
cron-left = line { $line } stays as it is: { $why }
cron-not-wrapped-already = selfheal is in front of it already
cron-not-wrapped = selfheal is not in front of it
cron-not-shell = the SHELL of its table does not quote like sh
cron-not-program = it starts no program
cron-not-long = it would be longer than cron takes
cron-not-reversible = it could not be put back byte for byte
cron-nothing = nothing to change
cron-preview = nothing was changed yet; add --write to write it
cron-written = { $n ->
    [one] { $n } job
   *[other] { $n } jobs
} written

# Survey
survey-label-runs = runs
survey-label-try = box
survey-label-seen = seen
survey-label-advice = do
survey-try-yes = could be tried
survey-try-no = not as it is: { $why }
survey-block-rights = { $what } needs rights that a box does not have
survey-block-remote = { $what } works on another machine
survey-block-daemon = { $what } talks to a daemon
survey-block-network = { $what } needs the network
survey-block-database = { $what } talks to a database
survey-block-missing = { $what } is not there
survey-block-unreadable = { $what } cannot be read
survey-block-binary = { $what } is a binary
survey-seen-selfheal = yes: selfheal records it, as selfheal incidents shows
survey-seen-mail = yes: cron mails what it prints to { $place }
survey-seen-no-mail = no: MAILTO is empty
survey-seen-no-mailer = no: cron would mail it to { $place }, but this machine has no sendmail
survey-seen-discarded = no: its errors go to /dev/null
survey-seen-file = no: its errors go to { $place } only
survey-seen-log = no: its output goes to the system log only
survey-seen-masked = no: it ends well whatever happens
survey-seen-handler = yes: { $place } is started
survey-seen-journal = no: only the journal of { $place } has it
survey-advice-none = nothing
survey-advice-missing = mend the path; it fails every time
survey-advice-unmask = take away what hides its exit code, then wrap it
survey-advice-wrap = { $command }
survey-advice-wrap-report = { $command } (failures are told, and retried where that can help; repairs cannot be tried)
survey-advice-unit = { $command } – put selfheal run -- in front of ExecStart, or set OnFailure=
survey-advice-periodic = start it from a line in /etc/cron.d, and wrap that line
survey-label-missed = missed
survey-missed = a run was due at { $when }; none was recorded
survey-advice-due = look whether cron runs, and whether the machine was on then
message-missed = selfheal: { $job } was due at { $when } and did not run
message-missed-next = The line is in { $place }. Look whether cron runs, and whether the machine was on then.
survey-sum = { $n } jobs: { $wrapped } wrapped, { $tried } could be tried in a box, { $unseen } would fail unseen

# Check
check-danger = danger { $danger }, { $n ->
    [one] { $n } finding
   *[other] { $n } findings
} in { $files } files
check-masked = the change hides a failure
check-not-masked = the change hides no failure; its risk is { $risk }
check-unjudged = something could not be judged; a person must look at it

# Trying
try-ran = the command ended with exit code { $code } in { $seconds } s; this is what it did in the box
try-doubt = the box may be the reason for how it ended: { $why }
try-network = it tried to use a network, which the box does not have
try-created = created
try-created-folder = created folder
try-changed = changed
try-appended = appended to
try-attributes = changed mode, owner or times of
try-deleted = deleted
try-remark-not_a_file = no file; it is not put in place
try-remark-several_names = has several names; it is rewritten in place
try-remark-rights_left_out = setuid, setgid or capabilities are left out
try-more = … and { $n } more; all of them: --json FILE
try-left-out = { $n } others are not shown
try-sum = { $created } created, { $changed } changed, { $deleted } deleted
try-nothing = nothing was changed
try-ask = Put it in place? [a]ll, [s]ome, [l]ater, or throw it away [N]
try-ask-which = Which paths? Paths or patterns, one a line; an empty line ends:
try-ask-more = { $n } found; more:
try-thrown-away = thrown away; nothing was changed
try-kept = kept. Put it in place with: selfheal try --commit { $id }
try-committed = { $n ->
    [one] { $n } path is
   *[other] { $n } paths are
} in place. Take it back with: selfheal undo { $id }
try-not-committed = not put in place: { $why }
try-not-committed-failed = not put in place: the command failed
try-none-below = nothing was done at or below these paths
try-hint-kept = what the command did is kept: selfheal try --show { $id }
try-none = nothing is kept
try-dropped = { $id }: thrown away
try-line = { $id } { $when } { $state } { $command }
try-state-kept = kept
try-state-committed = in place
try-state-undone = undone
try-undone = { $n ->
    [one] { $n } path is
   *[other] { $n } paths are
} back as before { $id }
try-redone = { $n ->
    [one] { $n } path is
   *[other] { $n } paths are
} again as { $id } made them
try-recovered = what was being put in place when a process died is in place now; take it back with: selfheal undo { $id }
try-recovered-back = what was being taken back when a process died is back as it was ({ $id })
try-recovered-not = what was being changed when a process died is all as it was before ({ $id })
transaction-network = the job tried to use a network, which a transaction cannot take back; --transaction=files-only goes on without
transaction-mail = the job sends mail ({ $command }), which a transaction cannot take back; --transaction=files-only goes on without
transaction-doubt = the box may be the reason for how the job ended: { $why }
transaction-refused = refused, nothing was changed: { $why }
transaction-committed = { $n ->
    [one] { $n } path was
   *[other] { $n } paths were
} put in place; take it back with: selfheal undo { $id }

# Tasks
task-step-started = step { $step }: started
task-step-succeeded = step { $step }: done in { $seconds } s
task-step-negative = step { $step }: the answer is no (exit code { $code }) in { $seconds } s
task-step-failed = step { $step }: failed with exit code { $code } after { $seconds } s: { $why }
task-step-cancelled = step { $step }: ended after { $seconds } s because the task was told to end
task-step-skipped = step { $step }: not needed
task-step-blocked = step { $step }: not run
task-step-handed-over = step { $step }: may have done its work; a person must say
task-step-healed = (healed: { $summary }; incident { $id })
task-step-again = (well when it ran again; incident { $id })
task-step-waits = step { $step }: { $text }
task-end-succeeded = task { $task } is done in { $seconds } s (run { $run })
task-end-failed = task { $task } failed after { $seconds } s (run { $run })
task-end-handed-over = task { $task } needs a decision (run { $run })
task-end-cancelled = task { $task } was told to end after { $seconds } s (run { $run })
task-end-timed-out = task { $task } did not end by its deadline (run { $run })
task-which = { "  " }step { $step }
task-what = { "  " }  what went wrong: { $text }
task-reason = { "  " }  probable reason: { $text }
task-do = { "  " }  what to do: { $text }
task-output = { "  " }  its output: { $path }
task-approve = { "  " }  a proved repair waits: selfheal approve { $id }
task-decide = { "  " }  it may have done its work or a part of it and is not repeated unasked: look, then add --done { $step } or --again { $step } to the line below
task-left = { "  " }left behind: { $path }
task-resume = { "  " }to go on from there: selfheal task resume { $run }
task-cleanup-failed = { "  " }cleaning up did not work: { $what }: { $why }
task-waits = waiting for { $what }, held by { $who } since { $since }
task-busy = { $what } is held by { $who } since { $since }
task-somebody = somebody
task-stale-lock = { $what } was still marked as held by { $who } since { $since }, which is gone; taken over
task-broken-off = an earlier run { $run } of this task was broken off at: { $steps }
task-half-written = { "  " }left behind, may be half written: { $path }
task-temp-removed = { "  " }the temporary folder of that run is removed: { $path }
task-temp-stays = the temporary folder of run { $run } could not be removed: { $why }
task-still-works = step { $step } of the run that was broken off still works (process { $process }); waiting for its end
task-changed = the task file changed since the run began: { $what }
task-changed-step = changed: { $step }
task-changed-new = new: { $step }
task-changed-gone = gone: { $step }
task-changed-ended = step { $step } was changed after it had ended, and is not run again
task-changed-ask = Go on with the changed file?
task-input-missing = { $path } is not there, which it reads
task-output-missing = { $path }, which step { $step } had written, is not there any more
task-network = it tried to use a network, which a step in a box has none of: set effects = "any" if it must
task-outside = it wrote to { $path }, which is none of its paths; nothing was put in place
task-doubt = the box may be the reason for how it ended: { $why }; set effects = "any" to run it on the machine
task-no-box = step { $step } ran on the machine, because there was no box for it: { $why }
task-not-apart = a step shared more with the machine than it should: it could not { $why }
task-swept = ended with the step, because it has processes of its own (isolation = "shared" lets them live): { $what }
task-hint-processes = it sees no processes but its own; if it must reach others of the machine, set isolation = "shared"
task-hint-temp = it names something in /tmp that is there on the machine and not in the /tmp of this task; if it must see that, set isolation = "shared"
task-shares-temp = the task uses the /tmp of the machine, since it names { $what }
task-no-own-temp = the task uses the /tmp of the machine: { $why }
task-shares-processes = step { $step } shares the processes of the machine: it names { $what }
task-repair-in-copy = step { $step } was repaired for this run only; put the change into the task file, or into a script of its own: selfheal show { $id }
task-told-to-end = it was told to end
task-step-late = it did not end within { $seconds } s
task-ended-with = it ended with exit code { $code }
task-step-died = its process ended without a result
task-valid = { $file }: task { $task }, { $n ->
    [one] { $n } step
   *[other] { $n } steps
}: good
task-cancel-told = run { $run } of task { $task } was told to end
task-cancel-closed = run { $run } of task { $task } is closed; nobody worked on it
task-cancel-over = run { $run } of task { $task } is over: { $stage }
task-none = no task was run yet
task-damaged = the state of run { $run } cannot be used, so nobody knows how far it got: { $why }
task-make-room = make room on the disk, then go on: nothing that was noted is lost
task-kept = task { $task } is kept as far as it got: selfheal task resume { $run }
task-lets-end = nothing more is begun; what runs is waited for: { $steps }
task-waited-in-vain = it was told to end while it waited: { $why }
task-folder-gone = { $path }, the folder of this run, was removed while it ran, and is made again
task-no-folder = the folder of the task file, { $path }, is not there any more
task-put-it-back = put it back where it was
task-output-cut = its output was { $bytes } bytes: its file holds the first { $kept } and the end (step-output under [limits])
task-left-running = it left { $command } running (process { $process })
task-box-full = what it did in its box found no room, and nothing of it was put in place: { $why }
task-script-waits = its script was written and waits for a look: selfheal write --show { $id }, then selfheal write --keep { $id }
write-ask = Keep this script?
write-waits = nothing was changed: the script waits; keep it with selfheal write --keep { $id }
write-kept = kept as { $path }
write-kept-step = kept: the step runs it from now on; go on with selfheal task resume
