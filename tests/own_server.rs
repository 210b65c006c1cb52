//! Readlab's own server of a file, as the lab starts it, and requests to it.

use crate::home::{Home, READLAB};
use crate::processes::KilledOnDrop;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::time::Duration;

/// What a server may take on a busy machine; without bounds it takes a minute a stranger.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server; ended with the value, if not before.
pub(crate) struct OwnServer {
    process: KilledOnDrop,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    /// The path that it gives the file to.
    pub(crate) path: String,
}

impl OwnServer {
    /// Started by a shell that first runs other commands, for example to set a limit.
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

    /// What it answers to a request for a path.
    pub(crate) fn get(&self, path: &str) -> String {
        get(self.address, path).unwrap()
    }

    /// That it ends well with its standard input.
    pub(crate) fn assert_ends(mut self) {
        drop(self.process.0.stdin.take());
        assert!(self.process.0.wait().unwrap().success());
    }
}

pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let client = TcpStream::connect_timeout(&address, PATIENCE)?;
    client.set_read_timeout(Some(PATIENCE))?;
    Ok(client)
}

/// A connection that has requested a path, once.
pub(crate) fn request(address: SocketAddr, path: &str) -> io::Result<TcpStream> {
    let mut client = connect(address)?;
    // At once, as clients do; a refused connection may fail here.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let _ = client.write_all(request.as_bytes());
    Ok(client)
}

/// The answer to a request for a path.
pub(crate) fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut answer = String::new();
    request(address, path)?.read_to_string(&mut answer)?;
    Ok(answer)
}
