//! Tests of the client against servers with encrypted connections on the loopback interface.

mod https_server;

use super::{CertificateFault, Client, HttpError, RequestVerb};
use crate::target::url::Url;
use ConnectionEnd::{Abrupt, Announced};
use https_server::{Authority, CURRENT_YEARS, ConnectionEnd, HOST, Server, start_listener};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

fn get_body(client: &Client, url: &Url) -> Result<String, HttpError> {
    let mut body = String::new();
    let mut response = client.ask(RequestVerb::Get, url, &[], &|| Ok(()))?;
    response.read_to_string(&mut body).map_err(HttpError::from_io)?;
    Ok(body)
}

fn request_error(client: &Client, url: &Url) -> HttpError {
    get_body(client, url).unwrap_err()
}

fn ok_response(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}")
}

#[test]
fn header_fields_and_body_are_received_over_every_version_of_tls() {
    let authority = Authority::new("one");
    let client = authority.client();
    let body = "line\n".repeat(50_000);
    let answer = ok_response("Content-Length: 250000\r\nETag: \"e\"\r\n", &body);
    for version in rustls::ALL_VERSIONS {
        let identity = authority.identity_of_versions(HOST, CURRENT_YEARS, &[version]);
        let server = Server::encrypted(&identity, &answer, Announced);
        assert_eq!(get_body(&client, &server.url).unwrap(), body, "{version:?}");
    }
    let identity = authority.identity("localhost", CURRENT_YEARS);
    let server = Server::encrypted_at("localhost", &identity, &ok_response("ETag: \"e\"\r\n", ""), Announced);
    let response = client.ask(RequestVerb::Head, &server.url, &[], &|| Ok(())).unwrap();
    assert_eq!(response.field("etag"), Some("\"e\""));
}

#[test]
fn a_request_has_the_fields_of_its_caller_and_values_cannot_inject_fields() {
    let authority = Authority::new("one");
    let (client, identity) = (authority.client(), authority.identity(HOST, CURRENT_YEARS));
    let server = Server::encrypted(&identity, &ok_response("", ""), Announced);
    let fields = [("If-Match", "\"e\""), ("X-Other", "1")];
    client.ask(RequestVerb::Head, &server.url, &fields, &|| Ok(())).unwrap();
    let head = server.request_heads.recv().unwrap();
    assert!(head.starts_with("HEAD /f?a=b HTTP/1.1\r\nHost: 127.0.0.1:"), "{head}");
    for field in ["If-Match: \"e\"", "X-Other: 1", "Accept-Encoding: identity", "Connection: close"] {
        assert!(head.contains(&format!("\r\n{field}\r\n")), "{head}");
    }
    for field in [("If-Match", "e\r\nX: y"), ("If\n", "e"), ("If-Match", "e\0")] {
        let refused = client.ask(RequestVerb::Head, &server.url, &[field], &|| Ok(()));
        assert!(matches!(refused.err(), Some(HttpError::Field(_))), "{field:?}");
    }
}

#[test]
fn a_body_is_complete_only_if_its_own_end_was_received() {
    let length = |body| ok_response("Content-Length: 5\r\n", body);
    let cut_in_chunk = "the connection ended after 3 bytes, before the end of the chunked body";
    let cut_after_chunk = "the connection ended after 2 bytes, before the end of the chunked body";
    let chunked = |body| ok_response("Transfer-Encoding: chunked\r\n", body);
    let authority = Authority::new("one");
    let (client, identity) = (authority.client(), authority.identity(HOST, CURRENT_YEARS));
    let cases = [
        (length("hello"), Announced, "hello"),
        (length("hello"), Abrupt, "hello"),
        (length("hel"), Announced, "the connection ended after 3 of 5 bytes"),
        (length("hel"), Abrupt, "the connection ended after 3 of 5 bytes"),
        (length("hello!"), Announced, "the server sends more than the 5 bytes that it promises"),
        (chunked("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), Announced, "hello"),
        (chunked("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), Abrupt, "hello"),
        (chunked("2\r\nhe\r\n3\r\nl"), Announced, cut_in_chunk),
        (chunked("2\r\nhe\r\n3\r\nl"), Abrupt, cut_in_chunk),
        (chunked("2\r\nhe\r\n3"), Abrupt, cut_after_chunk),
        (chunked("2\r\nhe\r\n0\r\nT: x\r\n"), Abrupt, cut_after_chunk),
        (ok_response("", "hello"), Announced, "hello"),
        (
            ok_response("", "hello"),
            Abrupt,
            "the encrypted connection ended after 5 bytes without notice: perhaps before the end",
        ),
        ("HTTP/1.1 200 OK\r\nA: b".to_owned(), Abrupt, "not an answer in HTTP/1: its head has no end"),
        ("HTTP/1.1 200 OK\r\nA: b".to_owned(), Announced, "not an answer in HTTP/1: its head has no end"),
        (String::new(), Abrupt, "not an answer in HTTP/1: its head has no end"),
    ];
    for (answer, end, expected) in cases {
        let server = Server::encrypted(&identity, &answer, end);
        let body = get_body(&client, &server.url).unwrap_or_else(|error| error.to_string());
        assert_eq!(body, expected, "{answer:?}, {end:?}");
    }
}

fn certificate_fault(client: &Client, server: &Server) -> CertificateFault {
    match request_error(client, &server.url) {
        HttpError::Certificate { fault } => fault,
        other => panic!("not about its certificate: {other}"),
    }
}

#[test]
fn invalid_certificates_are_rejected_with_their_fault_before_a_request_is_sent() {
    let [authority, other, namesake] = ["one", "other", "one"].map(Authority::new);
    let answer = ok_response("Content-Length: 0\r\n", "");
    for (client, host, years, expected) in [
        (authority.client(), HOST, 2000..=2001, CertificateFault::Expired),
        (authority.client(), HOST, 3000..=4000, CertificateFault::NotYetValid),
        (authority.client(), "127.0.0.2", CURRENT_YEARS, CertificateFault::OtherHost),
        (authority.client(), "localhost", CURRENT_YEARS, CertificateFault::OtherHost),
        (other.client(), HOST, CURRENT_YEARS, CertificateFault::NotTrusted),
        (namesake.client(), HOST, CURRENT_YEARS, CertificateFault::NotTrusted),
    ] {
        let server = Server::encrypted(&authority.identity(host, years), &answer, Announced);
        assert_eq!(certificate_fault(&client, &server), expected);
        assert!(server.request_heads.recv().is_err(), "nothing was requested");
    }
    let server = Server::encrypted(&authority.own_identity(), &answer, Announced);
    assert_eq!(certificate_fault(&authority.client(), &server), CertificateFault::IsAuthority);
}

#[test]
fn an_unknown_authority_is_not_trusted_by_the_system() {
    let server = Server::encrypted(
        &Authority::new("one").identity(HOST, CURRENT_YEARS),
        &ok_response("", ""),
        Announced,
    );
    match request_error(&Client::default(), &server.url) {
        HttpError::Certificate { fault: CertificateFault::NotTrusted } => {}
        // A machine without certificates trusts no server.
        HttpError::Trust(error) => assert!(error.to_string().contains("--cacert"), "{error}"),
        other => panic!("{other}"),
    }
    assert!(server.request_heads.recv().is_err(), "nothing was requested");
}

#[test]
fn an_unencrypted_port_is_rejected_for_an_https_url() {
    let client = Authority::new("one").client();
    let server = Server::plain("https", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(request_error(&client, &server.url), HttpError::NotEncrypted));
    let hello = server.request_heads.recv().unwrap();
    assert!(!hello.contains("GET"), "no request came without encryption: {hello:?}");
    let closing = start_listener("https", HOST, |mut client| drop(client.read(&mut [0; 4096])));
    let closed = request_error(&client, &closing).to_string();
    assert!(closed.starts_with("no encrypted connection: "), "{closed}");
}

/// A server that receives the first bytes of a handshake and then runs `and_then`.
fn server_in_handshake(and_then: impl FnOnce(TcpStream) + Send + 'static) -> Url {
    start_listener("https", HOST, move |mut client| {
        let _ = client.read(&mut [0; 4096]);
        and_then(client);
    })
}

/// Sends a request with a check that fails at its nth call; returns the error and the number of
/// calls.
fn end_by_check(url: &Url, nth: u32) -> (String, u32) {
    let calls = Cell::new(0);
    let check = || {
        calls.set(calls.get() + 1);
        if calls.get() < nth { Ok(()) } else { Err(io::Error::other("the user's time is up")) }
    };
    let client = Authority::new("one").client();
    let error = client.ask(RequestVerb::Head, url, &[], &check).err().unwrap().to_string();
    (error, calls.get())
}

#[test]
fn the_callers_check_ends_a_handshake_that_does_not_finish() {
    let wait_for_end = |mut client: TcpStream| drop(client.read(&mut [0; 1]));
    assert_eq!(end_by_check(&server_in_handshake(wait_for_end), 4), ("the user's time is up".to_owned(), 4));
    // The head of a TLS record whose rest is never sent.
    let begun = server_in_handshake(move |mut client| {
        let _ = client.write_all(b"\x16\x03\x03\x00\x7a\x02");
        wait_for_end(client);
    });
    assert_eq!(end_by_check(&begun, 6), ("the user's time is up".to_owned(), 6));
}

#[test]
fn a_redirect_to_encryption_is_not_followed_and_shows_no_secret() {
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = format!("https://{}/o", other.local_addr().unwrap());
    let redirected = |location: &str| {
        let answer = format!("HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        request_error(&Client::default(), &Server::plain("http", &answer).url).to_string()
    };
    let refusal = |to: &str| {
        format!("the server answers 301 with a redirect, which is not followed: name {to} instead")
    };
    assert_eq!(redirected(&format!("{to}?page=b")), refusal(&format!("{to}?page=b")));
    assert_eq!(redirected(&format!("{to}?X-Amz-Signature=hush")), refusal(&format!("{to}?…")));
    assert_eq!(redirected("/o?token=hush"), refusal("/o?…"));
    other.set_nonblocking(true).unwrap();
    assert_eq!(other.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "nobody connected");
}

#[test]
fn content_in_another_encoding_is_refused() {
    let with = |fields: &str| {
        let answer = ok_response(&format!("{fields}Content-Length: 5\r\n"), "hello");
        get_body(&Client::default(), &Server::plain("http", &answer).url).map_err(|error| error.to_string())
    };
    for fields in ["", "Content-Encoding: identity\r\n", "content-encoding: Identity, \r\n"] {
        assert_eq!(with(fields), Ok("hello".to_owned()), "{fields:?}");
    }
    for fields in [
        "Content-Encoding: gzip\r\n",
        "Content-Encoding: identity, gzip\r\n",
        "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
    ] {
        let refusal = "the server sends the content encoding gzip, although none was accepted";
        assert_eq!(with(fields), Err(refusal.to_owned()), "{fields:?}");
    }
}
