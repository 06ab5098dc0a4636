//! The rules: one file each, in the order in which they are asked.

use crate::candidate::Candidate;
use crate::case::Case;
use crate::manual::{Applicability, RulePage};

/// Defines a rule: its type, its name, the file whose header is its page, what may be done with it, and its function.
macro_rules! rule {
    ($kind:ident, $name:literal, $applicability:ident, $propose:path) => {
        rule!($kind, $name, $applicability, $propose, false);
    };
    ($kind:ident, $name:literal, $applicability:ident, $propose:path, preview) => {
        rule!($kind, $name, $applicability, $propose, true);
    };
    ($kind:ident, $name:literal, $applicability:ident, $propose:path, $preview:literal) => {
        #[doc = concat!("The rule `", $name, "`; its page is the header of this file.")]
        #[derive(Debug)]
        pub struct $kind;

        impl $crate::rules::Rule for $kind {
            fn name(&self) -> &'static str {
                $name
            }

            fn source(&self) -> &'static str {
                include_str!(concat!($name, ".rs"))
            }

            fn applicability(&self) -> $crate::manual::Applicability {
                $crate::manual::Applicability::$applicability
            }

            fn preview(&self) -> bool {
                $preview
            }

            fn propose(&self, case: &$crate::case::Case) -> Vec<$crate::candidate::Candidate> {
                $propose(case)
            }
        }
    };
}

mod absent_generation;
mod and_list_status;
mod arithmetic_status;
mod aware_times;
mod awk_columns;
mod awk_dialect;
mod awk_table;
mod bash_under_sh;
mod blank_lines;
mod bsd_options;
mod byte_order_mark;
mod carriage_returns;
mod changed_while_walked;
mod closed_pipe;
mod command_in_one_word;
mod compressed_before;
mod compressed_now;
mod compressed_text;
mod config_near_miss;
mod copied_folder;
mod date_format;
mod dated_file;
mod decimal_arithmetic;
mod digit_groups;
mod execute_bit;
mod existing_folder;
mod existing_link;
mod field_limit;
mod git_branch;
mod git_identity;
mod gone_process;
mod grep_status;
mod group_rights;
mod heading_line;
mod here_document_end;
mod here_document_expands;
mod import_path;
mod ini_percent;
mod ini_remark;
mod interpreter_path;
mod json_commas;
mod json_import;
mod json_lines;
mod json_mark;
mod json_values;
mod leading_dash;
mod leading_zero;
mod lookup_separator;
mod loop_input;
mod makefile_recipes;
mod missing_folder;
mod moved_column;
mod moved_file;
mod name_case;
mod names_with_blanks;
mod nested_key;
mod node_exports;
mod node_modules_kind;
mod nothing_for_xargs;
mod nothing_to_commit;
mod nothing_to_divide;
mod old_perl_forms;
mod optional_argument;
mod optional_key;
mod optional_list;
mod order_only_folder;
mod perl_library;
mod program_folder;
mod python_environment;
mod python_folder;
mod python_removed_name;
mod python_search_path;
mod python_two;
mod quoted_fields;
mod read_columns;
mod read_loop;
mod read_status;
mod recipe_dollar;
mod renamed_column;
mod renamed_in_notes;
mod renamed_key;
mod replaced_column;
mod rotation_order;
mod scratch_folder;
mod search_path;
mod sed_delimiter;
mod shared_default;
mod sort_order;
mod split_dialect;
mod split_pattern;
mod sql_parameters;
mod stale_lock;
mod stale_pid_file;
mod standard_module;
mod subprocess_text;
mod tab_fields;
mod table_dialect;
mod temporary_template;
mod terminal_type;
mod text_and_number;
mod text_encoding;
mod told_default;
mod toml_text;
mod tool_name;
mod unchecked_cd;
mod unexported_settings;
mod unknown_option;
mod unmatched_glob;
mod unquoted_pattern;
mod unquoted_test;
mod unset_variable;
mod working_folder;
mod wrapped_list;

/// A deterministic repair for one kind of failure.
pub trait Rule: Sync {
    /// Its stable name, the name of its file.
    fn name(&self) -> &'static str;
    /// Its source file, whose header is its page in the manual.
    fn source(&self) -> &'static str;
    /// Its page in the manual.
    fn page(&self) -> RulePage {
        RulePage::read(self.source())
    }
    /// What may be done with its repair.
    fn applicability(&self) -> Applicability;
    /// Whether it is new: what it proposes is shown and tried, and never applied unattended until it is promoted.
    fn preview(&self) -> bool;
    /// What it proposes for a failure, best first; nothing when the failure is not of its kind.
    fn propose(&self, case: &Case) -> Vec<Candidate>;
}

/// The rules that rest on what documents of the project say, and on nothing without them.
pub const READ_DOCUMENTS: [&str; 1] = ["renamed_in_notes"];

/// All rules, the more specific ones first.
#[must_use]
pub fn rules() -> &'static [&'static dyn Rule] {
    RULES
}

/// The rules in the order in which they are asked.
const RULES: &[&dyn Rule] = &[
    &byte_order_mark::ByteOrderMark,
    &json_mark::JsonMark,
    &carriage_returns::CarriageReturns,
    &here_document_end::HereDocumentEnd,
    &bash_under_sh::BashUnderSh,
    &execute_bit::ExecuteBit,
    &interpreter_path::InterpreterPath,
    &sed_delimiter::SedDelimiter,
    &unquoted_pattern::UnquotedPattern,
    &terminal_type::TerminalType,
    &temporary_template::TemporaryTemplate,
    &optional_argument::OptionalArgument,
    &nothing_for_xargs::NothingForXargs,
    &nothing_to_commit::NothingToCommit,
    &existing_folder::ExistingFolder,
    &existing_link::ExistingLink,
    &compressed_before::CompressedBefore,
    &copied_folder::CopiedFolder,
    &awk_dialect::AwkDialect,
    &old_perl_forms::OldPerlForms,
    &ini_percent::IniPercent,
    &ini_remark::IniRemark,
    &json_import::JsonImport,
    &text_and_number::TextAndNumber,
    &changed_while_walked::ChangedWhileWalked,
    &json_values::JsonValues,
    &field_limit::FieldLimit,
    &json_lines::JsonLines,
    &command_in_one_word::CommandInOneWord,
    &name_case::NameCase,
    &tool_name::ToolName,
    &search_path::SearchPath,
    &python_search_path::PythonSearchPath,
    &replaced_column::ReplacedColumn,
    &renamed_in_notes::RenamedInNotes,
    &unexported_settings::UnexportedSettings,
    &here_document_expands::HereDocumentExpands,
    &unset_variable::UnsetVariable,
    &told_default::ToldDefault,
    &arithmetic_status::ArithmeticStatus,
    &and_list_status::AndListStatus,
    &read_status::ReadStatus,
    &grep_status::GrepStatus,
    &closed_pipe::ClosedPipe,
    &nothing_to_divide::NothingToDivide,
    &leading_zero::LeadingZero,
    &decimal_arithmetic::DecimalArithmetic,
    &makefile_recipes::MakefileRecipes,
    &recipe_dollar::RecipeDollar,
    &names_with_blanks::NamesWithBlanks,
    &unquoted_test::UnquotedTest,
    &bsd_options::BsdOptions,
    &stale_lock::StaleLock,
    &gone_process::GoneProcess,
    &stale_pid_file::StalePidFile,
    &sort_order::SortOrder,
    &read_loop::ReadLoop,
    &git_branch::GitBranch,
    &git_identity::GitIdentity,
    &config_near_miss::ConfigNearMiss,
    &unchecked_cd::UncheckedCd,
    &group_rights::GroupRights,
    &leading_dash::LeadingDash,
    &unknown_option::UnknownOption,
    &read_columns::ReadColumns,
    &tab_fields::TabFields,
    &rotation_order::RotationOrder,
    &unmatched_glob::UnmatchedGlob,
    &order_only_folder::OrderOnlyFolder,
    &scratch_folder::ScratchFolder,
    &missing_folder::MissingFolder,
    &absent_generation::AbsentGeneration,
    &python_folder::PythonFolder,
    &program_folder::ProgramFolder,
    &text_encoding::TextEncoding,
    &perl_library::PerlLibrary,
    &node_modules_kind::NodeModulesKind,
    &node_exports::NodeExports,
    &python_removed_name::PythonRemovedName,
    &working_folder::WorkingFolder,
    &standard_module::StandardModule,
    &import_path::ImportPath,
    &python_environment::PythonEnvironment,
    &digit_groups::DigitGroups,
    &quoted_fields::QuotedFields,
    &date_format::DateFormat,
    &heading_line::HeadingLine,
    &table_dialect::TableDialect,
    &wrapped_list::WrappedList,
    &renamed_key::RenamedKey,
    &nested_key::NestedKey,
    &optional_key::OptionalKey,
    &optional_list::OptionalList,
    &blank_lines::BlankLines,
    &toml_text::TomlText,
    &json_commas::JsonCommas,
    &compressed_text::CompressedText,
    &subprocess_text::SubprocessText,
    &aware_times::AwareTimes,
    &sql_parameters::SqlParameters,
    &shared_default::SharedDefault,
    &renamed_column::RenamedColumn,
    &moved_column::MovedColumn,
    &python_two::PythonTwo,
    &split_pattern::SplitPattern,
    &split_dialect::SplitDialect,
    &lookup_separator::LookupSeparator,
    &awk_columns::AwkColumns,
    &awk_table::AwkTable,
    &compressed_now::CompressedNow,
    &dated_file::DatedFile,
    &loop_input::LoopInput,
    &moved_file::MovedFile,
];
