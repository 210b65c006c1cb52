//! Tests of objects of S3 stores: of readlab's own store, where cold and warm are proven, and of
//! another, whose cache is unknown; and that credentials are shown nowhere.

use super::real_servers::{RealServer, SKIPPED};
use super::scripted_server::TEXT;
use super::{Home, QUICK, READLAB, Said};
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What names of secrets in signed URLs begin with.
const SIGNED: &str = "X-Amz-";

fn trial<'j>(json: &'j Value, method: &str, state: &str) -> &'j Value {
    let is_it = |trial: &&Value| {
        let id = trial["id"].as_str().unwrap();
        (id == method || id.starts_with(&format!("{method}/"))) && trial["state"] == state
    };
    json["trials"].as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("no {method}: {json}"))
}

#[test]
fn a_file_is_read_as_an_object_cold_and_warm_and_both_are_proven() {
    let home = Home::new();
    let file = home.file("f.txt", "line\n".repeat(100_000));
    let (json, said) = home.race_json(&file, &["--s3", "--method", "rust/http*"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    for method in ["rust/http", "rust/http-ranged"] {
        for (state, before) in [("cold", 0.0), ("warm", 1.0)] {
            let trial = trial(&json, method, state);
            assert_eq!((&trial["outcome"], &trial["over"]), (&"measured".into(), &"s3".into()), "{trial}");
            for sample in trial["samples"].as_array().unwrap() {
                assert_eq!(sample["resident_before"].as_f64(), Some(before), "{state}: {sample}");
                assert_eq!(sample["resident_after"].as_f64(), Some(1.0), "the server's reads fill the cache");
                assert_eq!(sample["answer"]["newlines"], 100_000);
                assert!(sample["request"]["requests"].as_u64().is_some_and(|it| it >= 1), "{sample}");
            }
        }
    }
    assert_eq!(json["targets"][0]["http"]["server"], "own");
    assert_eq!(json["targets"][0]["store"]["signed"], true);
    let run = &home.runs()[0];
    for name in ["record.jsonl", "report.html"] {
        assert!(!fs::read_to_string(run.join(name)).unwrap().contains(SIGNED), "{name}");
    }
}

/// A store of another with one file `my log.txt` in its bucket.
struct OtherStore {
    home: Home,
    store: RealServer,
}

const KEY: &str = "my log.txt";

impl OtherStore {
    fn start() -> Option<OtherStore> {
        let home = Home::new();
        fs::create_dir_all(home.at("store/bucket")).unwrap();
        fs::write(home.at("store/bucket").join(KEY), TEXT).unwrap();
        Some(OtherStore { store: RealServer::start("s3.sh", &home.at("store"))?, home })
    }

    fn object(&self) -> String {
        format!("s3://{}/{KEY}", self.store.at("bucket"))
    }

    /// Readlab with these credentials in its environment.
    fn readlab_as(&self, secret: &str, words: &[&str]) -> Said {
        Said::by(self.with_credentials(READLAB, secret).args(words))
    }

    /// The command of a program with these credentials in its environment.
    fn with_credentials(&self, program: &str, secret: &str) -> Command {
        let mut command = self.home.command(program);
        for (name, value) in [
            ("AWS_ACCESS_KEY_ID", self.store.at("access_key")),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_REGION", self.store.at("region")),
        ] {
            command.env(name, value);
        }
        command
    }

    fn race(&self, words: &[&str]) -> Said {
        let object = self.object();
        let endpoint = ["race", object.as_str(), "--endpoint", self.store.at("endpoint")];
        self.readlab_as(self.store.at("secret_key"), &[&endpoint, &QUICK[..], words].concat())
    }

    /// Refuses text with anything of the credentials.
    fn assert_has_no_secret(&self, text: &str, what: &str) {
        self.assert_has_no_key(text, what);
        assert!(!text.contains(SIGNED), "{what} has {SIGNED}: {text}");
    }

    /// Refuses text with a key of this store; a URL that it signed has one of them.
    fn assert_has_no_key(&self, text: &str, what: &str) {
        for key in ["secret_key", "access_key"] {
            let secret = self.store.at(key);
            assert!(!text.contains(secret), "{what} has {secret}: {text}");
        }
    }
}

#[test]
fn an_object_that_cannot_be_read_is_refused_before_anything_is_measured() {
    let Some(it) = OtherStore::start() else { return };
    let endpoint = it.store.at("endpoint");
    let secret = it.store.at("secret_key");
    let object = it.object();
    let refused = |secret: &str, words: &[&str], why: &str| {
        let said = it.readlab_as(secret, &[&["race"], words].concat());
        assert!(said.refusal().contains(why), "{why}: {said}");
        it.assert_has_no_secret(&said.to_string(), "the refusal");
    };
    refused("wrong", &[&object, "--endpoint", endpoint], "403");
    refused(secret, &["s3://bucket/absent", "--endpoint", endpoint], "404");
    refused(secret, &["s3://bucket", "--endpoint", endpoint], "s3://bucket");
    refused(secret, &[&object, "--endpoint", "ftp://x"], "ftp://x");
    refused(secret, &[&object, "--endpoint", it.store.at("tls_endpoint")], "certificate");
    let public = [&object, "--endpoint", endpoint, "--no-sign-request"];
    refused(secret, &public, "403");
    let said = it.home.readlab(["race", &object]);
    assert!(said.refusal().contains("AWS_ACCESS_KEY_ID"), "{said}");
    assert!(it.home.runs().is_empty(), "no run was begun");
}

/// The method of each contender that its users begin with.
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
        let Some(it) = OtherStore::start() else { return };
        // What a command prints is only its count; what it sees goes to a file.
        let look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' >>lines; env >>variables; wc -l <'store/bucket/my log.txt' # {}";
        let said = it.race(&[
            "--method",
            "rust/http*",
            "-c",
            look,
            "--export-json",
            "a.json",
            "--export-csv",
            "a.csv",
        ]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
        it.assert_has_no_secret(&said.to_string(), "what is printed");
        let read = |name: &Path| String::from_utf8_lossy(&fs::read(name).unwrap()).into_owned();
        let run = it.home.runs()[0].clone();
        let of_run = ["record.jsonl", "report.html"].map(|name| run.join(name));
        let of_home = ["a.json", "a.csv", "variables"].map(|name| it.home.at(name));
        for file in of_run.iter().chain(&of_home) {
            it.assert_has_no_secret(&read(file), &file.display().to_string());
        }
        // Other tests that run at the same time may have signed URLs of their stores on command
        // lines.
        it.assert_has_no_key(&read(&it.home.at("lines")), "a command line");
        let json: Value = serde_json::from_str(&read(&of_home[0])).unwrap();
        let measured = trial(&json, "rust/http", "unknown");
        assert_eq!(
            (&measured["outcome"], &measured["over"]),
            (&"measured".into(), &"s3".into()),
            "{measured}"
        );
        let target = &json["targets"][0];
        assert_eq!((&target["path"], &target["http"]["server"]), (&it.object().into(), &"foreign".into()));
        assert_eq!(target["store"]["endpoint"], it.store.at("endpoint"));
    }

    #[test]
    fn a_bucket_is_in_the_name_of_the_host_where_the_profile_says_so() {
        let Some(it) = OtherStore::start() else { return };
        let named = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/servers/named.sh");
        let race = |style: &str, endpoint: &str| {
            let config = it.home.file("config", format!("[default]\ns3 =\n  addressing_style = {style}\n"));
            let mut command = it.with_credentials(named, it.store.at("secret_key"));
            command.env("AWS_CONFIG_FILE", config).args([it.store.at("virtual_host"), READLAB, "race"]);
            command.args([&it.object(), "--endpoint", it.store.at(endpoint)]);
            command.args(["--cacert", it.store.at("cacert"), "--method", "rust/http*", "--quiet"]);
            Said::by(command.args(QUICK).args(["--export-json", "-"]))
        };
        for endpoint in ["virtual_endpoint", "virtual_tls_endpoint"] {
            let said = race("virtual", endpoint);
            if said.code == Some(SKIPPED) {
                eprintln!("{}", said.err.trim());
                return;
            }
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
            let json: Value = serde_json::from_str(&said.out).unwrap();
            for method in ["rust/http", "rust/http-ranged"] {
                assert_eq!(trial(&json, method, "unknown")["outcome"], "measured");
            }
            assert_eq!(json["targets"][0]["store"]["style"], "virtual");
        }
        // In the path it would be at a host that has no address.
        assert!(race("path", "virtual_endpoint").refusal().contains("s3://bucket/"));
    }

    #[test]
    fn commands_get_credentials_only_if_the_user_says_so() {
        let Some(it) = OtherStore::start() else { return };
        let reads = "curl -s \"$READLAB_TARGET\" | wc -l # {}";
        let without = it.race(&["--method", "command/*", "-c", reads]);
        assert_eq!(without.code, Some(1), "{without}");
        let with = it.race(&["--method", "command/*", "-c", reads, "--commands-get-credentials"]);
        if !with.out.contains("unavailable") {
            assert_eq!(with.code, Some(0), "{with}");
        } else {
            eprintln!("SKIPPED: a command that gets credentials: no curl");
        }
    }

    #[test]
    fn the_sdks_of_five_languages_read_an_object_and_every_answer_is_right() {
        let home = Home::new();
        let file = home.file("f.txt", "line\n".repeat(50_000));
        for sdk in SDKS {
            // It is built now; one that cannot be built here has no methods.
            let words =
                ["--s3", "--state", "warm", "--method", sdk, "--fills", "1", "--quiet", "--export-json", "-"];
            let said = home.race(&file, &words);
            if said.code == Some(2) && said.err.contains("no method matches") {
                eprintln!("SKIPPED: {sdk}: {}", said.err);
                continue;
            }
            assert_eq!(said.code, Some(0), "{said}");
            let json: Value = serde_json::from_str(&said.out).unwrap();
            let trial = trial(&json, sdk, "warm");
            assert_eq!(trial["outcome"], "measured", "{trial}");
            for sample in trial["samples"].as_array().unwrap() {
                assert_eq!(sample["answer"]["newlines"], 50_000, "{sdk}: {sample}");
                let request = &sample["request"];
                let first_byte_ns = request["first_byte_ns"].as_u64();
                let wall_ns = sample["wall_ns"].as_u64().unwrap();
                assert!(first_byte_ns.is_some_and(|ns| ns <= wall_ns), "{sdk}: {sample}");
                assert!(request["requests"].as_u64() >= Some(1), "{sdk}: {sample}");
            }
        }
    }
}
