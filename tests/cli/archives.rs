//! Tests of the user's own archives: raced as plain bytes, and decoded; a broken archive is
//! reported with the reason and does not affect the rest.

use super::{Home, trials};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// 3000 lines that compress well.
pub(super) fn content() -> Vec<u8> {
    (0..3000).flat_map(|n| format!("a line of text, number {n}\n").into_bytes()).collect()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

/// A few methods of each kind: for plain bytes, and for the decoded content.
const SOME: [&str; 8] = [
    "--method",
    "rust/read/scalar",
    "--method",
    "rust/*zip/memchr",
    "--method",
    "rust/*zip-libdeflate/memchr",
    "--state",
    "warm",
];

/// What became of a trial.
pub(super) fn outcome<'a>(json: &'a Value, id: &str) -> (&'a str, &'a str) {
    let trial = trials(json, id, "warm");
    (trial["outcome"].as_str().unwrap(), trial["reason"].as_str().unwrap_or_default())
}

pub(super) fn names(json: &Value) -> Vec<&str> {
    json["trials"].as_array().unwrap().iter().map(|trial| trial["id"].as_str().unwrap()).collect()
}

#[test]
fn an_archive_is_raced_as_bytes_and_on_what_comes_out() {
    let (home, content) = (Home::new(), content());
    let (first, second) = content.split_at(1000);
    for (bytes, ids, command) in [
        (
            zip(&[("b", first), ("a", second)]),
            ["rust/zip/memchr", "rust/zip-libdeflate/memchr"],
            "command/unzip -p {} | wc -l",
        ),
        (
            [gzip(first), gzip(second)].concat(),
            ["rust/gzip/memchr", "rust/gzip-libdeflate/memchr"],
            "command/gzip -dc {} | wc -l",
        ),
    ] {
        let file = home.file("no ending", &bytes);
        let (json, said) = home.race_json(&file, &SOME);
        assert_eq!(said.code, Some(0), "{said}");
        let plain = trials(&json, "rust/read/scalar", "warm");
        assert_eq!((&plain["outcome"], &plain["work"]), (&"measured".into(), &"sum".into()), "{plain}");
        assert_eq!(plain["bytes_out"], bytes.len());
        for id in [ids[0], ids[1], command] {
            let trial = trials(&json, id, "warm");
            if trial["outcome"] == "unavailable"
                && trial["reason"].as_str().unwrap().contains("not on the PATH")
            {
                eprintln!("SKIPPED: {id}: {}", trial["reason"]);
                continue;
            }
            assert_eq!(
                (&trial["outcome"], &trial["work"]),
                (&"measured".into(), &"newlines".into()),
                "{trial}"
            );
            assert_eq!(trial["answer"]["newlines"], 3000, "{trial}");
            assert_eq!(
                (&trial["bytes_in"], &trial["bytes_out"]),
                (&bytes.len().into(), &content.len().into())
            );
            let rate = |name: &str| trial[name].as_f64().unwrap();
            let ratio = rate("throughput_bytes_per_s") / rate("throughput_in_bytes_per_s");
            assert!((ratio / rate("bytes_ratio") - 1.0).abs() < 0.01, "{trial}");
        }
        let limits = json["limits"].as_array().unwrap();
        assert!(limits.iter().any(|limit| limit["kind"] == "decoding"), "{}", json["limits"]);
    }
}

/// A file of the corpus in this form, made by readlab itself.
fn made(home: &Home, form: &str) -> PathBuf {
    let mut command = home.command(super::READLAB);
    command.args(["corpus", "make", "gdelt", "300000", "--in", form, "--folder"]).arg(home.at("corpus"));
    let said = super::Said::by(&mut command);
    assert_eq!(said.code, Some(0), "{said}");
    said.out.trim_end().into()
}

const STREAMS: [&str; 6] = ["zstd", "lz4", "xz", "bzip2", "snappy", "brotli"];

/// Byte strings that look like an archive but are invalid, with the reason.
fn broken() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let content = content();
    let (zip, gzip) = (zip(&[("entry", &content)]), gzip(&content));
    let directory = zip.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    let flipped = |bytes: &[u8], at: usize| {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1;
        flipped
    };
    let empty = ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap().into_inner();
    vec![
        ("cut zip", zip[..zip.len() / 2].to_vec(), "nvalid Zip archive"),
        ("corrupt zip", flipped(&zip, 600), "entry \"entry\": "),
        ("zip without entries", empty, "it has no entries"),
        ("encrypted zip", flipped(&zip, directory + 8), "entry \"entry\" is encrypted"),
        ("zip with a wrong checksum", flipped(&zip, directory + 16), "entry \"entry\": Invalid checksum"),
        ("cut gzip", gzip[..gzip.len() / 2].to_vec(), "it ends too early"),
        ("gzip with a wrong checksum", flipped(&gzip, gzip.len() - 8), "not have a matching checksum"),
        ("gzip and garbage", [&gzip[..], b"garbage"].concat(), "is no gzip"),
        ("no more than a beginning", b"\x1f\x8b\x08".to_vec(), "it ends too early"),
    ]
}

#[test]
fn a_broken_archive_is_reported_and_its_bytes_are_still_raced() {
    let home = Home::new();
    for (name, bytes, reason) in broken() {
        let file = home.file(name, &bytes);
        let (json, said) = home.race_json(&file, &SOME);
        assert_eq!(said.code, Some(1), "{name}: what was to decode it did not: {said}");
        assert_eq!(outcome(&json, "rust/read/scalar").0, "measured", "{name}");
        let archive = if name.contains("zip") && !name.contains("gzip") { "zip" } else { "gzip" };
        for id in ["rust/{}/memchr", "rust/{}-libdeflate/memchr", "rust/decoder"] {
            let (outcome, why) = outcome(&json, &id.replace("{}", archive));
            let told = why.starts_with(&format!("it begins like a {archive} and cannot be decoded: "));
            assert!(
                outcome == "unavailable" && told && why.contains(reason),
                "{name}: {id}: {outcome} {why}"
            );
        }
        let cautions = json["targets"][0]["cautions"].to_string();
        assert!(cautions.contains("cannot be decoded"), "{name}: {cautions}");
    }
}

/// Readlab with no program on its PATH but these.
fn with_programs(home: &Home, programs: &[&str], words: &[&str], file: &PathBuf) -> (Value, super::Said) {
    let folder = home.at("programs");
    std::fs::create_dir_all(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for program in programs {
        let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.exists());
        let _ = symlink(found.unwrap(), folder.join(program));
    }
    let mut command = home.command(super::READLAB);
    command.arg("race").arg(file).args(super::QUICK).args(words).args(["--quiet", "--export-json", "-"]);
    let said = super::Said::by(command.env("PATH", folder));
    (serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

#[test]
fn a_program_that_is_not_there_is_named_before_anything_is_timed() {
    let home = Home::new();
    let file = home.file("data", zip(&[("entry", &content())]));
    let words = [&SOME[..], &["-c", "no-such-program {}", "-c", "cat {} | no-such-filter | wc -l"]].concat();
    let (json, said) = with_programs(&home, &["sh", "cat", "wc", "true"], &words, &file);
    assert_eq!(said.code, Some(1), "two commands did not take part: {said}");
    for (id, reason) in [
        (
            "command/unzip -p {} | wc -l",
            "unzip: not on the PATH; on Debian and Ubuntu, apt-get install unzip",
        ),
        ("command/no-such-program", "no-such-program: not on the PATH"),
        ("command/cat {} | no-such-filter | wc -l", "no-such-filter: not on the PATH"),
    ] {
        let (outcome, why) = outcome(&json, id);
        assert!(outcome == "unavailable" && why.starts_with(reason), "{id}: {outcome} {why}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_compressed_file_is_known_and_decoded() {
        let home = Home::new();
        for form in STREAMS {
            let method = format!("rust/{form}/memchr");
            let words = ["--method", "rust/read/scalar", "--method", &method, "--state", "warm"];
            let (json, said) = home.race_json(&made(&home, form), &words);
            assert_eq!(said.code, Some(0), "{form}: {said}");
            let trial = trials(&json, &method, "warm");
            assert_eq!(
                (&trial["decodes"], &trial["answer"]["bytes"]),
                (&form.into(), &300_000.into()),
                "{trial}"
            );
            assert_eq!(trials(&json, "rust/read/scalar", "warm")["decodes"], Value::Null);
            let limits = json["limits"].as_array().unwrap();
            assert!(limits.iter().any(|limit| limit["kind"] == "decoding"), "{form}: {}", json["limits"]);
        }
    }

    #[test]
    fn a_compressed_file_that_is_cut_short_is_reported_and_its_bytes_are_still_raced() {
        let home = Home::new();
        for form in STREAMS {
            let whole = made(&home, form);
            let bytes = std::fs::read(&whole).unwrap();
            let file =
                home.file(format!("cut.{}", whole.extension().unwrap().display()), &bytes[..bytes.len() - 1]);
            let method = format!("rust/{form}/memchr");
            let words = ["--method", "rust/read/scalar", "--method", &method, "--state", "warm"];
            let (json, said) = home.race_json(&file, &words);
            assert_eq!(said.code, Some(1), "{form}: what was to decode it did not: {said}");
            assert_eq!(outcome(&json, "rust/read/scalar").0, "measured", "{form}");
            let (outcome, why) = outcome(&json, &method);
            assert!(
                outcome == "unavailable" && why.contains("cannot be decoded: it "),
                "{form}: {outcome} {why}"
            );
            assert!(why.ends_with("ends too early"), "{form}: {why}");
        }
    }

    #[test]
    fn commands_are_about_the_bytes_unless_they_are_said_to_decode() {
        let home = Home::new();
        let file = home.file("data", gzip(&content()));
        let own = "cat {} | gzip -dc | wc -l";
        let words = ["--state", "warm", "--method", "rust/read/scalar", "--work", "newlines", "-c", own];
        let (id, methods) = (format!("command/{own}"), ["--method", "rust/gzip/memchr"]);
        let (json, said) = home.race_json(&file, &[&words[..], &methods].concat());
        assert_eq!(said.code, Some(1), "{said}");
        let (refused, why) = outcome(&json, &id);
        assert_eq!(refused, "refused");
        assert!(why.ends_with(" (it is right about what comes out: --commands-decode)"), "{why}");
        let (json, said) = home.race_json(&file, &[&words[..], &methods, &["--commands-decode"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let trial = trials(&json, &id, "warm");
        assert_eq!((&trial["outcome"], &trial["decodes"]), (&"measured".into(), &"gzip".into()), "{trial}");
        assert_eq!(trial["answer"]["newlines"], 3000, "{trial}");
        let plain = home.file("plain", content());
        let said = home.race(&plain, &["-c", "wc -l {}", "--commands-decode"]);
        let reason = "plain: --commands-decode is about an archive, and this is none";
        assert!(said.refusal().ends_with(reason), "{said}");
        let said = home.race(&file, &["--commands-decode"]);
        assert!(
            said.refusal().ends_with("--commands-decode is about commands, and there is none: -c"),
            "{said}"
        );
    }

    #[test]
    fn a_brotli_is_known_by_its_name_alone() {
        let home = Home::new();
        let bytes = std::fs::read(made(&home, "brotli")).unwrap();
        let words = ["--method", "rust/read/scalar", "--method", "rust/brotli", "--state", "warm"];
        let (json, said) = home.race_json(&home.file("no ending", &bytes), &words);
        assert_eq!(said.code, Some(1), "it was asked for by name: {said}");
        let told = ("unavailable", "it reads what comes out of a brotli, and the target is none");
        let scan = names(&json).into_iter().find(|name| name.starts_with("rust/brotli")).unwrap();
        assert_eq!(outcome(&json, scan), told);
        let (json, said) =
            home.race_json(&home.file("text.br", "only its name is that of a brotli\n"), &words);
        assert_eq!(said.code, Some(1), "{said}");
        let scan = names(&json).into_iter().find(|name| name.starts_with("rust/brotli")).unwrap();
        let (outcome, why) = outcome(&json, scan);
        assert!(outcome == "unavailable" && why.starts_with("it is named like a brotli and cannot"), "{why}");
    }

    #[test]
    fn nothing_is_decoded_for_those_who_read_bytes() {
        let home = Home::new();
        let file = home.file("data", gzip(&content()));
        let (json, said) = home.race_json(&file, &["--method", "rust/read/scalar", "--state", "warm"]);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(json["trials"].as_array().unwrap().iter().all(|trial| trial["decodes"].is_null()), "{json}");
        assert!(json["targets"][0]["decoded"].is_null());
    }

    #[test]
    fn every_format_shows_bytes_in_beside_bytes_out() {
        let home = Home::new();
        let file = home.file("data", gzip(&content()));
        let page = home.at("run/report.html");
        let exports = ["--export-csv", "data.csv", "--export-markdown", "data.md", "--output", "run"];
        let said = home.race(&file, &[&SOME[..], &exports].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let read = |name: &str| std::fs::read_to_string(home.at(name)).unwrap();
        for text in [said.out.as_str(), &read("data.md"), &std::fs::read_to_string(page).unwrap()] {
            assert!(text.contains("rate in") && text.contains("rates are of bytes out"), "{text}");
            assert!(text.contains("out of the gzip"), "{text}");
        }
        assert!(read("data.csv").lines().next().unwrap().contains(",decodes,bytes_in,bytes_out,"));
        assert!(read("data.csv").lines().any(|row| row.contains("rust/gzip") && row.contains(",gzip,")));
    }

    #[test]
    fn on_other_files_decoders_are_absent_unless_requested_by_name() {
        let home = Home::new();
        let file = home.file("text.zip", "only its name is that of a zip\n");
        let (json, said) = home.race_json(&file, &["--method", "rust/*", "--state", "warm"]);
        assert_eq!(said.code, Some(0), "{said}");
        let decoding = |name: &&str| name.contains("zip") || name.contains("decoder");
        assert_eq!(names(&json).into_iter().find(decoding), None);
        let (json, said) = home.race_json(&file, &["--method", "rust/zip/memchr", "--state", "warm"]);
        assert_eq!(said.code, Some(1), "it was asked for by name: {said}");
        let told = ("unavailable", "it reads what comes out of a zip, and the target is none");
        assert_eq!(outcome(&json, "rust/zip/memchr"), told);
    }

    #[test]
    fn over_http_an_archive_is_raced_by_its_bytes_alone() {
        let home = Home::new();
        let bytes = zip(&[("entry", &content())]);
        let file = home.file("data", &bytes);
        let words = ["--http", "--method", "rust/http/scalar", "--method", "rust/zip", "--state", "warm"];
        let (json, said) = home.race_json(&file, &words);
        assert_eq!(said.code, Some(1), "rust/zip was asked for by name: {said}");
        let trial = trials(&json, "rust/http/scalar", "warm");
        assert_eq!((&trial["outcome"], &trial["decodes"]), (&"measured".into(), &Value::Null), "{trial}");
        assert_eq!((&trial["over"], &trial["answer"]["bytes"]), (&"http".into(), &bytes.len().into()));
        let told = ("unavailable", "it reads what comes out of a zip, and only files are decoded");
        assert_eq!(outcome(&json, "rust/zip/scalar"), told);
        let (outcome, why) = outcome(&json, "command/curl -s {} | wc -l");
        assert!(outcome == "unavailable" && why.contains("and never sum"), "{outcome} {why}");
    }

    #[test]
    fn a_suite_reads_the_bytes_and_the_content_of_an_archive_beside_http() {
        let (home, content) = (Home::new(), content());
        let bytes = gzip(&content);
        let entry = |trial: &str, more: &str| format!("[[trial]]\ntrial = \"{trial}\"\n{more}\n");
        let suite = [
            "name = \"mine\"\nabout = \"all of it\"\nstate = \"warm\"\n".to_owned(),
            entry("rust/read/scalar", ""),
            entry("rust/gzip/memchr", "target = \"gzip\""),
            entry("rust/http/scalar", "over = \"http\""),
        ];
        let mut command = home.command(super::super::READLAB);
        command.arg("suite").arg(home.file("mine.toml", suite.concat())).arg(home.file("data", &bytes));
        command.args(super::super::QUICK).args(["--quiet", "--export-json", "-"]);
        let said = super::super::Said::by(&mut command);
        assert_eq!(said.code, Some(0), "{said}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        for (id, over, out) in [
            ("rust/read/scalar", "file", bytes.len()),
            ("rust/gzip/memchr", "file", content.len()),
            ("rust/http/scalar", "http", bytes.len()),
        ] {
            let trial = trials(&json, id, "warm");
            assert_eq!((&trial["outcome"], &trial["over"]), (&"measured".into(), &over.into()), "{trial}");
            assert_eq!(trial["answer"]["bytes"], out, "{trial}");
        }
    }
}
