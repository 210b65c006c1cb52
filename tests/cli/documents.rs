//! Tests of the documents. Every command that they show is run here exactly as written, or by the
//! named test. `documents.toml` beside this file defines the values of placeholders, the exit code
//! and the output of each command. A command that is not listed there fails with its file and line.

use crate::home::{Home, ProgramOutput};
use crate::repository;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

/// The options that make a measurement short. The documents need not show them.
const SHORT: &str = "--runs 5 --budget 20m --no-progress";

/// The documents, by paths from the project's folder.
const DOCUMENTS: &str = "README.md REFERENCE.md GLOSSARY.md METHOD.md REPORT.md PROTOCOL.md CONTRIBUTING.md \
                         contenders/README.md harness/README.md docs/gallery/README.md";

/// The list in `documents.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandList {
    scene: Vec<Scene>,
}

/// Commands that are run one after the other in one folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    name: String,
    /// Commands that run first. None of them may fail.
    #[serde(default)]
    setup: Vec<String>,
    command: Vec<ShownCommand>,
}

/// A command that the documents show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShownCommand {
    shown: String,
    /// The lines to run, if they differ from `shown`. `SHORT` is replaced by the options of a short
    /// measurement.
    #[serde(default)]
    typed: Vec<String>,
    #[serde(default)]
    exit: i32,
    /// Text that the last line prints on standard output.
    #[serde(default)]
    prints: Vec<String>,
    /// The test that runs the command, as `FILE: FUNCTION`.
    elsewhere: Option<String>,
    /// Words of the command that the text of that test has, too.
    #[serde(default)]
    types: Vec<String>,
}

struct DocumentCommand {
    /// The document and the line number.
    at: String,
    command: String,
}

fn list() -> CommandList {
    toml::from_str(include_str!("documents.toml")).unwrap()
}

/// The commands of all documents, in code blocks and in the text.
fn shown_commands() -> Vec<DocumentCommand> {
    let read = |name: &str| fs::read_to_string(repository::path(name)).unwrap_or_default();
    DOCUMENTS.split(' ').flat_map(|name| commands(name, &read(name))).collect()
}

fn commands(document: &str, text: &str) -> Vec<DocumentCommand> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let of_line =
            if in_block { command_in_block(text).into_iter().collect() } else { commands_in_text(text) };
        let place = |command| DocumentCommand { at: format!("{document}:{line}"), command };
        found.extend(of_line.into_iter().map(place));
    }
    found
}

fn command_in_block(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("- run: ").trim_start_matches("$ ");
    let command = line.split("  #").next().unwrap_or_default().trim();
    is_command(command).then(|| command.to_owned())
}

fn commands_in_text(line: &str) -> Vec<String> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.map(|span| span.replace("\\|", "|")).filter(|span| is_command(span)).collect()
}

/// Whether a text is a command. A program's name alone is not a command that a reader runs.
fn is_command(text: &str) -> bool {
    let programs = ["readlab ", "mpirun ", "srun ", "make ", "cargo bench", "cargo install ", "cargo test "];
    programs.iter().any(|program| text.starts_with(program))
}

#[test]
fn every_command_of_the_documents_is_typed_by_a_test() {
    let list = list();
    let listed: BTreeSet<&str> =
        list.scene.iter().flat_map(|scene| &scene.command).map(|it| it.shown.as_str()).collect();
    let places = shown_commands();
    let unknown: Vec<String> = places
        .iter()
        .filter(|place| !listed.contains(place.command.as_str()) && !place.command.starts_with("make "))
        .map(|place| format!("{}: no test types `{}`", place.at, place.command))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    let shown: BTreeSet<&str> = places.iter().map(|place| place.command.as_str()).collect();
    let stale: Vec<&&str> = listed.difference(&shown).collect();
    assert!(stale.is_empty(), "no document shows {stale:?}");
}

#[test]
fn every_target_of_make_that_the_documents_show_exists() {
    for place in shown_commands().iter().filter(|place| place.command.starts_with("make ")) {
        let words = place.command.trim_start_matches("make ");
        // Nothing is done, because make only prints its plan.
        let script = format!("make --dry-run --no-print-directory {words}");
        let said =
            Command::new("sh").args(["-c", &script]).current_dir(repository::path("")).output().unwrap();
        let why = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{}: `{}`: {why}", place.at, place.command);
    }
}

#[test]
fn every_page_of_the_gallery_is_made_by_its_script() {
    let script = repository::text("docs/pictures.sh");
    let pages = script.lines().find_map(|line| line.strip_prefix("pages='")?.strip_suffix('\'')).unwrap();
    let made: BTreeSet<&str> = pages.split(' ').collect();
    let shown = repository::text("docs/gallery/README.md");
    let links = shown.split("](").skip(1).filter_map(|rest| rest.split_once(".html)").map(|(name, _)| name));
    let linked: BTreeSet<&str> = links.collect();
    assert_eq!(linked, made);
    let is_absent = |page: &&&str| !repository::path(&format!("docs/gallery/{page}.html")).exists();
    let absent: Vec<&&str> = linked.iter().filter(is_absent).collect();
    assert!(absent.is_empty(), "`make gallery` has not made {absent:?}");
    assert!(pages.split(' ').all(|page| script.contains(&format!("\n        {page})"))), "each has a run");
}

#[test]
fn the_folders_that_the_documents_install_from_a_clone_exist() {
    let places = shown_commands();
    let shown = places.iter().filter_map(|place| place.command.strip_prefix("cargo install --path "));
    let folders: Vec<&str> = shown.map(|words| words.split(' ').next().unwrap()).collect();
    assert!(!folders.is_empty());
    for folder in folders {
        let folder = repository::path(folder);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let is_program = manifest.contains("\nname = \"readlab\"\n") && folder.join("src/main.rs").exists();
        assert!(is_program, "{} has no program readlab", folder.display());
    }
}

#[test]
fn the_test_named_for_a_command_types_it() {
    for ShownCommand { shown, elsewhere, types, .. } in list().scene.into_iter().flat_map(|it| it.command) {
        let Some(elsewhere) = elsewhere else {
            assert!(types.is_empty(), "no test is named that types `{shown}`");
            continue;
        };
        let (file, test) = elsewhere.split_once(": ").expect("FILE: FUNCTION");
        let source = repository::text(file);
        let text = match file.ends_with(".rs") {
            true => text_of_test(&source, test),
            false => Some(source).filter(|script| script.contains(test)),
        };
        let text = text.unwrap_or_else(|| panic!("{file} has no {test}, which types `{shown}`"));
        assert!(!types.is_empty(), "it is not said what of `{shown}` {test} types");
        for words in types {
            assert!(shown.contains(&words), "`{shown}` has no {words:?}");
            assert!(text.contains(&words), "{test} has no {words:?}, which stands for `{shown}`");
        }
    }
}

/// The text of a test, with the functions and constants of its file that it uses; `None` if there
/// is no such test.
fn text_of_test(source: &str, test: &str) -> Option<String> {
    let mut others = definitions(source);
    let mut text = others.remove(&format!("{test}("))?;
    while let Some(usage) = others.keys().find(|usage| text.contains(usage.as_str())).cloned() {
        text.extend(others.remove(&usage));
    }
    Some(text)
}

/// The text of each function and constant of a file, by what its users write.
fn definitions(source: &str) -> BTreeMap<String, String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = BTreeMap::<String, String>::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let last_of_function = format!("{}}}", &line[..line.len() - code.len()]);
        let code = code.strip_prefix("pub(crate) ").unwrap_or(code);
        let (usage, count) = if let Some(rest) = code.strip_prefix("fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            (format!("{name}("), lines[at..].iter().position(|line| *line == last_of_function))
        } else if let Some(rest) = code.strip_prefix("const ") {
            let name = rest.split(':').next().unwrap_or_default();
            (name.to_owned(), lines[at..].iter().position(|line| line.ends_with(';')))
        } else {
            continue;
        };
        let last = count.map_or(lines.len() - 1, |count| at + count);
        found.entry(usage).or_default().push_str(&lines[at..=last].join("\n"));
    }
    found
}

#[test]
fn the_text_of_a_test_has_what_it_uses() {
    let own = "const WORDS: &str =\n    \"--a\";\nfn own<'a>() {\n    WORDS\n}\n";
    let tests =
        "mod m {\n    fn test() {\n        own();\n    }\n\n    fn other() {\n        --b\n    }\n}\n";
    let source = format!("{own}{tests}");
    let text = text_of_test(&source, "test").unwrap();
    assert!(text.contains("own();") && text.contains("--a") && !text.contains("--b"), "{text}");
    assert_eq!(text_of_test(&source, "tes"), None);
}

#[test]
fn each_scene_is_run_by_a_test() {
    let tests = repository::text("tests/cli/documents.rs");
    for scene in list().scene {
        let call = format!("run_scene({:?});", scene.name);
        assert!(tests.contains(&call), "no test runs the commands of the scene '{}'", scene.name);
    }
}

#[test]
fn a_command_is_found_in_blocks_tables_and_text() {
    let text = "a `readlab list` and `read`\n```\nreadlab race f   # why\n  - run: readlab x\nls\n```\n| `readlab a\\|b` |\n";
    let found = commands("d", text).into_iter().map(|place| format!("{} {}", place.at, place.command));
    let expected = ["d:1 readlab list", "d:3 readlab race f", "d:4 readlab x", "d:7 readlab a|b"];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

fn run_scene(name: &str) {
    let list = list();
    let scene = list.scene.iter().find(|scene| scene.name == name).unwrap();
    let home = home_for_documents();
    for setup in &scene.setup {
        run_line(&home, setup).exits(0);
    }
    // Several documents show the same command in other words, such as with another placeholder.
    let mut said = BTreeMap::<String, ProgramOutput>::new();
    for shown in scene.command.iter().filter(|shown| shown.elsewhere.is_none()) {
        let as_shown = vec![shown.shown.clone()];
        let all = if shown.typed.is_empty() { &as_shown } else { &shown.typed };
        for line in all {
            said.entry(line.clone()).or_insert_with(|| run_line(&home, line));
        }
        let last = &said[all.last().unwrap()];
        assert_eq!(last.code, Some(shown.exit), "`{}`: {last}", shown.shown);
        for printed in &shown.prints {
            assert!(last.out.contains(printed), "`{}` prints no {printed:?}: {last}", shown.shown);
        }
    }
}

fn home_for_documents() -> Home {
    let home = Home::with_languages();
    let lines: String =
        (0..2_000).map(|n| format!("{n} some text, and a number after it: {}\n", n * 7)).collect();
    for name in ["my.log", "data.bin", "f.txt"] {
        home.file(name, &lines);
    }
    home
}

/// Runs a line in a shell, with this readlab as `readlab`.
fn run_line(home: &Home, line: &str) -> ProgramOutput {
    let mut shell = home.shell(line.replace("SHORT", SHORT));
    ProgramOutput::by(shell.env("ROOT", repository::path("")))
}

mod ring2 {
    use super::*;
    use crate::machine::succeeds_or_skip;

    #[test]
    fn commands_of_a_first_visit_do_what_the_documents_say() {
        run_scene("first");
    }

    #[test]
    fn commands_of_one_record_do_what_the_documents_say() {
        run_scene("measuring");
    }

    #[test]
    fn commands_of_many_records_do_what_the_documents_say() {
        run_scene("comparing");
    }

    #[test]
    fn commands_that_measure_nothing_do_what_the_documents_say() {
        run_scene("looking");
    }

    #[test]
    fn commands_of_an_author_do_what_the_documents_say() {
        run_scene("contributing");
    }

    #[test]
    fn commands_on_compressed_files_do_what_the_documents_say() {
        if succeeds_or_skip("zstd --version") {
            run_scene("compressed");
        }
    }
}
