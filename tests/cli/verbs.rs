//! Tests of the verbs that do not measure: help, list, request, corpus, completions, man; and of
//! invalid arguments.

use super::{Home, READLAB};
use std::process::{Command, Stdio};

#[test]
fn the_version_is_that_of_the_package() {
    let said = Home::new().readlab(["--version"]);
    assert_eq!(said.out, format!("readlab {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn words_that_mean_nothing_are_usage_errors() {
    let home = Home::new();
    home.file("f", "a\n");
    for words in [
        &["race", "f", "--bogus"][..],
        &["race", "f", "--method", "rust/nothing*"],
        &["race", "f", "--method", "[", "--quiet"],
        &["race", "f", "--reference", "nonsense"],
        &["race", "f", "--roster", "none.toml"],
        &["suite", "no-such-suite"],
        &["tune", "f", "--space", "nonsense"],
        &["tune", "f", "--space", "depth=4..1"],
        &["tune", "f", "--space", "depht=1..4"],
        &["tune", "f", "--space", "buffer=9999GiB"],
        &["tune", "f", "--method", "rust/nothing*"],
        &["tune", "f", "--reference", "nonsense"],
        &["request", "rust/nothing"],
        &["request", "nobody/read"],
    ] {
        let said = home.readlab(words);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}: {said}");
        assert!(!said.err.is_empty(), "{words:?}");
        assert!(home.runs().is_empty(), "{words:?} left {:?}", home.runs());
    }
}

#[test]
fn list_shows_contenders_methods_scans_and_settings() {
    let home = Home::new();
    let list = home.readlab(["list"]);
    assert_eq!((list.code, list.err.as_str()), (Some(0), ""));
    for part in ["rust 0.", "rust/mmap\n", "rust/io_uring\n", "command 0.", "newlines", "buffer=", "settings"]
    {
        assert!(list.out.contains(part), "no {part:?} in {list}");
    }
    let sums = home.readlab(["list", "--work", "sum"]).out;
    assert!(sums.len() < list.out.len() && !sums.contains("rust/lines\n"));
}

#[test]
fn list_shows_why_a_contender_cannot_take_part() {
    let home = Home::new();
    let roster = home.file(
        "roster.toml",
        "[[contender]]\nname = \"absent\"\nabout = \"not here\"\nrun = [\"/no/such/reader\"]\nhint = \"install it\"\n",
    );
    let said = home.readlab(["list", "--roster", roster.to_str().unwrap()]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("absent · not here\n  unavailable: cannot start /no/such/reader"), "{said}");
    assert!(said.out.contains("install it"), "{said}");
}

#[test]
fn a_request_runs_by_hand() {
    let home = Home::new();
    home.file("a 'file'", "a\nb\n");
    let said = home.readlab(["request", "rust/read/scalar@buffer=64KiB", "a 'file'"]);
    assert_eq!(said.code, Some(0), "{said}");
    let by_hand = home.command("/bin/sh").args(["-c", &said.out]).output().unwrap();
    let answer = String::from_utf8(by_hand.stdout).unwrap();
    assert!(answer.contains("\"newlines\":2") && answer.contains("\"say\":\"done\""), "{answer}");
}

#[test]
fn corpus_makes_lists_and_cleans() {
    let home = Home::new();
    let corpus = |words: &[&str]| home.readlab([&["corpus", "--folder", "c"], words].concat());
    let made = corpus(&["make", "lines", "1MiB"]);
    assert_eq!((made.code, made.out.as_str()), (Some(0), "c/lines-1MiB-seed1.txt\n"), "{made}");
    assert_eq!(std::fs::metadata(home.at("c/lines-1MiB-seed1.txt")).unwrap().len(), 1 << 20);
    let listed = corpus(&["list"]);
    insta::assert_snapshot!("corpus-list", listed.out);
    std::fs::write(home.at("c/mine"), "not yours").unwrap();
    assert_eq!(corpus(&["clean"]).code, Some(0));
    assert_eq!(corpus(&["list"]).out, "");
    let left: Vec<_> = std::fs::read_dir(home.at("c")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["mine"]);
}

#[test]
fn what_the_user_put_into_a_tree_of_test_files_stays_and_is_named() {
    let home = Home::new();
    let corpus = |words: &[&str]| home.readlab([&["corpus", "--folder", "c"], words].concat());
    let made = corpus(&["tree", "source", "45"]);
    let tree = home.at(made.out.trim_end());
    std::fs::write(tree.join("m0000/notes"), "mine").unwrap();
    std::fs::create_dir(tree.join("results")).unwrap();
    std::fs::write(tree.join("results/a"), "mine").unwrap();
    let said = corpus(&["clean"]);
    assert_eq!(said.code, Some(0), "{said}");
    for (path, stays) in
        [("m0000/notes", true), ("results/a", true), ("m0000/p00", false), ("m0000/p02", false)]
    {
        assert_eq!(tree.join(path).exists(), stays, "{path}: {said}");
    }
    for kept in ["m0000/notes", "results"] {
        let line =
            format!("kept {}/{kept}: readlab did not make it, or it was changed\n", made.out.trim_end());
        assert!(said.out.contains(&line), "{line}: {said}");
    }
    assert_eq!(corpus(&["clean"]).out, "");
}

#[test]
fn a_folder_of_test_files_is_removed_only_if_readlab_made_it() {
    let home = Home::new();
    std::fs::create_dir(home.at("mine")).unwrap();
    for (folder, stays) in [("mine", true), ("made", false)] {
        let corpus = |words: &[&str]| home.readlab([&["corpus", "--folder", folder], words].concat());
        assert_eq!(corpus(&["make", "lines", "1MiB", "--in", "zip"]).code, Some(0));
        let size = std::fs::metadata(home.at(folder).join("lines-1MiB-seed1.txt.zip")).unwrap().len();
        let listed = corpus(&["list"]).out;
        let shown = readlab_model::units::Bytes(size).to_string();
        assert!(listed.contains(&format!("  {shown}  ")) && !shown.contains("MB"), "{shown}: {listed}");
        assert_eq!(corpus(&["clean"]).code, Some(0));
        assert_eq!(home.at(folder).exists(), stays, "{folder}");
    }
}

#[test]
fn what_is_wrong_with_a_file_of_the_users_is_one_line_with_its_place() {
    let home = Home::new();
    let file = home.file("f", "a\n");
    let roster = home.file("r.toml", "[[contender]]\nname = \"mine\"\nabut = \"x\"\n");
    let suite = home.file("s.toml", "name = \"x\"\nabout = \"y\"\nwork = \"sums\"\ntrial = []\n");
    let open = home.file("o.toml", "[[contender\nname = 3");
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for (words, said) in [
        (
            vec!["list", "--roster", &path(&roster)],
            "r.toml: line 3, column 1: unknown field `abut`, expected",
        ),
        (vec!["list", "--roster", &path(&open)], "o.toml: line 1, column 12: unclosed array table, expected"),
        (vec!["suite", &path(&suite), &path(&file)], "s.toml: line 3, column 8: unknown variant `sums`"),
    ] {
        let refused = home.readlab(words);
        let line = refused.refusal();
        assert!(line.contains(said) && !line.contains("\\n") && !line.contains('|'), "{line}");
    }
}

/// The text between back quotes in a document that begins with `begin`.
fn typed<'a>(document: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    document.split('`').skip(1).step_by(2).filter(move |code| code.starts_with(begin))
}

#[test]
fn the_steps_for_your_own_contender_work_as_written() {
    let home = Home::new();
    let fake = super::fake::Fake { name: "mine", turn: "answer" };
    super::fake::roster(&home, &[fake]);
    std::fs::rename(home.at("roster.toml"), home.at("my.toml")).unwrap();
    // It comes as sources which must be built.
    std::fs::create_dir(home.at("mine")).unwrap();
    let built = "sources = \"mine\"\nbuild = [[\"/bin/mkdir\", \"-p\", \"{build}\"]]\n";
    let roster = std::fs::read_to_string(home.at("my.toml")).unwrap();
    std::fs::write(home.at("my.toml"), roster + built).unwrap();
    home.file("FILE", "one\ntwo\n");
    let document = include_str!("../../CONTRIBUTING.md");
    let steps = typed(document, "readlab ").filter(|step| step.contains("my.toml"));
    // The scene of an own contender in documents.toml has one that can be verified.
    let steps: Vec<&str> = steps.filter(|step| !step.contains(" verify ")).collect();
    assert_eq!(steps.len(), 4, "build, list, request and race: {steps:?}");
    let folder = std::path::Path::new(READLAB).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    for step in steps {
        let quick = if step.contains(" race ") { " --runs 2 --state warm" } else { "" };
        let step = format!("{}{quick}", step.replace("METHOD", "read"));
        let said = super::Said::by(home.command("sh").args(["-c", &step]).env("PATH", &path));
        assert_eq!(said.code, Some(0), "{step}: {said}");
        assert!(said.out.contains("mine"), "{step}: {said}");
    }
}

#[test]
fn completions_and_the_manual_are_what_shells_and_man_read() {
    let home = Home::new();
    let bash = home.readlab(["completions", "bash"]).out;
    let mut shell = home.command("/bin/bash");
    let checked = shell.args(["-n", "/dev/stdin"]).write_stdin(bash.clone()).output();
    match checked {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => eprintln!("SKIPPED: bash did not look at its completions: {error}"),
    }
    assert!(bash.contains("complete -F _readlab") && !bash.contains("contender"), "hidden verbs stay hidden");
    let man = home.readlab(["man"]).out;
    assert!(man.contains(".TH readlab 1") && man.contains(".SH \"READLAB RACE\""), "{man}");
    assert!(!man.contains("READLAB CONTENDER"));
}

#[test]
fn a_reader_may_close_the_pipe_early() {
    let home = Home::new();
    let file = home.file("f", "a\n");
    let file = file.to_str().unwrap();
    for words in [
        &["list"][..],
        &["man"],
        &["completions", "bash"],
        &["race", file, "--runs", "1", "--method", "rust/read/scalar", "--no-progress"],
        &["race", file, "--runs", "1", "--method", "rust/read/scalar", "--no-progress", "--export-json", "-"],
    ] {
        let mut command = Command::new(READLAB);
        command.args(words).envs(home.environment()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{words:?}");
    }
}
