//! Tests of foreign clients on the port of readlab's own server, and of servers whose answers
//! contradict themselves.

use crate::home::Home;
use crate::own_server::{OwnServer, connect};
use crate::scripted_server::{Server, raw};
use readlab_targets::target::http::{Client, RequestVerb};
use readlab_targets::target::url::Url;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Limit for connections of the server: readers, and clients that are not allowed.
const CONNECTIONS_MAX: usize = 320;

#[test]
fn silent_clients_do_not_block_the_file() {
    let home = Home::with_file("f", "content");
    let server = OwnServer::after(&home, "", "f");
    let stranger = || connect(server.address).unwrap();
    let mut strangers: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| stranger()).collect();
    strangers.iter_mut().step_by(3).for_each(|it| drop(it.write_all(b"GET / HT")));
    for _ in 0..10 {
        let said = server.get(&server.path);
        assert!(said.ends_with("\r\n\r\ncontent"), "{said}");
        strangers.push(stranger());
    }
    let wrong = server.get("/");
    assert!(wrong.starts_with("HTTP/1.1 404 "), "{wrong}");
    assert_eq!(strangers[0].read(&mut [0]).unwrap_or(0), 0, "the first was ended");
}

/// The result of the lab's client for an answer: the body, or the error.
fn client_result(answer: &str) -> Result<String, String> {
    let answer = raw(answer);
    let server = Server::new(move |_| answer.clone());
    let (url, mut body): (Url, String) = (server.url().parse().unwrap(), String::new());
    let response = Client::default().ask(RequestVerb::Get, &url, &[], &|| Ok(()));
    let mut response = response.map_err(|error| error.to_string())?;
    response.read_to_string(&mut body).map_err(|error| error.to_string())?;
    Ok(body)
}

#[test]
fn different_lengths_are_refused_and_equal_ones_accepted() {
    let with = |fields: &str| client_result(&format!("HTTP/1.1 200 OK\r\n{fields}\r\nhello"));
    let refused = |why: &str| Err(format!("not an answer in HTTP/1: {why}"));
    for fields in [
        "Content-Length: 5\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 3\r\n",
        "content-length: 5\r\nX: y\r\nCONTENT-LENGTH: 05\r\nContent-Length: 4\r\n",
    ] {
        assert_eq!(with(fields), refused("it has several Content-Lengths that differ"), "{fields:?}");
    }
    for fields in ["Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n"] {
        assert_eq!(with(fields), Ok("hello".to_owned()), "{fields:?}");
    }
    for length in ["+5", "-5", "0x5", "", "5 5", "5,", "99999999999999999999"] {
        let said = with(&format!("Content-Length: {length}\r\n"));
        assert_eq!(said, refused("its Content-Length is no number"), "{length:?}");
    }
    for encodings in ["gzip\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: gzip", "gzip"] {
        let said = with(&format!("Transfer-Encoding: {encodings}\r\n")).unwrap_err();
        assert!(said.ends_with("a transfer encoding other than chunked"), "{said}");
    }
}

#[test]
fn extensions_of_chunks_are_skipped_and_sizes_must_be_digits() {
    let chunked =
        |body: &str| client_result(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
    let extension = "x".repeat(200);
    let body =
        format!("3;{extension}\r\nhel\r\n2 ; a=\"{extension}\"\r\nlo\r\n0;{extension}\r\nT: x\r\n\r\n");
    assert_eq!(chunked(&body), Ok("hello".to_owned()));
    for size in ["+5", "-5", "0x5", "5g", ";x"] {
        let said = chunked(&format!("{size}\r\nhello\r\n0\r\n\r\n")).unwrap_err();
        assert!(said.ends_with("the size of a chunk is no number"), "{size}: {said}");
    }
}
