//! Tests of URLs over https, from an nginx with its own certificates: which servers are trusted,
//! and that a secret in a URL is shown nowhere.

use super::real_servers::RealServer;
use crate::home::{Home, Trials};
use crate::scripted_server::TEXT;
use std::fs;

struct HttpsServer {
    home: Home,
    server: RealServer,
}

impl HttpsServer {
    fn start() -> Option<HttpsServer> {
        let home = Home::with_file("served/my.log", TEXT);
        Some(HttpsServer { server: RealServer::start("nginx.sh", &home.at("served"))?, home })
    }

    fn url(&self, server: &str) -> String {
        format!("{}/my.log", self.server.at(server))
    }

    /// The option that trusts the server's certificates.
    fn trusting(&self) -> String {
        format!("--cacert {}", self.server.at("cacert"))
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_url_is_raced_over_tls_by_a_server_that_a_file_of_certificates_trusts() {
        let Some(it) = HttpsServer::start() else { return };
        let words = format!("{} --method rust/http --method rust/http-ranged", it.trusting());
        let json = it.home.race_json(it.url("https"), words);
        assert_eq!((json.said.code, json.said.err.as_str()), (Some(0), ""), "{json}");
        for method in ["http", "http-ranged"] {
            let trial = json.trial_with("method", method);
            let ended = (&trial["state"], &trial["outcome"]);
            assert_eq!(ended, (&"unknown".into(), &"measured".into()), "{trial}");
        }
    }

    #[test]
    fn a_secret_in_a_url_is_only_in_requests() {
        const SECRET: &str = "a1b2c3d4e5f6";
        let Some(it) = HttpsServer::start() else { return };
        let url = format!("{}?part=1&X-Amz-Signature={SECRET}", it.url("https"));
        let exports = "--export-json a.json --export-csv a.csv --export-markdown a.md";
        let words = format!("{} --method rust/http/scalar {exports} -c 'wc -l {{}}'", it.trusting());
        // The command may not get a URL with a secret, so it takes no part.
        let said = it.home.race(&url, words).exits(1);
        said.shows("--commands-get-credentials");
        let run = it.home.runs().remove(0);
        let files = ["record.jsonl", "report.html"].map(|name| run.join(name));
        let exports = ["a.json", "a.csv", "a.md"].map(|name| it.home.at(name));
        for file in files.iter().chain(&exports) {
            let text = fs::read_to_string(file).unwrap();
            assert!(!text.contains(SECRET) && !text.contains("X-Amz-Signature"), "{}", file.display());
        }
        assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{said}");
        let requested = fs::read_to_string(it.server.at("log")).unwrap();
        assert!(requested.contains(SECRET), "the server was asked with it");
        let json = it.home.json("a.json");
        json.measured("rust/http/scalar", "unknown");
        assert_eq!(json["targets"][0]["path"], format!("{}?…", it.url("https")));
    }
}
