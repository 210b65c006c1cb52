//! Tests of servers that send slowly and without end: a head byte by byte, endless trailers, an
//! endless chunk line. The user's budget ends the wait. Without a budget, the client's own limits
//! do.

use crate::home::Home;
use crate::scripted_server::{Request, Server, good};
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BYTE_PAUSE: Duration = Duration::from_millis(50);

/// The function that writes a server's answer to a request.
type Script = fn(&Request, &mut TcpStream) -> io::Result<()>;

/// Sends the same byte until the client disconnects.
fn dribble(client: &mut TcpStream) -> io::Result<()> {
    loop {
        client.write_all(b"x")?;
        std::thread::sleep(BYTE_PAUSE);
    }
}

/// Sends a correct head with these fields, and to a GET the beginning of a body without its end.
fn dribble_after(request: &Request, client: &mut TcpStream, fields: &str, begin: &str) -> io::Result<()> {
    client.write_all(&good(request, fields, begin).unwrap())?;
    if request.is_get() { dribble(client) } else { Ok(()) }
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

fn assert_refused(script: Script, budget: &str, why: &str) {
    let (home, server) = (Home::new(), Server::writing(script));
    let words = format!("--method rust/http/scalar --no-progress --budget {budget}");
    home.readlab(format!("race {} {words}", server.url())).refuses(why);
}

const BY_BUDGET: &str = "took longer than 2.00 s (--budget)";

#[test]
fn a_head_byte_by_byte_ends_with_the_users_budget() {
    assert_refused(|_, client| dribble(client), "2s", &format!("asking for it {BY_BUDGET}"));
}

/// Trailers without end are refused, however fast they come and however much time there is.
#[test]
fn trailers_without_end_are_no_answer() {
    fn script(request: &Request, client: &mut TcpStream) -> io::Result<()> {
        client.write_all(&good(request, CHUNKED, "2\r\na\n\r\n0\r\n").unwrap())?;
        if !request.is_get() {
            return Ok(());
        }
        loop {
            client.write_all(b"X-More: and more\r\n")?;
        }
    }
    assert_refused(script, "600s", "what comes after the last chunk has no end");
}

/// The time of the run begins with the first request to the server. The time of the reading for the
/// right answer is not added to the budget.
#[test]
fn the_reading_for_the_right_answer_is_in_the_time_of_the_run() {
    let is_first = AtomicBool::new(true);
    let server = Server::new(move |request| {
        if request.is_get() && is_first.swap(false, Ordering::SeqCst) {
            std::thread::sleep(Duration::from_secs(2));
        }
        good(request, "Content-Length: 4\r\n", "a\nb\n")
    });
    let run = Home::new().race_json(server.url(), "--method rust/http/scalar").exits(0);
    assert!(run["end"]["wall_ns"].as_u64().unwrap() >= 2_000_000_000, "{}", run["end"]);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_head_that_is_slow_only_for_a_get_ends_with_the_budget() {
        fn script(request: &Request, client: &mut TcpStream) -> io::Result<()> {
            if request.is_get() { dribble(client) } else { dribble_after(request, client, CHUNKED, "") }
        }
        assert_refused(script, "2s", &format!("reading it once for the right answer {BY_BUDGET}"));
    }

    #[test]
    fn of_an_answer_with_which_nothing_is_compared_only_the_beginning_is_read() {
        fn script(request: &Request, client: &mut TcpStream) -> io::Result<()> {
            dribble_after(request, client, "Content-Length: 1000000\r\n", "")
        }
        let (home, server) = (Home::new(), Server::writing(script));
        let words = "--check none --runs 3 --budget 20s --quiet --export-json -";
        let run =
            home.readlab(format!("race {} -c 'curl -sN {{}} | head -c 1' {words}", server.url())).export();
        let target = &run["targets"][0];
        assert!(target["digest"].is_null() && target["size_bytes"] == 1_000_000, "{target}");
        assert!(target["cautions"].to_string().contains("Only its beginning was read"), "{target}");
    }

    #[test]
    fn an_endless_chunk_line_trailers_or_body_ends_with_the_budget() {
        let scripts: [Script; 3] = [
            |request, client| dribble_after(request, client, CHUNKED, "1;"),
            |request, client| dribble_after(request, client, CHUNKED, "2\r\na\n\r\n0\r\n"),
            |request, client| dribble_after(request, client, "Content-Length: 1000000\r\n", ""),
        ];
        for script in scripts {
            assert_refused(script, "2s", BY_BUDGET);
        }
    }
}
