//! Tests of foreign clients on the port of readlab's own server, and of servers whose answers
//! contradict themselves.

use super::home::{Home, READLAB};
use readlab_targets::target::http::{Client, RequestVerb};
use readlab_targets::target::url::Url;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a server may take on a busy machine; without bounds it takes a minute a stranger.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many readers the server has at once, and how many strangers.
const CONNECTIONS_MAX: usize = 320;

/// Readlab's server of a file, ended with the value.
struct Server {
    process: Child,
    url: Url,
}

impl Server {
    /// Started by a shell that first runs other commands, for example to set a limit.
    fn after(home: &Home, first: &str, file: &str) -> Server {
        let line = format!("{first} exec {READLAB} serve {file}");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line]).envs(home.environment()).current_dir(home.at(""));
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Server { process, url: url.trim().parse().unwrap() }
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.url.address()).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// A connection that has requested a path, once.
    fn asking(&self, path: &str) -> TcpStream {
        let mut client = self.connect();
        // At once, as clients do; a refused connection may fail here.
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let _ = client.write_all(request.as_bytes());
        client
    }

    /// The answer to a request for the file.
    fn get(&self) -> String {
        let mut said = String::new();
        self.asking(self.url.exact_request()).read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn silent_clients_do_not_block_the_file() {
    let home = Home::new();
    home.file("f", "content");
    let server = Server::after(&home, "", "f");
    let mut strangers: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| server.connect()).collect();
    strangers.iter_mut().step_by(3).for_each(|it| drop(it.write_all(b"GET / HT")));
    for _ in 0..10 {
        assert!(server.get().ends_with("\r\n\r\ncontent"));
        strangers.push(server.connect());
    }
    let mut wrong = String::new();
    server.asking("/").read_to_string(&mut wrong).unwrap();
    assert!(wrong.starts_with("HTTP/1.1 404 "), "{wrong}");
    assert_eq!(strangers[0].read(&mut [0]).unwrap_or(0), 0, "the first was ended");
}

/// The result of the lab's client for an answer: its body, or the error.
fn answered(answer: String) -> Result<String, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url: Url = format!("http://{}/f", listener.local_addr().unwrap()).parse().unwrap();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let _ = client.read(&mut [0; 4096]);
        let _ = client.write_all(answer.as_bytes());
        let _ = client.shutdown(Shutdown::Write);
        let _ = client.read(&mut [0; 1]);
    });
    let mut body = String::new();
    let client = Client::default();
    let mut response =
        client.ask(RequestVerb::Get, &url, &[], &|| Ok(())).map_err(|error| error.to_string())?;
    response.read_to_string(&mut body).map_err(|error| error.to_string())?;
    Ok(body)
}

#[test]
fn lengths_that_differ_are_refused_and_equal_ones_are_one() {
    let with = |fields: &str| answered(format!("HTTP/1.1 200 OK\r\n{fields}\r\nhello"));
    let differ = Err("not an answer in HTTP/1: it has several Content-Lengths that differ".to_owned());
    for fields in [
        "Content-Length: 5\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 3\r\n",
        "content-length: 5\r\nX: y\r\nCONTENT-LENGTH: 05\r\nContent-Length: 4\r\n",
    ] {
        assert_eq!(with(fields), differ, "{fields:?}");
    }
    for fields in ["Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n"] {
        assert_eq!(with(fields), Ok("hello".to_owned()), "{fields:?}");
    }
    let no_number = Err("not an answer in HTTP/1: its Content-Length is no number".to_owned());
    for length in ["+5", "-5", "0x5", "", "5 5", "5,", "99999999999999999999"] {
        assert_eq!(with(&format!("Content-Length: {length}\r\n")), no_number, "{length:?}");
    }
    for encodings in ["gzip\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: gzip", "gzip"] {
        let said = with(&format!("Transfer-Encoding: {encodings}\r\n")).unwrap_err();
        assert!(said.ends_with("a transfer encoding other than chunked"), "{said}");
    }
}

#[test]
fn extensions_of_chunks_are_passed_over_and_sizes_are_digits() {
    let chunked =
        |body: &str| answered(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
    let extension = "x".repeat(200);
    let body =
        format!("3;{extension}\r\nhel\r\n2 ; a=\"{extension}\"\r\nlo\r\n0;{extension}\r\nT: x\r\n\r\n");
    assert_eq!(chunked(&body), Ok("hello".to_owned()));
    for size in ["+5", "-5", "0x5", "5g", ";x"] {
        let said = chunked(&format!("{size}\r\nhello\r\n0\r\n\r\n")).unwrap_err();
        assert!(said.ends_with("the size of a chunk is no number"), "{size}: {said}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_server_without_descriptors_gives_the_file_all_the_same() {
        let home = Home::new();
        home.file("f", "content");
        let server = Server::after(&home, "ulimit -n 16;", "f");
        let strangers: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
        assert!(server.get().ends_with("\r\n\r\ncontent"));
        drop(strangers);
        assert!(server.get().ends_with("\r\n\r\ncontent"));
    }

    #[test]
    fn readers_of_the_file_are_not_ended_for_others_and_one_too_many_is_refused() {
        let home = Home::new();
        // More than the system holds for readers that do not read.
        File::create(home.at("f")).unwrap().set_len(64 << 20).unwrap();
        let server = Server::after(&home, "", "f");
        let path = server.url.exact_request();
        let reading = || {
            let mut reader = server.asking(path);
            let mut begin = [0; 12];
            // On a busy machine the lab may have given the request up before it came.
            let _ = reader.read_exact(&mut begin);
            (String::from_utf8_lossy(&begin).into_owned(), reader)
        };
        let mut readers = Vec::new();
        for nth in 0..CONNECTIONS_MAX {
            let (said, reader) = reading();
            assert_eq!(said, "HTTP/1.1 200", "reader {nth}");
            readers.push(reader);
        }
        let said: Vec<String> = (0..10).map(|_| reading().0).collect();
        assert!(said.contains(&"HTTP/1.1 503".to_owned()), "{said:?}");
        assert!(!said.contains(&"HTTP/1.1 200".to_owned()), "{said:?}");
        let rest = readers.pop().unwrap();
        rest.shutdown(Shutdown::Both).unwrap();
        drop(rest);
        // Its thread sees that a moment later.
        let is_back = (0..300).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            reading().0 == "HTTP/1.1 200"
        });
        assert!(is_back);
    }
}
