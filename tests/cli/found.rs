//! Tests of which files below a folder are found: those that links lead to, and none of readlab's
//! own.

use super::Home;
use super::trees::{FILES, measured, tree};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn links_are_followed_on_request_and_walks_that_follow_none_do_not_take_part() {
    let home = Home::new();
    for name in ["blobs", "snapshot"] {
        fs::create_dir(home.at(name)).unwrap();
    }
    home.file("blobs/1", "a line\n".repeat(1000));
    symlink("../blobs/1", home.at("snapshot/model")).unwrap();
    let said = home.race(&home.at("snapshot"), &[]);
    assert!(said.refusal().contains("only 1 link (--follow reads what links lead to)"), "{said}");
    let words = ["--follow", "--method", "rust/read/scalar", "--method", "rust/walk/scalar"];
    let command = ["-c", "cat $(find -L {} -type f) | wc -l"];
    let (json, said) =
        home.race_json(&home.at("snapshot"), &[&words[..], &command, &["--state", "warm"]].concat());
    assert_eq!(said.code, Some(1), "the walk was named, and does not take part: {said}");
    assert!(said.err.contains("it walks the folder and follows no links"), "{said}");
    let names: Vec<&str> = measured(&json).iter().map(|it| it["method"].as_str().unwrap()).collect();
    assert!(names.contains(&"read") && names.len() > 1, "the command follows links, too: {names:?}");
    assert_eq!(json["targets"][0]["tree"]["follows_links"], true);
}

#[test]
fn what_readlab_writes_below_a_folder_is_no_part_of_it() {
    let home = Home::new();
    let folder = tree(&home);
    let output = folder.join("run");
    let words = ["--method", "rust/read/scalar", "--state", "warm", "--output", output.to_str().unwrap()];
    let (json, said) = home.race_json(&folder, &words);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(json["targets"][0]["tree"]["files"], FILES);
    // The whole home: its data folder, and the folder for temporary files.
    let (json, said) = home.race_json(&home.at(""), &words[..4]);
    assert_eq!(said.code, Some(0), "{said}");
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(cautions.contains("Not read, for readlab writes there:"), "{cautions}");
}
