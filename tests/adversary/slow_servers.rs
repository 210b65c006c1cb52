//! Tests of servers that send slowly and without end: a head byte by byte, endless trailers, an
//! endless chunk line. The user's budget ends the wait, or without one, the client's own limits.

use super::home::Home;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two bytes of a slow server.
const PAUSE: Duration = Duration::from_millis(50);

/// What a server does after a request was read: `true` for a GET.
type Script = fn(&mut TcpStream, bool) -> std::io::Result<()>;

/// A server on the loopback interface; its URL.
fn server(script: Script) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://127.0.0.1:{}/f", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut head, mut piece) = (Vec::new(), [0; 4096]);
                while !head.ends_with(b"\r\n\r\n") {
                    match client.read(&mut piece) {
                        Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
                        _ => return,
                    }
                }
                // A client that has seen enough goes away.
                let _ = script(&mut client, head.starts_with(b"GET"));
            });
        }
    });
    url
}

/// The same byte until the client goes away.
fn dribble(client: &mut TcpStream, byte: u8) -> std::io::Result<()> {
    loop {
        client.write_all(&[byte])?;
        std::thread::sleep(PAUSE);
    }
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";

/// A proper head, and to a GET the beginning of a body in chunks.
fn chunks(client: &mut TcpStream, is_get: bool, beginning: &[u8]) -> std::io::Result<bool> {
    client.write_all(CHUNKED)?;
    if is_get {
        client.write_all(beginning)?;
    }
    Ok(is_get)
}

/// A race with this budget; refused in one line, which is returned.
fn refusal(script: Script, budget: &str) -> String {
    let home = Home::new();
    let words =
        ["race", &server(script), "--method", "rust/http/scalar", "--no-progress", "--budget", budget];
    let said = home.readlab(words);
    said.refusal().to_owned()
}

#[test]
fn a_head_byte_by_byte_ends_with_the_users_budget() {
    let line = refusal(|client, _| dribble(client, b'x'), "2s");
    assert!(line.contains("asking for it took longer than 2.00 s (--budget)"), "{line}");
}

/// However fast they come, and however much time there is.
#[test]
fn trailers_without_end_are_no_answer() {
    fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
        let mut goes_on = chunks(client, is_get, b"2\r\na\n\r\n0\r\n")?;
        while goes_on {
            goes_on = client.write_all(b"X-More: and more\r\n").is_ok();
        }
        Ok(())
    }
    let line = refusal(script, "600s");
    assert!(line.contains("what comes after the last chunk has no end"), "{line}");
}

/// The time of the run is that from asking the server on: what the reading for the right answer
/// takes is not added to the budget.
#[test]
fn the_reading_for_the_right_answer_is_in_the_time_of_the_run() {
    const TOOK: Duration = Duration::from_secs(2);
    static FIRST: AtomicBool = AtomicBool::new(true);
    fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
        if is_get && FIRST.swap(false, Ordering::SeqCst) {
            std::thread::sleep(TOOK);
        }
        let body = if is_get { "a\nb\n" } else { "" };
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n";
        client.write_all(format!("{head}{body}").as_bytes())
    }
    let home = Home::new();
    let words = ["--method", "rust/http/scalar"];
    let (json, said) = home.race_json(Path::new(&server(script)), &words);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(json["end"]["wall_ns"].as_u64().unwrap() >= 2_000_000_000, "{}", json["end"]);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_head_that_is_slow_only_for_the_bytes_ends_with_the_budget_too() {
        fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
            if is_get { dribble(client, b'x') } else { client.write_all(CHUNKED) }
        }
        let line = refusal(script, "2s");
        assert!(
            line.contains("reading it once for the right answer took longer than 2.00 s (--budget)"),
            "{line}"
        );
    }

    #[test]
    fn so_is_a_line_before_a_chunk_that_never_ends() {
        fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
            if chunks(client, is_get, b"1;")? { dribble(client, b'x') } else { Ok(()) }
        }
        let line = refusal(script, "2s");
        assert!(line.contains("took longer than 2.00 s (--budget)"), "{line}");
    }

    #[test]
    fn so_are_trailers_that_never_end() {
        fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
            if chunks(client, is_get, b"2\r\na\n\r\n0\r\n")? { dribble(client, b'x') } else { Ok(()) }
        }
        let line = refusal(script, "2s");
        assert!(line.contains("took longer than 2.00 s (--budget)"), "{line}");
    }

    #[test]
    fn so_is_a_body_whose_bytes_come_now_and_then() {
        fn script(client: &mut TcpStream, is_get: bool) -> std::io::Result<()> {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n")?;
            if is_get { dribble(client, b'x') } else { Ok(()) }
        }
        let line = refusal(script, "2s");
        assert!(line.contains("took longer than 2.00 s (--budget)"), "{line}");
    }
}
