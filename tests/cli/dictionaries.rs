//! Tests of a zstd that was compressed with a dictionary: decoded with it, and with none or another
//! the reason is told.

use super::archives::{content, names, outcome};
use super::{Home, trials};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A zstd of the content, compressed with a dictionary of any bytes, and the dictionary.
fn with_dictionary(home: &Home) -> [PathBuf; 2] {
    let dictionary = b"a line of text, number 17\na line of text, number 2000\n";
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 19, dictionary).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&content()).unwrap();
    [home.file("records.zst", encoder.finish().unwrap()), home.file("dictionary", dictionary)]
}

/// The suite's commands, by their names.
const ZSTD: &str = "command/zstd -dc {} | wc -l";
const ZSTD_WITH: &str = "command/zstd -dcD \"$READLAB_DICTIONARY\" {} | wc -l";

#[test]
fn a_zstd_is_decoded_with_the_dictionary_that_is_named() {
    let home = Home::new();
    let [file, dictionary] = with_dictionary(&home);
    let named = dictionary.to_str().unwrap();
    let words = ["--dictionary", named, "--state", "warm", "--method", "rust/read/scalar"];
    let decoders = ["rust/zstd/memchr", "rust/zstd-frames/memchr"];
    let decoders: Vec<&str> = decoders.into_iter().flat_map(|it| ["--method", it]).collect();
    let (json, said) = home.race_json(&file, &[&words[..], &decoders].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let measured = |id| {
        let trial = trials(&json, id, "warm");
        assert_eq!((&trial["outcome"], &trial["decodes"]), (&"measured".into(), &"zstd".into()), "{trial}");
    };
    measured("rust/zstd/memchr");
    let frames = names(&json).into_iter().find(|name| name.starts_with("rust/zstd-frames/memchr")).unwrap();
    measured(frames);
    match outcome(&json, ZSTD_WITH) {
        ("unavailable", why) if why.contains("not on the PATH") => eprintln!("SKIPPED: {ZSTD_WITH}: {why}"),
        _ => measured(ZSTD_WITH),
    }
    assert!(!names(&json).contains(&ZSTD), "it has no dictionary: {:?}", names(&json));
    let limits = json["limits"].as_array().unwrap();
    assert!(limits.iter().any(|limit| limit["kind"] == "decoding"), "{}", json["limits"]);
    let kept = &json["targets"][0]["dictionary"];
    assert_eq!((&kept["path"], &kept["size_bytes"]), (&named.into(), &54.into()), "{kept}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_dictionary_that_is_another_or_missing_is_the_reason() {
        let home = Home::new();
        let [file, dictionary] = with_dictionary(&home);
        let words = ["--state", "warm", "--method", "rust/zstd/memchr", "--method", "rust/read/scalar"];
        let other =
            home.file("other", "what is in here is in no line of the content at all, as is easily seen");
        for given in [vec![], vec!["--dictionary", other.to_str().unwrap()]] {
            let (json, said) = home.race_json(&file, &[&words[..], &given].concat());
            assert_eq!(said.code, Some(1), "{said}");
            let (outcome, why) = outcome(&json, "rust/zstd/memchr");
            assert!(
                outcome == "unavailable" && why.contains("zstd and cannot be decoded: "),
                "{outcome} {why}"
            );
        }
        let named = dictionary.to_str().unwrap();
        let refused = |file: &Path, words: &[&str], reason: &str| {
            let said = home.race(file, words);
            assert!(said.refusal().contains(reason), "{said}");
        };
        let plain = home.file("plain", content());
        refused(&plain, &["--dictionary", named], "plain: --dictionary decodes a zstd, and this is none");
        refused(&file, &["--dictionary", "none"], "none: no such file");
        refused(&file, &["--dictionary", named, "--http"], "--dictionary is for what is decoded");
        refused(&home.at("."), &["--dictionary", named], "--dictionary is for what is decoded");
    }

    #[test]
    fn a_run_is_resumed_with_its_dictionary_and_not_after_that_has_changed() {
        let home = Home::new();
        let [file, dictionary] = with_dictionary(&home);
        let named = dictionary.to_str().unwrap();
        let words =
            ["--dictionary", named, "--state", "warm", "--method", "rust/zstd/memchr", "--output", "run"];
        let said = home.race(&file, &words);
        assert_eq!(said.code, Some(0), "{said}");
        let record = home.at("run/record.jsonl");
        let whole = fs::read_to_string(&record).unwrap();
        let is_early = |line: &&str| !line.contains(r#""line":"sample""#);
        let cut: String = whole.lines().take_while(is_early).flat_map(|line| [line, "\n"]).collect();
        fs::write(&record, &cut).unwrap();
        let resume = || home.readlab(["race", "--resume", "run", "--no-progress"]);
        let said = resume();
        assert_eq!(said.code, Some(0), "{said}");
        let resumed = fs::read_to_string(&record).unwrap();
        assert!(resumed.starts_with(&cut) && resumed.contains(r#""line":"sample""#), "{resumed}");

        fs::write(&record, &cut).unwrap();
        fs::write(&dictionary, "a line of text, number 17\na line of text, number 2001\n").unwrap();
        let said = resume();
        assert!(said.refusal().contains("dictionary"), "{said}");
        assert_eq!(fs::read_to_string(&record).unwrap(), cut, "nothing is changed");
    }
}
