//! Admission: the judgement on a proposal before anything of it runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::proposal::Risk;

/// The danger of one operation in a script. Another thing than a proposal's [`Risk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// Go on.
    Low,
    /// Snapshot, record in detail, go on.
    Medium,
    /// Refused unattended.
    High,
}

/// One reason that the guard has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name: `masking/swallowed-error`.
    pub rule: String,
    /// The file, if it concerns one.
    #[serde(with = "crate::path_text::option", default)]
    pub file: Option<PathBuf>,
    /// The line in the new text, from 1.
    pub line: Option<u32>,
    /// Why, in one sentence.
    pub why: String,
    /// What it means for the proposal.
    pub weight: Weight,
}

/// What a finding means for a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Worth knowing.
    Note,
    /// At least medium risk.
    Medium,
    /// At least high risk.
    High,
    /// Cannot be judged: held for a person.
    Hold,
    /// Refused.
    Refuse,
}

/// A reason to hold a repair that comes from the circumstances of a file, not from the repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Edited by a person in the last 30 minutes. Set aside by `--apply` on the command line.
    EditedJustNow,
    /// In a git tree with a deploy marker. Set aside by `--apply` on the command line.
    DeployedTree,
    /// Owned by a package. Set aside by `--apply` on the command line.
    PackageOwned,
    /// Says that it is managed by another tool.
    Managed,
    /// On a network file system.
    NetworkFileSystem,
    /// Writable by another user than the one who runs it.
    WritableByOthers,
    /// Changes what is read or computed, without earlier good inputs that give the same result.
    ChangesMeaning,
    /// A folder on a mount point that is not mounted now.
    MissingMount,
    /// An input folder that is empty now and was not in earlier good runs.
    SuddenlyEmpty,
    /// A rule that is still in preview had a part in it.
    Preview,
    /// A rule that an upgrade brought or changed had a part in it, and nobody accepted it yet. Set aside by `--apply` on the
    /// command line.
    ChangedRule,
    /// It takes back what an earlier repair of the job did, or turns at a value that was changed over and over.
    GoesRound,
    /// Two repairs of the same size work, and do different things.
    Tie,
    /// The diagnosis rests on general knowledge, and the policy asks a person then.
    GeneralKnowledge,
    /// It brings packages, and the settings ask a person then (`install = "ask"` under `[repair]`).
    Installs,
    /// The repair could not be tried here.
    Inconclusive,
    /// The guard could not judge it.
    Unjudged,
}

impl Hold {
    /// Whether `--apply` given on the command line sets it aside.
    #[must_use]
    pub fn is_circumstance(self) -> bool {
        matches!(self, Self::EditedJustNow | Self::DeployedTree | Self::PackageOwned | Self::ChangedRule)
    }

    /// The stable name used in JSON and as the id of its text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::EditedJustNow => "edited_just_now",
            Self::DeployedTree => "deployed_tree",
            Self::PackageOwned => "package_owned",
            Self::Managed => "managed",
            Self::NetworkFileSystem => "network_file_system",
            Self::WritableByOthers => "writable_by_others",
            Self::ChangesMeaning => "changes_meaning",
            Self::MissingMount => "missing_mount",
            Self::SuddenlyEmpty => "suddenly_empty",
            Self::Preview => "preview",
            Self::ChangedRule => "changed_rule",
            Self::GoesRound => "goes_round",
            Self::Tie => "tie",
            Self::GeneralKnowledge => "general_knowledge",
            Self::Installs => "installs",
            Self::Inconclusive => "inconclusive",
            Self::Unjudged => "unjudged",
        }
    }
}

/// The judgement on a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The risk: the higher of the maker's and the guard's.
    pub risk: Risk,
    /// Whether it is refused.
    pub refused: bool,
    /// Whether a person must decide because it cannot be judged.
    pub held: bool,
    /// The reasons.
    pub findings: Vec<Finding>,
    /// Changed lines: per hunk the larger of added and removed.
    pub changed_lines: u32,
}

impl Admission {
    /// Sums findings up into a judgement; `stated` is the risk that the proposal's maker sees.
    #[must_use]
    pub fn from_findings(stated: Risk, findings: Vec<Finding>, changed_lines: u32) -> Self {
        let worst = findings.iter().map(|finding| finding.weight).max().unwrap_or(Weight::Note);
        let own = match worst {
            Weight::Note => Risk::Low,
            Weight::Medium => Risk::Medium,
            Weight::High | Weight::Hold | Weight::Refuse => Risk::High,
        };
        Self {
            risk: own.max(stated),
            refused: worst == Weight::Refuse,
            held: findings.iter().any(|finding| finding.weight == Weight::Hold),
            findings,
            changed_lines,
        }
    }
}
