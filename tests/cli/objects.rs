//! Tests of objects in S3 stores: readlab's own store, where cold and warm are proven, and a
//! foreign store, whose cache is unknown. Also tests that credentials are shown nowhere.

use super::http::assert_proven;
use super::real_servers::{RealServer, SKIPPED_CODE};
use crate::home::{Home, ProgramOutput, QUICK, READLAB, Trials, Words, items};
use crate::machine::skip;
use crate::repository;
use crate::scripted_server::{Server, TEXT, raw};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;

/// The prefix of names of secrets in signed URLs.
const SIGNATURE_PREFIX: &str = "X-Amz-";

/// A trial by its method, with any scan.
fn trial<'j>(json: &'j Value, method: &str, state: &str) -> &'j Value {
    let begin = format!("{method}/");
    let is_it = |trial: &&Value| {
        let id = trial["id"].as_str().unwrap();
        (id == method || id.starts_with(&begin)) && trial["state"] == state
    };
    json.trials().iter().find(is_it).unwrap_or_else(|| panic!("no {method}: {json}"))
}

#[test]
fn a_file_is_read_as_an_object_cold_and_warm_and_both_are_proven() {
    let home = Home::new();
    let file = home.file("f.txt", "line\n".repeat(100_000));
    let json = home.race_json(file, "--s3 --method rust/http*").exits(0);
    assert_eq!(json.said.err, "", "{json}");
    for method in ["rust/http", "rust/http-ranged"] {
        assert_proven(&json, trial(&json, method, "cold")["id"].as_str().unwrap());
        for state in ["cold", "warm"] {
            let trial = trial(&json, method, state);
            assert_eq!(trial["over"], "s3", "{trial}");
            for sample in items(&trial["samples"]) {
                assert!(sample["request"]["requests"].as_u64() >= Some(1), "{sample}");
            }
        }
    }
    assert_eq!(json["targets"][0]["http"]["server"], "own");
    assert_eq!(json["targets"][0]["store"]["signed"], true);
    let run = &home.runs()[0];
    for name in ["record.jsonl", "report.html"] {
        assert!(!fs::read_to_string(run.join(name)).unwrap().contains(SIGNATURE_PREFIX), "{name}");
    }
}

/// A foreign store with one file `my log.txt` in its bucket.
struct ForeignStore {
    home: Home,
    store: RealServer,
}

const OBJECT_KEY: &str = "my log.txt";

impl ForeignStore {
    fn start() -> Option<ForeignStore> {
        let home = Home::with_file(format!("store/bucket/{OBJECT_KEY}"), TEXT);
        Some(ForeignStore { store: RealServer::start("s3.sh", &home.at("store"))?, home })
    }

    fn object(&self) -> String {
        format!("s3://{}/{OBJECT_KEY}", self.store.at("bucket"))
    }

    fn with_credentials(&self, program: impl AsRef<OsStr>, secret: &str) -> Command {
        let mut command = self.home.command(program);
        command.env("AWS_ACCESS_KEY_ID", self.store.at("access_key")).env("AWS_SECRET_ACCESS_KEY", secret);
        command.env("AWS_REGION", self.store.at("region"));
        command
    }

    fn race(&self, words: impl Words) -> ProgramOutput {
        let mut command = self.with_credentials(READLAB, self.store.at("secret_key"));
        command.args(["race", &self.object(), "--endpoint", self.store.at("endpoint")]);
        ProgramOutput::by(command.args(QUICK.words()).args(words.words()))
    }

    /// Refuses text that contains anything of the credentials.
    fn assert_has_no_secret(&self, text: &str, what: &str) {
        self.assert_has_no_key(text, what);
        assert!(!text.contains(SIGNATURE_PREFIX), "{what} has {SIGNATURE_PREFIX}: {text}");
    }

    /// Refuses text that contains a key of this store. A URL that the store signed contains one of
    /// them.
    fn assert_has_no_key(&self, text: &str, what: &str) {
        for key in ["secret_key", "access_key"] {
            let secret = self.store.at(key);
            assert!(!text.contains(secret), "{what} has {secret}: {text}");
        }
    }
}

#[test]
fn an_object_that_cannot_be_read_is_refused_before_anything_is_measured() {
    let Some(it) = ForeignStore::start() else { return };
    let [endpoint, secret, tls] = ["endpoint", "secret_key", "tls_endpoint"].map(|name| it.store.at(name));
    let object = it.object();
    let object = object.as_str();
    for (secret, words, why) in [
        ("wrong", &[object, "--endpoint", endpoint][..], "403"),
        (secret, &["s3://bucket/absent", "--endpoint", endpoint], "404"),
        (secret, &["s3://bucket", "--endpoint", endpoint], "s3://bucket"),
        (secret, &[object, "--endpoint", "ftp://x"], "ftp://x"),
        (secret, &[object, "--endpoint", tls], "certificate"),
        (secret, &[object, "--endpoint", endpoint, "--no-sign-request"], "403"),
    ] {
        let said = ProgramOutput::by(it.with_credentials(READLAB, secret).arg("race").args(words));
        it.assert_has_no_secret(said.refuses(why).err.as_str(), "the refusal");
    }
    it.home.readlab(["race", object]).refuses("AWS_ACCESS_KEY_ID");
    assert!(it.home.runs().is_empty(), "no run was begun");
}

#[test]
fn a_bucket_in_another_region_is_refused_with_that_region() {
    let home = Home::new();
    for head in ["301 Moved Permanently", "307 Temporary Redirect\r\nLocation: http://elsewhere.invalid/o"] {
        let answer =
            format!("HTTP/1.1 {head}\r\nx-amz-bucket-region: eu-west-9\r\nContent-Length: 0\r\n\r\n");
        let store = Server::new(move |_| raw(&answer));
        let words = format!("--no-sign-request --endpoint {}", store.url());
        let why = "s3://bucket/key: the bucket is in eu-west-9: set AWS_REGION=eu-west-9\n";
        home.race("s3://bucket/key", words).refuses(why);
    }
}

/// The method of each contender with which its users begin.
const SDKS: [&str; 5] = [
    "rust-objects/stream",
    "go-objects/GetObject",
    "java-objects/S3Client",
    "node-objects/GetObjectCommand",
    "python-objects/boto3.get_object",
];

mod ring2 {
    use super::*;

    #[test]
    fn an_object_of_another_store_is_raced_and_its_cache_is_unknown() {
        let Some(it) = ForeignStore::start() else { return };
        // The command only prints its count. Everything that it sees goes to files.
        let look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' >>lines; env >>variables; wc -l <'store/bucket/my log.txt' # {}";
        let words =
            ["--method", "rust/http*", "-c", look, "--export-json", "a.json", "--export-csv", "a.csv"];
        let said = it.race(words).succeeds_silently();
        it.assert_has_no_secret(&said.out, "what is printed");
        let run = it.home.runs().remove(0);
        let of_run = ["record.jsonl", "report.html"].map(|name| run.join(name));
        let of_home = ["a.json", "a.csv", "variables"].map(|name| it.home.at(name));
        for file in of_run.iter().chain(&of_home) {
            it.assert_has_no_secret(&it.home.read(file), &file.display().to_string());
        }
        // Other tests that run at the same time may have signed URLs of their stores on command
        // lines.
        let lines = fs::read(it.home.at("lines")).unwrap();
        it.assert_has_no_key(&String::from_utf8_lossy(&lines), "a command line");
        let json = it.home.json("a.json");
        let measured = trial(&json, "rust/http", "unknown");
        let ended = (&measured["outcome"], &measured["over"]);
        assert_eq!(ended, (&"measured".into(), &"s3".into()), "{measured}");
        let target = &json["targets"][0];
        assert_eq!((&target["path"], &target["http"]["server"]), (&it.object().into(), &"foreign".into()));
        assert_eq!(target["store"]["endpoint"], it.store.at("endpoint"));
    }

    #[test]
    fn a_trial_of_an_own_suite_reads_a_file_as_an_object() {
        let home = Home::with_file("f.txt", TEXT);
        let suite = "name = 'mine'\nabout = ''\nstate = 'warm'\n\
                     [[trial]]\ntrial = 'rust/read/scalar'\n\
                     [[trial]]\ntrial = 'rust/http/scalar'\nover = 's3'\n";
        home.file("mine.toml", suite);
        let said = home.readlab(format!("suite mine.toml f.txt {QUICK} --quiet --export-json -")).exits(0);
        let json = said.json();
        for (id, over) in [("rust/read/scalar", "file"), ("rust/http/scalar", "s3")] {
            assert_eq!(json.measured(id, "warm")["over"], over);
        }
    }

    #[test]
    fn a_bucket_is_in_the_name_of_the_host_where_the_profile_says_so() {
        let Some(it) = ForeignStore::start() else { return };
        let race = |style: &str, endpoint: &str| {
            let config = it.home.file("config", format!("[default]\ns3 =\n  addressing_style = {style}\n"));
            let named = repository::path("tests/servers/named.sh");
            let mut command = it.with_credentials(named, it.store.at("secret_key"));
            command.env("AWS_CONFIG_FILE", config).args([it.store.at("virtual_host"), READLAB, "race"]);
            command.args([
                &it.object(),
                "--endpoint",
                it.store.at(endpoint),
                "--cacert",
                it.store.at("cacert"),
            ]);
            ProgramOutput::by(
                command.args(format!("--method rust/http* --quiet {QUICK} --export-json -").words()),
            )
        };
        for endpoint in ["virtual_endpoint", "virtual_tls_endpoint"] {
            let said = race("virtual", endpoint);
            if said.code == Some(SKIPPED_CODE) {
                return eprintln!("{}", said.err.trim());
            }
            let json = said.succeeds_silently().json();
            for method in ["rust/http", "rust/http-ranged"] {
                assert_eq!(trial(&json, method, "unknown")["outcome"], "measured");
            }
            assert_eq!(json["targets"][0]["store"]["style"], "virtual");
        }
        // With the bucket in the path, the host would have no address.
        race("path", "virtual_endpoint").refuses("s3://bucket/");
    }

    #[test]
    fn the_sdks_of_five_languages_read_an_object_and_every_answer_is_right() {
        let home = Home::new();
        let file = home.file("f.txt", "line\n".repeat(50_000));
        for sdk in SDKS {
            // The contender is built now. If it cannot be built here, it has no methods.
            let words = format!("--s3 --state warm --method {sdk} --fills 1 --quiet --export-json -");
            let said = home.race(&file, words);
            if said.code == Some(2) && said.err.contains("no method matches") {
                skip(format!("{sdk}: {}", said.err));
                continue;
            }
            let json = said.exits(0).json();
            let trial = trial(&json, sdk, "warm");
            assert_eq!(trial["outcome"], "measured", "{trial}");
            for sample in items(&trial["samples"]) {
                assert_eq!(sample["answer"]["newlines"], 50_000, "{sdk}: {sample}");
                let [first_byte_ns, requests] =
                    ["first_byte_ns", "requests"].map(|field| sample["request"][field].as_u64());
                let wall_ns = sample["wall_ns"].as_u64().unwrap();
                assert!(first_byte_ns.is_some_and(|ns| ns <= wall_ns), "{sdk}: {sample}");
                assert!(requests >= Some(1), "{sdk}: {sample}");
            }
        }
    }
}
