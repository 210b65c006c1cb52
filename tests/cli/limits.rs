//! Tests of `readlab limits` on what comes from a server; on files, the documents type it.

use super::scripted_server::{Server, sized};
use super::{Home, Said};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// A quick run with these words.
fn limits(home: &Home, words: &[&OsStr]) -> Said {
    let all = ["limits", "--runs", "3", "--budget", "20m", "--no-progress"].map(OsStr::new);
    home.readlab(all.into_iter().chain(words.iter().copied()))
}

/// The kinds of limits in the export `a.json`, each with the trials that showed it.
fn kinds(home: &Home) -> BTreeMap<String, Vec<String>> {
    let json: Value = serde_json::from_slice(&std::fs::read(home.at("a.json")).unwrap()).unwrap();
    let mut kinds = BTreeMap::<String, Vec<String>>::new();
    for limit in json["limits"].as_array().unwrap() {
        assert!(limit["value"].as_u64().unwrap() > 0, "{limit}");
        let name = |field: &str| limit[field].as_str().unwrap().to_owned();
        kinds.entry(name("kind")).or_default().push(name("name"));
    }
    kinds
}

#[test]
fn a_file_behind_readlabs_server_shows_connections_and_what_the_machine_allows() {
    for over in ["--http", "--s3"] {
        let home = Home::new();
        let file = home.file("f.txt", "line\n".repeat(1 << 19));
        let words = [over, "--export-json", "a.json"].map(OsStr::new);
        let said = limits(&home, &[&words[..], &[file.as_os_str()]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let kinds = kinds(&home);
        let expected = ["connection", "connections", "decryption", "loopback"];
        assert_eq!(kinds.keys().collect::<Vec<_>>(), expected, "{over}: {said}");
        // One connection and three numbers of them, cold and warm; the machine's own once.
        let counts = kinds.values().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(counts, [2, 6, 1, 1], "{over}: {kinds:?}");
        assert!(said.out.starts_with(" limit "), "limits are no ranking: {said}");
        assert!(!said.out.contains("advice"), "{said}");
    }
}

#[test]
fn a_folder_cannot_be_served() {
    let home = Home::new();
    let said = limits(&home, &[OsStr::new("--http"), home.at("").as_os_str()]);
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("--http needs a file of this machine, and no target is one"), "{said}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_server_without_ranges_shows_one_connection_and_why_not_more() {
        let (home, server) = (Home::new(), Server::new(sized));
        let words = [server.url(), "--export-json".to_owned(), "a.json".to_owned()];
        let said = limits(&home, &words.each_ref().map(OsStr::new));
        assert_eq!(said.code, Some(0), "{said}");
        // No link leads to a server on this machine.
        assert_eq!(kinds(&home).keys().collect::<Vec<_>>(), ["connection", "decryption", "loopback"]);
        assert!(said.out.contains("the server does not say that it answers them (Accept-Ranges)"), "{said}");
    }
}
