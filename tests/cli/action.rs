//! Tests of the GitHub action: its racing step, started as a runner starts it, in a repository with
//! a base and a change.

use crate::home::{Home, ProgramOutput};
use crate::machine::{on_path, skip};
use crate::repository;

const SAME_READER: &str = "#!/bin/sh\nexec wc -l \"$1\"\n";
const SLOWER_READER: &str = "#!/bin/sh\nsleep 0.05\nexec wc -l \"$1\"\n";

/// The inputs of the action, with the default of each.
fn defaults(action: &str) -> Vec<(String, String)> {
    let inputs = action.split("\ninputs:\n").nth(1).unwrap().split("\noutputs:").next().unwrap();
    let mut found: Vec<(String, String)> = Vec::new();
    for line in inputs.lines() {
        if let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            found.push((name.trim_end_matches(':').to_owned(), String::new()));
        } else if let Some(value) = line.trim().strip_prefix("default: ") {
            found.last_mut().unwrap().1 = value.trim_matches('"').to_owned();
        }
    }
    found
}

/// A home that is a repository whose base and change have these readers.
fn repository_of(base: &str, change: &str) -> Home {
    let home = Home::with_file("numbers.txt", "line\n".repeat(10_000));
    let script = "git init --quiet . && git config user.name T && git config user.email t@localhost && \
        git add reader numbers.txt && git commit --quiet --message base && git tag base";
    for (reader, script) in
        [(base, script), (change, "git commit --quiet --all --allow-empty --message change")]
    {
        home.program("reader", reader);
        ProgramOutput::by(&mut home.shell(script)).exits(0);
    }
    home
}

fn run_racing_step(home: &Home, inputs: &[(&str, &str)]) -> ProgramOutput {
    let action = repository::text("action.yml");
    let step = action.split("    - name: ").last().unwrap();
    let run = step.split("      run: ").nth(1).unwrap().trim();
    let mut shell = home.shell("exec bash \"$@\"");
    shell.args(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run]);
    let defaults = defaults(&action);
    let variables = step.lines().filter_map(|line| line.trim().strip_prefix("READER_"));
    for (variable, value) in variables.filter_map(|line| line.split_once(": ${{ inputs.")) {
        let name = value.trim_end_matches(" }}");
        let given = inputs.iter().find(|(input, _)| *input == name).map(|(_, value)| (*value).to_owned());
        let default = defaults.iter().find(|(input, _)| input == name).unwrap().1.clone();
        // Outside a pull request there is no base.
        let default = default.replace("${{ github.event.pull_request.base.sha }}", "");
        shell.env(format!("READER_{variable}"), given.unwrap_or(default));
    }
    shell.env("GITHUB_ACTION_PATH", repository::path("")).env("RUNNER_TEMP", home.temporary());
    shell.env("GITHUB_STEP_SUMMARY", home.at("summary.md")).env("GITHUB_OUTPUT", home.at("outputs"));
    ProgramOutput::by(&mut shell)
}

const COMMAND_INPUT: (&str, &str) = ("command", "./reader {}");
const FILE_INPUT: (&str, &str) = ("file", "numbers.txt");
const BASE_INPUT: (&str, &str) = ("base", "base");
const OPTIONS_INPUT: (&str, &str) = ("options", "--state warm --runs 10");

#[test]
fn an_input_that_cannot_be_raced_is_named_and_exits_with_2() {
    let home = repository_of(SAME_READER, SAME_READER);
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[COMMAND_INPUT, FILE_INPUT, OPTIONS_INPUT], "no base to compare with"),
        (&[COMMAND_INPUT, FILE_INPUT, ("base", "no-such-commit")], "no-such-commit is not in this checkout"),
        (&[COMMAND_INPUT, ("file", "no.txt"), BASE_INPUT], "no.txt cannot be read"),
        (&[COMMAND_INPUT, FILE_INPUT, BASE_INPUT, ("fail-over", "much")], "'much' is no share"),
        // These are refused only by the parser of --fail-over.
        (&[COMMAND_INPUT, FILE_INPUT, BASE_INPUT, ("fail-over", "100%")], "'100%' is not between 0 and 1"),
        (
            &[COMMAND_INPUT, FILE_INPUT, BASE_INPUT, ("fail-over", "5e-2 %"), ("build", "exit 7")],
            "the build of the base failed",
        ),
        (
            &[COMMAND_INPUT, FILE_INPUT, BASE_INPUT, ("build", "exit 7")],
            "the build of the base failed: exit 7",
        ),
    ];
    for (inputs, words) in cases {
        run_racing_step(&home, inputs).exits(2).tells(words);
    }
    if on_path("jq").is_none() {
        return skip("the action needs jq to read a record");
    }
    let said =
        run_racing_step(&home, &[("command", "./no-reader {}"), FILE_INPUT, BASE_INPUT, OPTIONS_INPUT]);
    assert!(said.code.is_some_and(|code| code == 1 || code == 2), "{said}");
}

#[test]
fn the_action_parses_a_share_like_the_command_line() {
    let home = Home::new();
    for (text, share) in [("5%", "0.05\n"), ("0.05", "0.05\n"), (" 5 %", "0.05\n"), ("12.5%", "0.125\n")] {
        assert_eq!(home.readlab(["share", text]).exits(0).out, share, "{text}");
    }
    let script = repository::text("packaging/action.sh");
    assert!(script.contains("readlab share \"$READER_FAIL_OVER\"") && !script.contains("awk"), "{script}");
}

#[test]
fn the_example_of_the_readme_uses_only_inputs_of_the_action() {
    let readme = repository::text("README.md");
    let example = readme.split("- uses: readlab/readlab").nth(1).unwrap().split("```").next().unwrap();
    let given: Vec<&str> = example.lines().skip(2).filter_map(|line| line.trim().split(':').next()).collect();
    let inputs = defaults(&repository::text("action.yml"));
    assert!(given.len() > 3, "{given:?}");
    for name in given {
        assert!(inputs.iter().any(|(input, _)| input == name), "the action has no input '{name}'");
    }
}

mod ring2 {
    use super::*;
    use std::fs;

    #[test]
    fn an_equal_change_passes_and_leaves_a_comment() {
        let home = repository_of(SAME_READER, SAME_READER);
        let said = run_racing_step(
            &home,
            &[
                COMMAND_INPUT,
                FILE_INPUT,
                BASE_INPUT,
                OPTIONS_INPUT,
                ("fail-over", "99%"),
                ("build", "test -x reader"),
            ],
        );
        let said = said.exits(0);
        assert!(said.out.starts_with("- warm: the change is "), "{said}");
        let outputs = home.read("outputs");
        let comment = fs::read_to_string(outputs.trim().strip_prefix("markdown=").unwrap()).unwrap();
        assert!(comment.starts_with("### Reading numbers.txt") && comment.contains("cd head"), "{comment}");
        assert!(!comment.contains("rust/mmap"), "the two readers alone: {comment}");
        assert_eq!(home.read("summary.md"), comment);
        let trees = ProgramOutput::by(home.command("git").args(["worktree", "list"]));
        assert_eq!(trees.out.lines().count(), 1, "the checkout of the base is gone: {trees}");
    }

    #[test]
    fn a_command_of_a_variable_or_of_several_programs_is_raced_whole() {
        for command in ["RUST_LOG=off ./reader {}", "./reader {} >/dev/null && ./reader {}"] {
            let home = repository_of(SAME_READER, SAME_READER);
            let given = [("command", command), FILE_INPUT, BASE_INPUT, OPTIONS_INPUT, ("fail-over", "99%")];
            let said = run_racing_step(&home, &given).exits(0);
            assert!(said.out.starts_with("- warm: the change is "), "{said}");
        }
    }

    #[test]
    fn a_change_whose_whole_interval_is_slower_fails() {
        let home = repository_of(SAME_READER, SLOWER_READER);
        let said = run_racing_step(
            &home,
            &[COMMAND_INPUT, FILE_INPUT, BASE_INPUT, OPTIONS_INPUT, ("fail-over", "0.05")],
        )
        .exits(3);
        said.shows("**slower by more than 5 %**");
        assert!(home.read("summary.md").contains("slower by more than"));
    }
}
