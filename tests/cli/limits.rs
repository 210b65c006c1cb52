//! Tests of `readlab limits` with a server. `documents.rs` tests it with files.

use crate::home::{Home, ProgramOutput, READLAB, Words, items, paths_in};
use crate::scripted_server::{Server, sized};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A quick run with these words.
fn limits(home: &Home, words: &str) -> ProgramOutput {
    home.readlab(format!("limits --runs 3 --budget 20m --no-progress {words}"))
}

/// The kinds of limits in the export `a.json`, each with the number of trials that showed it.
fn kinds(home: &Home) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::<String, usize>::new();
    for limit in items(&home.json("a.json")["limits"]) {
        assert!(limit["value"].as_u64().unwrap() > 0 && limit["name"].is_string(), "{limit}");
        *kinds.entry(limit["kind"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    kinds
}

#[test]
fn a_file_behind_readlabs_server_shows_limits_of_connections_and_of_the_machine() {
    assert_limits("--http");
}

/// Asserts that limits are shown of a file behind the server that this option starts.
fn assert_limits(over: &str) {
    let home = Home::with_file("f.txt", "line\n".repeat(1 << 19));
    let said = limits(&home, &format!("{over} --export-json a.json f.txt")).exits(0);
    // The run has one connection and three numbers of connections, cold and warm, and the
    // machine's own limits once.
    let expected = [("connection", 2), ("connections", 6), ("decryption", 1), ("loopback", 1)];
    let expected = expected.map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(kinds(&home), BTreeMap::from(expected), "{said}");
    assert!(said.out.starts_with(" limit "), "limits are no ranking: {said}");
    said.hides("advice");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_file_in_readlabs_store_shows_them_too() {
        assert_limits("--s3");
    }

    #[test]
    fn writing_the_file_ends_with_the_budget_and_leaves_nothing() {
        let home = Home::new();
        let place = home.folder("place");
        let said = home.readlab("limits place --size 1GiB --budget 50ms --no-progress");
        said.refuses("writing it took longer than").tells("(--budget)");
        assert!(paths_in(place).is_empty(), "{said}");
    }

    #[test]
    fn a_server_without_ranges_shows_one_connection_and_why_not_more() {
        let (home, server) = (Home::new(), Server::new(sized));
        let said = limits(&home, &format!("{} --export-json a.json", server.url())).exits(0);
        // There is no network link to a server on this machine.
        assert_eq!(kinds(&home).keys().collect::<Vec<_>>(), ["connection", "decryption", "loopback"]);
        said.shows("the server does not say that it answers them (Accept-Ranges)");
    }

    #[test]
    fn fio_that_does_not_end_is_killed_and_the_reason_is_given() {
        let home = Home::with_file("f.txt", "line\n".repeat(1 << 16));
        let fio = home.program("bin/fio", "#!/bin/sh\nexec sleep 600\n");
        let path = format!("{}:{}", fio.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let words = "limits f.txt --state warm --runs 3 --budget 20s --no-progress";
        let begun = Instant::now();
        let said = ProgramOutput::by(home.command(READLAB).args(words.words()).env("PATH", path));
        said.shows("no limit by fio: fio: no answer within");
        assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
    }
}
