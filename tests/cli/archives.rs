//! Tests of the user's own archives: raced as plain bytes, and decoded, with a dictionary if one is
//! given. A broken archive is reported with the reason and does not affect the other trials.

use crate::home::{Export, Home, ProgramOutput, QUICK, READLAB, Trials, Words, items};
use crate::machine::{on_path, skip};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// 3000 lines that compress well.
fn content() -> Vec<u8> {
    (0..3000).flat_map(|n| format!("a line of text, number {n}\n").into_bytes()).collect()
}

pub(super) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

/// A few methods of each kind: for plain bytes, and for the decoded content.
const SOME_METHODS: &str = "--method rust/read/scalar --method rust/*zip/memchr --method rust/*zip-libdeflate/memchr \
                    --state warm";

/// The full name of the only trial whose name has this beginning.
fn only_trial_named<'a>(json: &'a Value, begin: &str) -> &'a str {
    let mut names = json.trials().iter().map(|trial| trial["id"].as_str().unwrap());
    names.find(|name| name.starts_with(begin)).unwrap_or_else(|| panic!("no {begin}"))
}

fn assert_decoding_limit(json: &Value) {
    let limits = items(&json["limits"]);
    assert!(limits.iter().any(|limit| limit["kind"] == "decoding"), "{limits:?}");
}

#[test]
fn an_archive_is_raced_by_its_bytes_and_by_its_content() {
    let (home, content) = (Home::new(), content());
    let (first, second) = content.split_at(1000);
    let [zipped, gzipped] = [zip(&[("b", first), ("a", second)]), [gzip(first), gzip(second)].concat()];
    for (bytes, ids) in [
        (zipped, ["rust/zip/memchr", "rust/zip-libdeflate/memchr", "command/unzip -p {} | wc -l"]),
        (gzipped, ["rust/gzip/memchr", "rust/gzip-libdeflate/memchr", "command/gzip -dc {} | wc -l"]),
    ] {
        let json = home.race_json(home.file("no ending", &bytes), SOME_METHODS).exits(0);
        let plain = json.measured("rust/read/scalar", "warm");
        assert_eq!((&plain["work"], &plain["bytes_out"]), (&"sum".into(), &bytes.len().into()), "{plain}");
        for id in ids {
            let trial = json.trial(id, "warm");
            if trial["reason"].as_str().is_some_and(|why| why.contains("not on the PATH")) {
                skip(format!("{id}: {}", trial["reason"]));
                continue;
            }
            json.measured(id, "warm");
            assert_eq!((&trial["work"], &trial["answer"]["newlines"]), (&"newlines".into(), &3000.into()));
            assert_eq!(
                (&trial["bytes_in"], &trial["bytes_out"]),
                (&bytes.len().into(), &content.len().into())
            );
            let rate = |name: &str| trial[name].as_f64().unwrap();
            let ratio = rate("throughput_bytes_per_s") / rate("throughput_in_bytes_per_s");
            assert!((ratio / rate("bytes_ratio") - 1.0).abs() < 0.01, "{trial}");
        }
        assert_decoding_limit(&json);
    }
}

/// A file of the corpus in this form, made by readlab itself.
fn corpus_archive(home: &Home, form: &str) -> PathBuf {
    let made = home.readlab(format!("corpus --folder corpus make gdelt 300000 --in {form}")).exits(0);
    home.at(made.out.trim_end())
}

#[test]
fn a_broken_archive_is_reported_and_its_bytes_are_still_raced() {
    let (home, content) = (Home::new(), content());
    let (zip, gzip) = (zip(&[("entry", &content)]), gzip(&content));
    for (archive, bytes, reason) in [
        ("zip", zip[..zip.len() / 2].to_vec(), "nvalid Zip archive"),
        ("gzip", [&gzip[..], b"garbage"].concat(), "is no gzip"),
    ] {
        // The methods that decode it took no part.
        let json = home.race_json(home.file("broken", &bytes), SOME_METHODS).exits(1);
        json.measured("rust/read/scalar", "warm");
        for id in ["rust/{}/memchr", "rust/{}-libdeflate/memchr", "rust/decoder"] {
            let trial = json.ended(&id.replace("{}", archive), "warm", "unavailable", reason);
            let why = trial["reason"].as_str().unwrap();
            let begin = format!("it begins like a {archive} and cannot be decoded: ");
            assert!(why.starts_with(&begin), "{id}: {why}");
        }
        let cautions = json["targets"][0]["cautions"].to_string();
        assert!(cautions.contains("cannot be decoded"), "{archive}: {cautions}");
    }
}

/// A race with only these programs on its PATH.
fn race_with_programs(home: &Home, programs: &[&str], file: &Path, words: &str) -> Export {
    let folder = home.folder("programs");
    for program in programs {
        symlink(on_path(program).unwrap(), folder.join(program)).unwrap();
    }
    let mut command = home.command(READLAB);
    command.arg("race").arg(file).args(format!("{QUICK} {words} --quiet --export-json -").words());
    ProgramOutput::by(command.env("PATH", folder)).export()
}

#[test]
fn a_missing_program_is_named_before_anything_is_timed() {
    let home = Home::new();
    let file = home.file("data", zip(&[("entry", &content())]));
    let words = format!("{SOME_METHODS} -c 'no-such-program {{}}' -c 'cat {{}} | no-such-filter | wc -l'");
    // Two commands took no part.
    let json = race_with_programs(&home, &["sh", "cat", "wc", "true"], &file, &words).exits(1);
    for (id, reason) in [
        (
            "command/unzip -p {} | wc -l",
            "unzip: not on the PATH; on Debian and Ubuntu, apt-get install unzip",
        ),
        ("command/no-such-program", "no-such-program: not on the PATH"),
        ("command/cat {} | no-such-filter | wc -l", "no-such-filter: not on the PATH"),
    ] {
        let why = json.ended(id, "warm", "unavailable", "")["reason"].as_str().unwrap();
        assert!(why.starts_with(reason), "{id}: {why}");
    }
}

/// A home with a zstd of the content, compressed with a dictionary of arbitrary bytes, and the
/// dictionary.
fn home_with_dictionary() -> Home {
    let home = Home::new();
    let dictionary = b"a line of text, number 17\na line of text, number 2000\n";
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 19, dictionary).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&content()).unwrap();
    home.file("records.zst", encoder.finish().unwrap());
    home.file("dictionary", dictionary);
    home
}

/// The suite's commands, by their names.
const ZSTD: &str = "command/zstd -dc {} | wc -l";
const ZSTD_WITH: &str = "command/zstd -dcD \"$READLAB_DICTIONARY\" {} | wc -l";

#[test]
fn a_zstd_is_decoded_with_the_dictionary_that_is_named() {
    let home = home_with_dictionary();
    let named_dictionary = home.at("dictionary").display().to_string();
    let decoders = "--method rust/zstd/memchr --method rust/zstd-frames/memchr";
    let words = format!("--dictionary {named_dictionary} --state warm --method rust/read/scalar {decoders}");
    let json = home.race_json("records.zst", words).exits(0);
    let is_decoded = |id: &str| assert_eq!(json.measured(id, "warm")["decodes"], "zstd", "{id}");
    is_decoded("rust/zstd/memchr");
    is_decoded(only_trial_named(&json, "rust/zstd-frames/memchr"));
    let by_command = json.trial(ZSTD_WITH, "warm");
    if by_command["reason"].as_str().is_some_and(|why| why.contains("not on the PATH")) {
        skip(format!("{ZSTD_WITH}: {}", by_command["reason"]));
    } else {
        is_decoded(ZSTD_WITH);
    }
    assert!(json.trials().iter().all(|trial| trial["id"] != ZSTD), "it has no dictionary");
    assert_decoding_limit(&json);
    let kept = &json["targets"][0]["dictionary"];
    assert_eq!((&kept["path"], &kept["size_bytes"]), (&named_dictionary.into(), &54.into()), "{kept}");
}

mod ring2 {
    use super::*;

    const PLAIN_READ: &str = "--method rust/read/scalar --state warm";

    #[test]
    fn decoding_that_takes_too_long_leaves_time_to_race_the_bytes() {
        let home = Home::new();
        if on_path("gzip").is_none() {
            return skip("gzip is missing");
        }
        // 32 GiB in 128 members: no machine decodes them in a second.
        let member = "head -c 256M /dev/zero | gzip > member";
        let copies = "for i in $(seq 128); do cat member; done > f.gz";
        ProgramOutput::by(&mut home.shell(format!("{member}; {copies}"))).exits(0);
        let methods = "--method rust/read/scalar --method rust/gzip/memchr --state warm --runs 3";
        let json = home.readlab(format!("race f.gz {methods} --budget 2s --quiet --export-json -")).export();
        json.measured("rust/read/scalar", "warm");
        let reason = "it begins like a gzip and takes too long to decode: decoding it once";
        json.ended("rust/gzip/memchr", "warm", "unavailable", reason);
    }

    #[test]
    fn a_compressed_file_is_decoded_and_a_truncated_one_is_reported_and_raced_by_its_bytes() {
        let home = Home::new();
        for form in ["zstd", "lz4", "xz", "bzip2", "snappy", "brotli"] {
            let method = format!("rust/{form}/memchr");
            let words = format!("{PLAIN_READ} --method {method}");
            let whole = corpus_archive(&home, form);
            let json = home.race_json(&whole, &words).exits(0);
            let trial = json.measured(&method, "warm");
            let decoded = (&trial["decodes"], &trial["answer"]["bytes"]);
            assert_eq!(decoded, (&form.into(), &300_000.into()), "{trial}");
            assert_eq!(json.trial("rust/read/scalar", "warm")["decodes"], Value::Null);
            assert_decoding_limit(&json);

            let bytes = fs::read(&whole).unwrap();
            let name = format!("cut.{}", whole.extension().unwrap().display());
            // The methods that decode it took no part.
            let cut = home.file(name, &bytes[..bytes.len() - 1]);
            let json = home.race_json(cut, &words).exits(1);
            json.measured("rust/read/scalar", "warm");
            let trial = json.ended(&method, "warm", "unavailable", "cannot be decoded: it ");
            assert!(trial["reason"].as_str().unwrap().ends_with("ends too early"), "{form}: {trial}");
        }
    }

    #[test]
    fn commands_read_the_bytes_unless_they_are_declared_to_decode() {
        let home = Home::new();
        let file = home.file("data", gzip(&content()));
        let own = "cat {} | gzip -dc | wc -l";
        let words = format!("{PLAIN_READ} --work newlines -c '{own}' --method rust/gzip/memchr");
        let id = format!("command/{own}");
        let json = home.race_json(&file, &words).exits(1);
        let why = json.ended(&id, "warm", "refused", "")["reason"].as_str().unwrap();
        assert!(why.ends_with(" (it is right about what comes out: --commands-decode)"), "{why}");
        let json = home.race_json(&file, words + " --commands-decode").exits(0);
        let trial = json.measured(&id, "warm");
        assert_eq!(
            (&trial["decodes"], &trial["answer"]["newlines"]),
            (&"gzip".into(), &3000.into()),
            "{trial}"
        );
        let plain = home.file("plain", content());
        let said = home.race(plain, "-c 'wc -l {}' --commands-decode");
        said.refuses("plain: --commands-decode is about an archive, and this is none\n");
        let said = home.race(file, "--commands-decode");
        said.refuses("--commands-decode is about commands, and there is none: -c\n");
    }

    #[test]
    fn an_archive_whose_content_nothing_is_compared_with_is_decoded_for_a_short_time() {
        let home = Home::new();
        let own = "head -c 1000 {} | wc -c";
        let words = format!("-c '{own}' --commands-decode --check none --state warm");
        let race = |file: &str, budget: &str| {
            let words = format!("{words} --runs 3 --budget {budget} --quiet --export-json -");
            home.readlab(format!("race {file} {words}")).export()
        };
        home.file("small.gz", gzip(&content()));
        let small = race("small.gz", "1m");
        assert_eq!(small["targets"][0]["decoded"]["answer"]["lines"], 3000, "{small}");
        home.file("large.gz", gzip(&b"\n".repeat(200 << 20)));
        let large = race("large.gz", "2s");
        let target = &large["targets"][0];
        assert!(target["decoded"].is_null(), "{target}");
        assert!(target["cautions"].to_string().contains("Only its beginning was decoded"), "{target}");
        let trial = large.measured(&format!("command/{own}"), "warm");
        assert!(trial["bytes_out"].is_null() && trial["bytes_ratio"].is_null(), "{trial}");
    }

    #[test]
    fn nothing_is_decoded_for_methods_that_read_bytes() {
        let home = Home::new();
        let json = home.race_json(home.file("data", gzip(&content())), PLAIN_READ).exits(0);
        assert!(json.trials().iter().all(|trial| trial["decodes"].is_null()), "{json}");
        assert!(json["targets"][0]["decoded"].is_null());
    }

    #[test]
    fn decoders_race_on_other_files_only_if_requested_and_a_brotli_is_recognised_by_its_name() {
        let home = Home::new();
        let zip = home.file("text.zip", "only its name is that of a zip\n");
        let json = home.race_json(&zip, "--method rust/* --state warm").exits(0);
        let names = json.trials().iter().map(|trial| trial["id"].as_str().unwrap());
        let decoders: Vec<&str> = names.filter(|it| it.contains("zip") || it.contains("decoder")).collect();
        assert!(decoders.is_empty(), "{decoders:?}");
        let brotli = fs::read(corpus_archive(&home, "brotli")).unwrap();
        let brotli = home.file("no ending", brotli);
        let text = home.file("text.br", "only its name is that of a brotli\n");
        for (file, method, why) in [
            (zip, "rust/zip", "it reads what comes out of a zip, and the target is none"),
            (brotli, "rust/brotli", "it reads what comes out of a brotli, and the target is none"),
            (text, "rust/brotli", "it is named like a brotli and cannot"),
        ] {
            let json = home.race_json(file, format!("{PLAIN_READ} --method {method}")).exits(1);
            let trial = json.ended(only_trial_named(&json, method), "warm", "unavailable", "");
            let reason = trial["reason"].as_str().unwrap();
            assert!(reason == why || why.ends_with("cannot") && reason.starts_with(why), "{trial}");
        }
    }

    #[test]
    fn over_http_an_archive_is_raced_by_its_bytes_alone() {
        let home = Home::new();
        let bytes = zip(&[("entry", &content())]);
        let words = "--http --method rust/http/scalar --method rust/zip --state warm";
        // The method rust/zip was requested by name.
        let json = home.race_json(home.file("data", &bytes), words).exits(1);
        let trial = json.measured("rust/http/scalar", "warm");
        assert_eq!((&trial["over"], &trial["decodes"]), (&"http".into(), &Value::Null), "{trial}");
        assert_eq!(trial["answer"]["bytes"], bytes.len());
        let zip = json.ended("rust/zip/scalar", "warm", "unavailable", "");
        assert_eq!(zip["reason"], "it reads what comes out of a zip, and only files are decoded");
        json.ended("command/curl -s {} | wc -l", "warm", "unavailable", "and never sum");
    }

    #[test]
    fn a_suite_reads_the_bytes_and_the_content_of_an_archive_beside_http() {
        let (home, content) = (Home::new(), content());
        let bytes = gzip(&content);
        let suite = "name = 'mine'\nabout = 'all of it'\nstate = 'warm'\n\
                     [[trial]]\ntrial = 'rust/read/scalar'\n\
                     [[trial]]\ntrial = 'rust/gzip/memchr'\ntarget = 'gzip'\n\
                     [[trial]]\ntrial = 'rust/http/scalar'\nover = 'http'\n";
        home.file("mine.toml", suite);
        home.file("data", &bytes);
        let run = home.readlab(format!("suite mine.toml data {QUICK} --quiet --export-json -")).exits(0);
        let json = run.json();
        for (id, over, out) in [
            ("rust/read/scalar", "file", bytes.len()),
            ("rust/gzip/memchr", "file", content.len()),
            ("rust/http/scalar", "http", bytes.len()),
        ] {
            let trial = json.measured(id, "warm");
            assert_eq!((&trial["over"], &trial["answer"]["bytes"]), (&over.into(), &out.into()), "{trial}");
        }
    }

    #[test]
    fn a_wrong_or_missing_dictionary_is_given_as_the_reason() {
        let home = home_with_dictionary();
        home.file("other", "what is in here is in no line of the content at all, as is easily seen");
        for given in ["", "--dictionary other"] {
            let words = format!("--state warm --method rust/zstd/memchr --method rust/read/scalar {given}");
            let json = home.race_json("records.zst", words).exits(1);
            json.ended("rust/zstd/memchr", "warm", "unavailable", "zstd and cannot be decoded: ");
        }
        home.file("plain", content());
        for (file, words, reason) in [
            ("plain", "--dictionary dictionary", "plain: --dictionary decodes a zstd, and this is none"),
            ("records.zst", "--dictionary none", "none: no such file"),
            ("records.zst", "--dictionary dictionary --http", "--dictionary is for what is decoded"),
            (".", "--dictionary dictionary", "--dictionary is for what is decoded"),
        ] {
            home.race(file, words).refuses(reason);
        }
    }

    #[test]
    fn a_run_is_resumed_only_with_its_unchanged_dictionary() {
        let home = home_with_dictionary();
        let words = "--dictionary dictionary --state warm --method rust/zstd/memchr --output run";
        home.race("records.zst", words).exits(0);
        let record = || home.read("run/record.jsonl");
        let (whole, is_early) = (record(), |line: &&str| !line.contains(r#""line":"sample""#));
        let cut: String = whole.split_inclusive('\n').take_while(is_early).collect();
        home.file("run/record.jsonl", &cut);
        let resume = || home.readlab("race --resume run --no-progress");
        resume().exits(0);
        let resumed = record();
        assert!(resumed.starts_with(&cut) && resumed.contains(r#""line":"sample""#), "{resumed}");

        home.file("run/record.jsonl", &cut);
        home.file("dictionary", "a line of text, number 17\na line of text, number 2001\n");
        resume().refuses("dictionary");
        assert_eq!(record(), cut, "nothing is changed");
    }
}
