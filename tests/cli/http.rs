//! Tests of targets over HTTP: files that readlab serves, other servers, and servers that break
//! their promises.

use crate::home::{Export, Home, QUICK, Trials, items};
use crate::machine::on_path;
use crate::processes::{happens_in_time, send};
use crate::scripted_server::{Request, Server, TEXT, good, raw, sized};
use readlab_record::{EndReason, Outcome};
use rustix::process::Signal;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const HTTP_METHOD: &str = "--method rust/http/scalar";

/// A race of one method on a URL of this server.
fn race(server: &Server) -> Export {
    Home::new().race_json(server.url(), HTTP_METHOD)
}

/// A redirect, or another answer with this status line, these fields and no body.
fn answer_without_body(head: &str) -> Option<Vec<u8>> {
    raw(&format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n"))
}

#[test]
fn a_url_is_raced_and_the_state_of_its_servers_cache_is_unknown() {
    let (home, server) = (Home::new(), Server::new(sized));
    let exports = "--export-json a.json --export-markdown a.md";
    let said = home.race(server.url(), format!("{HTTP_METHOD} {exports}")).succeeds_silently();
    const UNKNOWN: &str = "state of the server's cache: unknown";
    // `curl | wc -l` is the reference, if there is one.
    let samples = if on_path("curl").is_some() { 6 } else { 3 };
    for part in [
        format!("fastest over http ({UNKNOWN}): "),
        format!("over http ({UNKNOWN}) · newlines · 13 B · {}", server.url()),
        format!("proof: the answers of {samples} samples; {UNKNOWN}"),
        format!("caution: {}: The server is not readlab's: {UNKNOWN}", server.url()),
    ] {
        said.shows(&part);
    }
    let page = fs::read_to_string(home.runs()[0].join("report.html")).unwrap().replace("&#39;", "'");
    assert!(page.contains(&format!("Over http ({UNKNOWN}) · newlines")), "the page tells it");
    assert!(home.read("a.md").contains(UNKNOWN));
    let json = home.json("a.json");
    let trial = json.measured("rust/http/scalar", "unknown");
    assert_eq!(trial["over"], "http", "{trial}");
    for field in ["state", "resident_before", "resident_after"] {
        assert_eq!(trial["missing"][field], UNKNOWN, "{field}");
    }
    assert!(trial["samples"][0]["device_read_bytes"].is_null());
    assert!(trial["missing"]["device_read_bytes"].is_string());
    assert_eq!(json["targets"][0]["http"]["server"], "foreign");
    assert!(json["targets"][0]["cautions"].to_string().contains(UNKNOWN));
}

/// Asserts that each sample of a file of 100,000 lines began without any page of it in the server's
/// cache, or with all, and ended with all.
pub(super) fn assert_proven(export: &Export, id: &str) {
    for (state, before) in [("cold", 0.0), ("warm", 1.0)] {
        for sample in items(&export.measured(id, state)["samples"]) {
            assert_eq!(sample["resident_before"].as_f64(), Some(before), "{id} {state}: {sample}");
            assert_eq!(sample["resident_after"].as_f64(), Some(1.0), "the server's reads fill the cache");
            assert_eq!(sample["answer"]["newlines"], 100_000);
        }
    }
}

#[test]
fn a_file_is_served_cold_and_warm_and_both_are_proven() {
    let home = Home::new();
    let file = home.file("f.txt", "line\n".repeat(100_000));
    let json = home.race_json(&file, format!("--http {HTTP_METHOD}")).exits(0);
    assert_eq!(json.said.err, "", "{json}");
    assert_proven(&json, "rust/http/scalar");
    for state in ["cold", "warm"] {
        let trial = json.trial("rust/http/scalar", state);
        assert_eq!(trial["missing"]["device_read_bytes"], "the server reads the device, not the contender");
        assert_eq!(trial["target"], file.to_str().unwrap());
    }
    assert_eq!(json["targets"][0]["http"]["server"], "own");
    assert!(!json.said.out.contains("http://127"), "the secret path stays secret");
}

#[test]
fn a_url_without_bytes_is_refused_before_anything_is_measured() {
    let home = Home::new();
    let refused = |server: Server, why: &str| {
        home.race(server.url(), HTTP_METHOD).refuses(why).tells(&server.url());
    };
    let answered = |answer: Option<Vec<u8>>, why: &str| refused(Server::new(move |_| answer.clone()), why);
    answered(answer_without_body("404 Not Found"), "the server answers 404 Not Found");
    answered(
        answer_without_body("301 Moved\r\nLocation: http://x/\u{1b}"),
        "a redirect to another server, which is not followed: race http://x/",
    );
    answered(raw("SSH-2.0-OpenSSH\r\n"), "not an answer in HTTP/1");
    answered(raw(""), "not an answer in HTTP/1");
    let cut = Server::new(|it| good(it, "Content-Length: 20\r\n", TEXT));
    refused(cut, "the connection ended after 13 of 20 bytes");
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    home.race(format!("http://{nobody}/"), "").refuses("cannot connect: Connection refused");
    home.race(format!("https://{nobody}/"), "").refuses("cannot connect");
    let server = Server::new(sized);
    home.race(server.url(), "--state warm").refuses("leave --state out\n");
    home.race(server.url(), "--drop-caches").refuses("leave --drop-caches out\n");
    assert!(home.runs().is_empty(), "no run was begun");
}

#[test]
fn a_redirect_is_followed_on_the_same_server_and_another_server_is_named_whole() {
    let server = Server::new(|it| match it.path.as_str() {
        "/f" => answer_without_body("302 Found\r\nLocation: other?sig=abc"),
        _ => sized(it),
    });
    let json = race(&server).exits(0);
    json.measured("rust/http/scalar", "unknown");
    let cautions = json["targets"][0]["cautions"].to_string();
    let told = format!("The server redirects {}: what is read is", server.url());
    assert!(cautions.contains(&told), "{cautions}");
    assert!(!json.said.out.contains("sig=abc"), "a secret is in no record");
    let gets: Vec<String> = server.log().into_iter().filter(|it| it.starts_with("GET")).collect();
    assert!(gets.iter().all(|it| it == "GET /other?sig=abc"), "{gets:?}");

    // If a server refuses HEAD, the redirect answers a GET.
    let server = Server::new(|it| match (it.verb.as_str(), it.path.as_str()) {
        ("HEAD", _) => answer_without_body("405 Method Not Allowed"),
        (_, "/f") => answer_without_body("302 Found\r\nLocation: /other"),
        _ => sized(it),
    });
    let json = race(&server).exits(0);
    json.measured("rust/http/scalar", "unknown");
    assert!(json["targets"][0]["cautions"].to_string().contains("only the answers show a"), "{json}");

    let elsewhere =
        Server::new(|_| answer_without_body("307 Temporary\r\nLocation: //elsewhere.invalid/o?sig=abc"));
    let home = Home::new();
    home.race(elsewhere.url(), "").refuses("race http://elsewhere.invalid/o?sig=abc instead\n");
    let circle = Server::new(|_| answer_without_body("302 Found\r\nLocation: /f"));
    let said = home.race(circle.url(), "");
    said.refuses("its redirects lead in a circle\n");
    assert!(!said.err.contains("another server"), "{said}");
}

#[test]
fn a_body_without_a_length_is_read_to_its_end() {
    for (fields, body) in [
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
            "4\r\none\n\r\n9;x=y\r\ntwo\nthree\r\n0\r\nTrailer: x\r\n\r\n",
        ),
        ("", TEXT),
    ] {
        let json = race(&Server::new(move |request| good(request, fields, body))).exits(0);
        let trial = json.trial("rust/http/scalar", "unknown");
        assert_eq!((&trial["answer"]["bytes"], &trial["answer"]["newlines"]), (&13.into(), &2.into()));
        assert_eq!(json["targets"][0]["size_bytes"], 13);
    }
}

/// A race in which the server answers `rust/http` in this way, and others correctly.
fn assert_outcome(answer: fn(&Request) -> Option<Vec<u8>>, outcome: &str, why: &str) {
    let json =
        race(&Server::new(move |it| if it.agent.starts_with("ureq/") { answer(it) } else { sized(it) }));
    json.ended("rust/http/scalar", "unknown", outcome, why);
    let other = json.trial("command/curl -s {} | wc -l", "unknown");
    assert!(["measured", "unavailable"].contains(&other["outcome"].as_str().unwrap()), "{other}");
    assert_eq!(json["end"]["reason"], "settled");
}

#[test]
fn a_server_that_breaks_its_promise_to_one_contender_affects_only_that_one() {
    assert_outcome(|_| answer_without_body("404 Not Found"), "failed", "status 404");
    let why = "it answered 4 bytes, 1 newline; right is 13 bytes";
    assert_outcome(|it| good(it, "Content-Length: 4\r\n", TEXT), "refused", why);
}

#[test]
fn a_url_that_changes_ends_the_race_like_a_changed_file() {
    let server = Server::new(|it| match (it.verb.as_str(), it.is_of_lab()) {
        ("HEAD", true) => good(it, "ETag: \"a\"\r\nContent-Length: 13\r\n", ""),
        _ => sized(it),
    });
    assert_eq!(race(&server)["end"]["reason"], "settled");
    let heads = server.log().iter().filter(|line| *line == "HEAD /f").count();
    assert!(heads > 6, "it is asked around each reading");

    let heads = AtomicUsize::new(0);
    let server = Server::new(move |it| match it.verb.as_str() {
        "HEAD" => {
            let etag = if heads.fetch_add(1, Ordering::SeqCst) < 5 { "a" } else { "b" };
            good(it, &format!("ETag: {etag}\r\nContent-Length: 13\r\n"), "")
        }
        _ => sized(it),
    });
    let json = race(&server).exits(1);
    assert_eq!(json["end"]["reason"], "target_changed", "{json}");
    let all = json["trials"].to_string();
    // Without curl the control that starts a process is read when the server changes.
    let seen = if on_path("curl").is_some() { "" } else { ", seen after a reading by command/true," };
    assert!(all.contains(&format!("changed its ETag from a to b{seen} while it was raced")), "{all}");
}

mod ring2 {
    use super::*;

    #[test]
    fn methods_for_files_do_not_race_on_a_url_nor_methods_for_urls_on_a_file() {
        let (home, server) = (Home::new(), Server::new(sized));
        let (url, file) = (server.url(), home.file("f.txt", TEXT).display().to_string());
        let run = |target: &str, words: &str, code: i32| home.race_json(target, words).exits(code);
        for (target, words, with, without) in [
            (&url, "--method rust/*", ["rust/http/", "curl"], ["rust/read", "command/wc"]),
            (&file, "--method rust/*/scalar --state warm", ["rust/read", "command/wc"], ["http", "curl"]),
        ] {
            let json = run(target, words, 0);
            let ids: Vec<&str> = json.trials().iter().map(|it| it["id"].as_str().unwrap()).collect();
            let has = |part: &str| ids.iter().any(|id| id.contains(part));
            assert!(with.into_iter().all(has) && !without.into_iter().any(has), "{ids:?}");
        }
        // A named trial that cannot read the target is reported as taking no part.
        let json = run(&url, "--method rust/mmap/scalar", 1);
        let asked = json.trial("rust/mmap/scalar", "unknown");
        assert_eq!(asked["reason"], "it reads files, and the target is a URL");
        let json = run(&file, &format!("{HTTP_METHOD} --state warm"), 1);
        let asked = json.trial("rust/http/scalar", "warm");
        assert!(asked["reason"].as_str().unwrap().contains("--http"), "{asked}");
        let none = home.race(&url, "--method rust/mm*");
        none.refuses("none of the methods that match rust/mm* reads");
    }

    #[test]
    fn a_search_over_http_needs_no_state() {
        let home = Home::new();
        let server = Server::new(sized);
        let tune = format!("tune {} --seed=7 --quiet {HTTP_METHOD}", server.url());
        home.readlab(format!("{tune} --state warm")).refuses("leave --state out\n");
        let said = home.readlab(tune).exits(0);
        assert!(!said.err.contains("--state"), "{said}");
    }

    #[test]
    fn a_server_that_answers_nothing_is_refused_after_ten_seconds() {
        let (home, server) = (Home::new(), Server::new(|_| None));
        home.race(server.url(), HTTP_METHOD).refuses("no answer within 10s").tells(&server.url());
        assert!(home.runs().is_empty(), "no run was begun");
    }

    /// A correct server that answers these HEADs, counted from 0, with an error.
    fn server_overloaded_at(heads: Range<usize>) -> Server {
        let count = AtomicUsize::new(0);
        Server::new(move |it| match it.verb.as_str() {
            "HEAD" if heads.contains(&count.fetch_add(1, Ordering::SeqCst)) => {
                answer_without_body("503 Slow Down")
            }
            _ => sized(it),
        })
    }

    #[test]
    fn a_server_without_an_answer_is_asked_again_and_then_fails_one_trial() {
        let json = race(&server_overloaded_at(4..6)).exits(0);
        assert_eq!(json["end"]["reason"], "settled", "{json}");
        json.measured("rust/http/scalar", "unknown");

        let json = race(&server_overloaded_at(4..9));
        assert_eq!(json["end"]["reason"], "settled", "{json}");
        let failed = json.trials().iter().filter(|it| it["outcome"] == "failed");
        let reasons: Vec<&str> = failed.map(|it| it["reason"].as_str().unwrap()).collect();
        let [why] = &reasons[..] else { panic!("{reasons:?}") };
        assert!(why.contains("it is not known whether") && why.ends_with("503 Slow Down"), "{why}");
    }

    #[test]
    fn a_race_stopped_while_the_server_is_asked_for_its_version_can_be_resumed() {
        let (heads, is_silent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
        let (count, silence) = (Arc::clone(&heads), Arc::clone(&is_silent));
        let server = Server::new(move |it| {
            let is_late = it.verb == "HEAD" && count.fetch_add(1, Ordering::SeqCst) >= 5;
            if is_late && silence.load(Ordering::SeqCst) { None } else { sized(it) }
        });
        let home = Home::new();
        let mut lab = home.start(format!("race {} {HTTP_METHOD} {QUICK} --output run", server.url()));
        assert!(happens_in_time(|| heads.load(Ordering::SeqCst) > 5));
        send(lab.id(), Signal::INT);
        assert_eq!(lab.wait().unwrap().code(), Some(130));
        let stopped = home.record("run");
        assert!(matches!(stopped.end, Some((EndReason::Interrupted, _))), "{:?}", stopped.end);
        for trial in &stopped.trials {
            let is_blamed = matches!(trial.outcome, Some(Outcome::Refused { .. } | Outcome::Failed { .. }));
            assert!(!is_blamed, "{}: {:?}", trial.trial.id, trial.outcome);
        }
        is_silent.store(false, Ordering::SeqCst);
        home.readlab("race --resume run --quiet").exits(0);
        let whole = home.record("run");
        assert!(matches!(whole.end, Some((EndReason::Settled, _))), "{:?}", whole.end);
    }
}
