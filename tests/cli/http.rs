//! Tests of targets over HTTP: files that readlab serves, other servers, and servers that break
//! their promises.

use super::scripted_server::{Request, Server, TEXT, good, raw, sized};
use super::{Home, Said, trials};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn race(home: &Home, url: &str, words: &[&str]) -> Said {
    home.race(Path::new(url), words)
}

#[test]
fn a_url_is_raced_and_the_state_of_its_servers_cache_is_unknown() {
    let (home, server) = (Home::new(), Server::new(sized));
    let said = race(
        &home,
        &server.url(),
        &["--method", "rust/http/scalar", "--export-json", "a.json", "--export-markdown", "a.md"],
    );
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    const UNKNOWN: &str = "state of the server's cache: unknown";
    for part in [
        format!("fastest over http ({UNKNOWN}): "),
        format!("over http ({UNKNOWN}) · newlines · 13 B · {}", server.url()),
        format!("proof: the answers of 6 samples; {UNKNOWN}"),
        format!("caution: {}: The server is not readlab's: {UNKNOWN}", server.url()),
    ] {
        assert!(said.out.contains(&part), "no {part:?} in {said}");
    }
    let page = std::fs::read_to_string(home.runs()[0].join("report.html")).unwrap();
    let told = page.replace("&#39;", "'");
    assert!(told.contains(&format!("Over http ({UNKNOWN}) · newlines")), "the page tells it");
    assert!(std::fs::read_to_string(home.at("a.md")).unwrap().contains(UNKNOWN));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(home.at("a.json")).unwrap()).unwrap();
    let trial = trials(&json, "rust/http/scalar", "unknown");
    assert_eq!((&trial["over"], &trial["outcome"]), (&"http".into(), &"measured".into()), "{trial}");
    for field in ["state", "resident_before", "resident_after"] {
        assert_eq!(trial["missing"][field], UNKNOWN, "{field}");
    }
    assert!(
        trial["samples"][0]["device_read_bytes"].is_null()
            && trial["missing"]["device_read_bytes"].is_string()
    );
    assert_eq!(json["targets"][0]["http"]["server"], "foreign");
    assert!(json["targets"][0]["cautions"].to_string().contains(UNKNOWN));
}

#[test]
fn a_file_is_served_cold_and_warm_and_both_are_proven() {
    let home = Home::new();
    let file = home.file("f.txt", "line\n".repeat(100_000));
    let (json, said) = home.race_json(&file, &["--http", "--method", "rust/http/scalar"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    for (state, before) in [("cold", 0.0), ("warm", 1.0)] {
        let trial = trials(&json, "rust/http/scalar", state);
        assert_eq!(trial["outcome"], "measured", "{trial}");
        for sample in trial["samples"].as_array().unwrap() {
            assert_eq!(sample["resident_before"].as_f64(), Some(before), "{state}: {sample}");
            assert_eq!(sample["resident_after"].as_f64(), Some(1.0), "the server's reads fill the cache");
            assert_eq!(sample["answer"]["newlines"], 100_000);
        }
        assert_eq!(trial["missing"]["device_read_bytes"], "the server reads the device, not the contender");
        assert_eq!(trial["target"], file.to_str().unwrap());
    }
    assert_eq!(json["targets"][0]["http"]["server"], "own");
    assert!(!json.to_string().contains("http://127"), "the secret path stays secret");
}

#[test]
fn a_url_that_gives_no_bytes_is_refused_before_anything_is_measured() {
    let home = Home::new();
    let refused = |script: fn(&Request) -> Option<Vec<u8>>, why: &str| {
        let server = Server::new(script);
        let said = race(&home, &server.url(), &["--method", "rust/http/scalar"]);
        assert!(said.refusal().contains(why) && said.err.contains(&server.url()), "{why}: {said}");
    };
    refused(
        |_| raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        "the server answers 404 Not Found",
    );
    refused(
        |_| raw("HTTP/1.1 301 Moved\r\nLocation: http://x/\u{1b}\r\n\r\n"),
        "a redirect to another server, which is not followed: race http://x/",
    );
    refused(|_| raw("SSH-2.0-OpenSSH\r\n"), "not an answer in HTTP/1");
    refused(|_| raw(""), "not an answer in HTTP/1");
    refused(|it| good(it, "Content-Length: 20\r\n", TEXT), "the connection ended after 13 of 20 bytes");
    refused(
        |it| good(it, "Content-Length: 5\r\n", TEXT),
        "the server sends more than the 5 bytes that it promises",
    );
    refused(
        |it| good(it, "Transfer-Encoding: chunked\r\n", "9\r\none\n"),
        "the connection ended after 4 bytes, before the end",
    );
    refused(
        |it| good(it, "Transfer-Encoding: chunked\r\n", "x\r\none\n"),
        "the size of a chunk is no number",
    );
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let said = race(&home, &format!("http://{nobody}/"), &[]);
    assert!(said.refusal().contains("cannot connect: Connection refused"), "{said}");
    assert!(race(&home, &format!("https://{nobody}/"), &[]).refusal().contains("cannot connect"));
    let server = Server::new(sized);
    for wish in [&["--state", "warm"][..], &["--drop-caches"]] {
        let said = race(&home, &server.url(), wish);
        assert!(said.refusal().ends_with(&format!("leave {} out", wish[0])), "{said}");
    }
    assert!(home.runs().is_empty(), "no run was begun");
}

#[test]
fn a_redirect_is_followed_on_the_same_server_and_another_server_is_named_whole() {
    let home = Home::new();
    let server = Server::new(|it| match it.path.as_str() {
        "/f" => raw("HTTP/1.1 302 Found\r\nLocation: other?sig=abc\r\nContent-Length: 0\r\n\r\n"),
        _ => sized(it),
    });
    let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(trials(&json, "rust/http/scalar", "unknown")["outcome"], "measured");
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(
        cautions.contains(&format!("The server redirects {}: what is read is", server.url())),
        "{cautions}"
    );
    assert!(!json.to_string().contains("sig=abc"), "a secret is in no record");
    let gets: Vec<String> = server.log().into_iter().filter(|it| it.starts_with("GET")).collect();
    assert!(gets.iter().all(|it| it == "GET /other?sig=abc"), "{gets:?}");

    // A server that refuses HEAD redirects a GET.
    let server = Server::new(|it| match (it.verb.as_str(), it.path.as_str()) {
        ("HEAD", _) => raw("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"),
        (_, "/f") => raw("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"),
        _ => sized(it),
    });
    let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(trials(&json, "rust/http/scalar", "unknown")["outcome"], "measured");

    let elsewhere = Server::new(|_| {
        raw("HTTP/1.1 307 Temporary\r\nLocation: //elsewhere.invalid/o?sig=abc\r\nContent-Length: 0\r\n\r\n")
    });
    let said = race(&home, &elsewhere.url(), &[]);
    assert!(said.refusal().ends_with("race http://elsewhere.invalid/o?sig=abc instead"), "{said}");
    let circle = Server::new(|_| raw("HTTP/1.1 302 Found\r\nLocation: /f\r\nContent-Length: 0\r\n\r\n"));
    let said = race(&home, &circle.url(), &[]);
    assert!(said.refusal().ends_with("its redirects lead in a circle"), "{said}");
    assert!(!said.err.contains("another server"), "{said}");
}

#[test]
fn a_body_without_a_length_is_read_to_its_end() {
    let home = Home::new();
    let bodies: [(&str, &str); 3] = [
        ("Transfer-Encoding: chunked\r\n", "4\r\none\n\r\n9;x=y\r\ntwo\nthree\r\n0\r\nTrailer: x\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "d\r\none\ntwo\nthree\r\n0\r\n\r\n"),
        ("", TEXT),
    ];
    for (fields, body) in bodies {
        let server = Server::new(move |request| good(request, fields, body));
        let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
        assert_eq!(said.code, Some(0), "{said}");
        let trial = trials(&json, "rust/http/scalar", "unknown");
        assert_eq!((&trial["answer"]["bytes"], &trial["answer"]["newlines"]), (&13.into(), &2.into()));
        assert_eq!(json["targets"][0]["size_bytes"], 13);
    }
}

/// A race in which the server answers `rust/http` in this way, and others as it should.
fn broken(answer: fn(&Request) -> Option<Vec<u8>>, outcome: &str, why: &str) {
    let home = Home::new();
    let server = Server::new(move |it| if it.agent.starts_with("ureq/") { answer(it) } else { sized(it) });
    let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
    let trial = trials(&json, "rust/http/scalar", "unknown");
    let reason = trial["reason"].as_str().unwrap_or_default();
    assert_eq!(trial["outcome"], outcome, "{why}: {reason} {said}");
    assert!(reason.contains(why), "{why}: {reason}");
    let other = trials(&json, "command/curl -s {} | wc -l", "unknown");
    assert!(["measured", "unavailable"].contains(&other["outcome"].as_str().unwrap()), "{other}");
    assert_eq!(json["end"]["reason"], "settled");
}

#[test]
fn a_server_that_breaks_its_promise_to_one_contender_spoils_only_that_one() {
    broken(|_| raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "failed", "status 404");
    broken(|it| good(it, "Content-Length: 13\r\n", "one\n"), "failed", "disconnected");
    broken(
        |it| good(it, "Content-Length: 4\r\n", TEXT),
        "refused",
        "it answered 4 bytes, 1 newlines; right is 13 bytes",
    );
}

#[test]
fn a_url_that_changes_ends_the_race_as_a_file_that_changes_does() {
    let home = Home::new();
    let server = Server::new(|it| match (it.verb.as_str(), it.is_of_lab()) {
        ("HEAD", true) => good(it, "ETag: \"a\"\r\nContent-Length: 13\r\n", ""),
        _ => sized(it),
    });
    let (json, _) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
    assert_eq!(json["end"]["reason"], "settled");
    assert!(
        server.log().iter().filter(|line| *line == "HEAD /f").count() > 6,
        "it is asked around each reading"
    );

    let heads = AtomicUsize::new(0);
    let server = Server::new(move |it| match it.verb.as_str() {
        "HEAD" => {
            let etag = if heads.fetch_add(1, Ordering::SeqCst) < 5 { "a" } else { "b" };
            good(it, &format!("ETag: {etag}\r\nContent-Length: 13\r\n"), "")
        }
        _ => sized(it),
    });
    let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
    assert_eq!((said.code, &json["end"]["reason"]), (Some(1), &"target_changed".into()), "{said}");
    let all = json["trials"].to_string();
    assert!(all.contains("changed its ETag from a to b while it was raced"), "{all}");
}

mod ring2 {
    use super::*;

    #[test]
    fn who_reads_files_stays_away_from_a_url_and_who_reads_urls_from_a_file() {
        let (home, server) = (Home::new(), Server::new(sized));
        let file = home.file("f.txt", TEXT);
        let ids = |target: &Path, words: &[&str], code: i32| {
            let (json, said) = home.race_json(target, words);
            let all: Vec<String> =
                json["trials"].as_array().unwrap().iter().map(|it| it["id"].to_string()).collect();
            assert_eq!(said.code, Some(code), "{said}");
            (all.join(" "), json)
        };
        let url = server.url();
        let (over_url, _) = ids(Path::new(&url), &["--method", "rust/*"], 0);
        assert!(over_url.contains("rust/http/") && over_url.contains("curl"), "{over_url}");
        assert!(!over_url.contains("rust/read") && !over_url.contains("command/wc"), "{over_url}");
        let (over_file, _) = ids(&file, &["--method", "rust/*/scalar", "--state", "warm"], 0);
        assert!(over_file.contains("rust/read") && over_file.contains("command/wc"), "{over_file}");
        assert!(!over_file.contains("http") && !over_file.contains("curl"), "{over_file}");

        // A named trial that cannot read it is reported as not taking part.
        let (_, json) = ids(Path::new(&url), &["--method", "rust/mmap/scalar"], 1);
        let asked = trials(&json, "rust/mmap/scalar", "unknown");
        assert_eq!(asked["reason"], "it reads files, and the target is a URL");
        let (_, json) = ids(&file, &["--method", "rust/http/scalar", "--state", "warm"], 1);
        assert!(trials(&json, "rust/http/scalar", "warm")["reason"].as_str().unwrap().contains("--http"));
        let none = race(&home, &url, &["--method", "rust/mm*"]);
        assert!(none.refusal().contains("none of the methods that match rust/mm* reads"), "{none}");
    }

    #[test]
    fn a_server_that_answers_no_head_is_raced_all_the_same() {
        let home = Home::new();
        let server = Server::new(|it| match it.verb.as_str() {
            "HEAD" => raw("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"),
            _ => sized(it),
        });
        let (json, said) = home.race_json(Path::new(&server.url()), &["--method", "rust/http/scalar"]);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(json["targets"][0]["cautions"].to_string().contains("only the answers show a"));
    }

    #[test]
    fn a_search_over_http_needs_no_state() {
        let home = Home::new();
        let server = Server::new(|it| match it.verb.as_str() {
            "HEAD" => good(it, "Content-Length: 13\r\n", ""),
            _ => sized(it),
        });
        let url = server.url();
        let quick = ["--seed=7", "--quiet", "--method", "rust/http/scalar"];
        let tune = |words: &[&str]| home.readlab([&["tune", &url], &quick[..], words].concat());
        let said = tune(&["--state", "warm"]);
        assert!(said.refusal().ends_with("leave --state out"), "{said}");
        let said = tune(&[]);
        assert!(!said.err.contains("--state"), "{said}");
        assert_eq!(said.code, Some(0), "{said}");
    }

    #[test]
    fn other_answers_that_are_none_spoil_only_one_contender_too() {
        broken(
            |_| raw("HTTP/1.1 302 Found\r\nLocation: /g\r\nContent-Length: 0\r\n\r\n"),
            "failed",
            "status 302",
        );
        broken(|it| good(it, "Transfer-Encoding: chunked\r\n", "9\r\none\n"), "failed", "disconnected");
        broken(|_| raw("SSH-2.0-OpenSSH\r\n"), "failed", "/f: ");
        broken(|_| raw(""), "failed", "/f: ");
        broken(|it| if it.gets_before < 4 { sized(it) } else { None }, "failed", "no answer within");
    }

    #[test]
    fn a_server_that_answers_nothing_is_refused_after_ten_seconds() {
        let home = Home::new();
        let server = Server::new(|_| None);
        let said = race(&home, &server.url(), &["--method", "rust/http/scalar"]);
        assert!(
            said.refusal().contains("no answer within 10s") && said.err.contains(&server.url()),
            "{said}"
        );
        assert!(home.runs().is_empty(), "no run was begun");
    }
}
