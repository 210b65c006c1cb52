//! Readlab's own server of a file, as the lab starts it, and requests to the server.

use crate::home::{Home, READLAB};
use crate::processes::KilledOnDrop;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::time::Duration;

/// Time limit for a server on a busy machine. A server without limits would take a minute for each
/// unwelcome client.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A server, which is ended when the value is dropped.
pub(crate) struct OwnServer {
    process: KilledOnDrop,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    /// The path under which it serves the file.
    pub(crate) path: String,
}

impl OwnServer {
    /// Starts the server by a shell that first runs other commands, for example to set a limit.
    pub(crate) fn after(home: &Home, first: &str, file: &str) -> OwnServer {
        let mut command = home.shell(format!("{first} exec {READLAB} serve {file}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim_end().to_owned();
        let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let process = KilledOnDrop(process);
        OwnServer { process, address: address.parse().unwrap(), path: format!("/{path}"), url }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// The server's answer to a request for a path.
    pub(crate) fn get(&self, path: &str) -> String {
        get(self.address, path).unwrap()
    }

    /// Asserts that the server exits successfully when its standard input is closed.
    pub(crate) fn assert_ends(mut self) {
        drop(self.process.0.stdin.take());
        assert!(self.process.0.wait().unwrap().success());
    }
}

pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let client = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    client.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    Ok(client)
}

/// The answer to a request for a path.
pub(crate) fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let (mut client, mut answer) = (connect(address)?, String::new());
    // The request is sent immediately, as clients do. On a refused connection this may fail.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let _ = client.write_all(request.as_bytes());
    client.read_to_string(&mut answer)?;
    Ok(answer)
}
