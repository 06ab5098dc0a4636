//! Which causes of a report a rule mends: when its repair works, they were the true ones.

/// The causes, by their stable ids, that a rule of this name mends; none where the rule goes by the failure alone.
#[must_use]
pub fn mended_causes(rule: &str) -> &'static [&'static str] {
    TABLE.iter().find(|(name, _)| *name == rule).map_or(&[], |(_, causes)| causes)
}

/// Rules and the causes that they mend.
const TABLE: &[(&str, &[&str])] = &[
    ("arithmetic_status", &["arithmetic-is-zero", "strict-mode-stopped"]),
    ("and_list_status", &["strict-mode-stopped"]),
    ("read_status", &["strict-mode-stopped"]),
    ("grep_status", &["answer-taken-for-failure", "strict-mode-stopped"]),
    ("bash_under_sh", &["other-dialect"]),
    ("carriage_returns", &["crlf-line-ends"]),
    ("closed_pipe", &["reader-closed-the-pipe"]),
    ("execute_bit", &["no-execute-bit"]),
    ("group_rights", &["no-permission", "access-refused"]),
    ("here_document_end", &["here-document-not-closed"]),
    ("import_path", &["module-not-on-search-path"]),
    ("interpreter_path", &["interpreter-elsewhere"]),
    ("leading_zero", &["leading-zero-is-octal"]),
    ("missing_folder", &["folder-missing", "not-made-yet", "missing-there"]),
    ("python_folder", &["folder-missing", "not-made-yet", "missing-there"]),
    ("program_folder", &["folder-missing", "not-made-yet", "missing-there"]),
    ("unchecked_cd", &["folder-missing", "not-made-yet"]),
    ("moved_file", &["renamed-or-moved"]),
    ("name_case", &["renamed-or-moved", "misspelt-or-not-set-yet"]),
    ("names_with_blanks", &["name-with-blanks"]),
    ("optional_key", &["key-optional"]),
    ("perl_library", &["module-not-on-search-path"]),
    ("python_environment", &["module-not-installed"]),
    ("python_removed_name", &["module-removed", "name-removed", "other-version"]),
    ("python_search_path", &["module-not-on-search-path", "not-on-the-path"]),
    ("read_loop", &["lost-in-a-subshell"]),
    ("renamed_column", &["schema-changed"]),
    ("renamed_key", &["key-renamed"]),
    ("search_path", &["not-on-the-path"]),
    ("sort_order", &["other-sort-order"]),
    ("stale_lock", &["stale-lock", "left-from-earlier-run"]),
    ("stale_pid_file", &["stale-lock", "left-from-earlier-run"]),
    ("existing_folder", &["left-from-earlier-run"]),
    ("existing_link", &["left-from-earlier-run"]),
    ("compressed_before", &["left-from-earlier-run"]),
    ("table_dialect", &["other-format", "other-number-of-fields"]),
    ("text_encoding", &["other-encoding"]),
    ("tool_name", &["other-name-here", "not-installed"]),
    ("unknown_option", &["option-of-another-version"]),
    ("bsd_options", &["option-of-another-version"]),
    ("unmatched_glob", &["glob-matched-nothing"]),
    ("unquoted_test", &["unquoted-variable-in-test", "empty-name"]),
    ("unset_variable", &["misspelt-or-not-set-yet"]),
    ("working_folder", &["relative-to-other-folder"]),
    ("git_branch", &["reference-gone"]),
    ("nested_key", &["key-renamed"]),
    ("optional_list", &["key-optional"]),
    ("read_columns", &["other-format", "other-number-of-fields"]),
    ("awk_columns", &["other-format", "other-number-of-fields"]),
    ("heading_line", &["other-format"]),
    ("compressed_now", &["renamed-or-moved"]),
    ("scratch_folder", &["folder-missing", "not-made-yet", "missing-there"]),
    ("standard_module", &["module-not-installed"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rules;

    #[test]
    fn every_name_is_that_of_a_rule_and_stands_once() {
        for (at, (name, causes)) in TABLE.iter().enumerate() {
            assert!(rules().iter().any(|rule| rule.name() == *name), "{name}");
            assert!(
                !causes.is_empty() && !TABLE.iter().skip(at + 1).any(|(other, _)| other == name),
                "{name}"
            );
        }
        assert_eq!(mended_causes("loop_input"), <&[&str]>::default());
    }
}
