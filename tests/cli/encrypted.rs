//! Tests of URLs over https, from an nginx with certificates of its own: who is trusted, and that a
//! secret in a URL is shown nowhere.

use super::real_servers::RealServer;
use super::scripted_server::TEXT;
use super::{Home, Said, trials};
use std::fs;
use std::path::Path;

struct Encrypted {
    home: Home,
    server: RealServer,
}

fn encrypted() -> Option<Encrypted> {
    let home = Home::new();
    let folder = home.at("served");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("my.log"), TEXT).unwrap();
    Some(Encrypted { server: RealServer::start("nginx.sh", &folder)?, home })
}

impl Encrypted {
    fn url(&self, server: &str) -> String {
        format!("{}/my.log", self.server.at(server))
    }

    fn race(&self, url: &str, words: &[&str]) -> Said {
        self.home.race(Path::new(url), words)
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_url_is_raced_over_tls_by_a_server_that_a_file_of_certificates_trusts() {
        let Some(it) = encrypted() else { return };
        let trusting =
            ["--cacert", it.server.at("cacert"), "--method", "rust/http", "--method", "rust/http-ranged"];
        let (json, said) = it.home.race_json(Path::new(&it.url("https")), &trusting);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
        for name in ["rust/http", "rust/http-ranged"] {
            let named =
                |trial: &&serde_json::Value| trial["id"].as_str().unwrap().starts_with(&format!("{name}/"));
            let trial = json["trials"].as_array().unwrap().iter().find(named).unwrap();
            assert_eq!(
                (&trial["state"], &trial["outcome"]),
                (&"unknown".into(), &"measured".into()),
                "{trial}"
            );
        }
    }

    #[test]
    fn whom_nobody_vouches_for_is_not_read() {
        let Some(it) = encrypted() else { return };
        let said = it.race(&it.url("https"), &["--method", "rust/http"]);
        assert!(said.refusal().contains("certificate"), "{said}");
        let trusting = ["--cacert", it.server.at("cacert"), "--method", "rust/http"];
        for (server, why) in [("expired", "expired"), ("other_host", "host")] {
            let said = it.race(&it.url(server), &trusting);
            assert!(said.refusal().contains("certificate") && said.err.contains(why), "{server}: {said}");
        }
        let file = it.home.file("empty.pem", "");
        let said = it.race(&it.url("https"), &["--cacert", file.to_str().unwrap(), "--method", "rust/http"]);
        assert!(said.refusal().contains("empty.pem"), "{said}");
        assert!(it.home.runs().is_empty(), "no run was begun");
    }

    #[test]
    fn a_secret_in_a_url_is_nowhere_but_in_requests() {
        const SECRET: &str = "a1b2c3d4e5f6";
        let Some(it) = encrypted() else { return };
        let url = format!("{}?part=1&X-Amz-Signature={SECRET}", it.url("https"));
        let words = [
            "--cacert",
            it.server.at("cacert"),
            "--method",
            "rust/http/scalar",
            "--export-json",
            "a.json",
            "--export-csv",
            "a.csv",
            "--export-markdown",
            "a.md",
            "-c",
            "wc -l {}",
        ];
        let said = it.race(&url, &words);
        // The command gets no URL with a secret: it takes no part.
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.out.contains("--commands-get-credentials"), "{said}");
        let run = &it.home.runs()[0];
        let files = ["record.jsonl", "report.html"].map(|name| run.join(name));
        let exports = ["a.json", "a.csv", "a.md"].map(|name| it.home.at(name));
        for file in files.iter().chain(&exports) {
            let text = fs::read_to_string(file).unwrap();
            assert!(!text.contains(SECRET), "{}", file.display());
            assert!(!text.contains("X-Amz-Signature"), "{}", file.display());
        }
        assert!(!said.to_string().contains(SECRET), "{said}");
        let requested = fs::read_to_string(it.server.at("log")).unwrap();
        assert!(requested.contains(SECRET), "the server was asked with it");
        let json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&exports[0]).unwrap()).unwrap();
        assert_eq!(trials(&json, "rust/http/scalar", "unknown")["outcome"], "measured");
        assert_eq!(json["targets"][0]["path"], format!("{}?…", it.url("https")));
    }
}
