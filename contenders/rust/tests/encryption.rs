//! Tests URLs with encryption, and what a session takes from its environment. The environment
//! belongs to the process, so this is the only test of its program.

use readlab_protocol::Message;
use readlab_rust::serve::serve;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use server::{Answer, Request};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::{env, thread};

mod server;

/// Makes `cert.pem` and `key.pem` for localhost; false without openssl.
fn make_certificate(folder: &Path) -> bool {
    let words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem";
    let made = Command::new("openssl")
        .args(words.split(' '))
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}

/// Both directions of one connection.
#[derive(Clone)]
struct EncryptedStream(Arc<Mutex<StreamOwned<ServerConnection, std::net::TcpStream>>>);

impl Read for EncryptedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().read(buffer)
    }
}

impl Write for EncryptedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

/// The port of a server with the certificate of the folder.
fn start(folder: &Path, answer: fn(&Request) -> Answer) -> u16 {
    let certificates = CertificateDer::pem_file_iter(folder.join("cert.pem")).unwrap().map(Result::unwrap);
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates.collect(), key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let stream = Arc::new(Mutex::new(StreamOwned::new(connection, stream.unwrap())));
            let (input, output) = (EncryptedStream(stream.clone()), EncryptedStream(stream));
            thread::spawn(move || server::converse(input, output, &answer));
        }
    });
    port
}

/// Answers only requests that require this version.
fn versioned(request: &Request) -> Answer {
    match request.header("if-match") {
        None | Some("\"right\"") => request.answer(b"one\ntwo\n"),
        Some(_) => Answer::new("412 Precondition Failed", "", b""),
    }
}

/// The last message of one turn of a session whose target is in the environment.
fn last_message(method: &str) -> Message {
    let words = ["read", method, "scalar", "newlines", "-"].map(OsString::from);
    let mut output = Vec::new();
    serve(words, &mut &b"go 0 1\n"[..], &mut output);
    let output = String::from_utf8(output).unwrap();
    assert!(!output.contains("secret"), "{output}");
    Message::parse(output.lines().rfind(|line| !line.contains("\"done\"")).unwrap()).unwrap()
}

fn set(name: &str, value: impl AsRef<std::ffi::OsStr>) {
    // SAFETY: this program has one test. Its other threads belong to the server and do not read the
    // environment.
    unsafe { env::set_var(name, value) };
}

#[test]
fn a_secret_url_is_read_with_encryption_if_the_server_is_trusted_and_has_the_version() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificate(folder.path()) {
        eprintln!("SKIPPED: URLs with encryption: no openssl makes a certificate");
        return;
    }
    let shown = format!("https://localhost:{}/f", start(folder.path(), versioned));
    set("READLAB_TARGET", format!("{shown}?signature=secret"));
    for method in ["http", "http-ranged"] {
        let failed = |part: &str| match last_message(method) {
            Message::Failed { reason } => {
                assert!(reason.starts_with(&format!("{shown}: ")) && reason.contains(part), "{reason}");
            }
            other => panic!("{method}: {other:?}"),
        };
        set("READLAB_ETAG", "\"right\"");
        set("READLAB_CACERT", folder.path().join("cert.pem"));
        match last_message(method) {
            Message::Sample(sample) => {
                let proof = (sample.bytes, sample.newlines, sample.requests);
                assert_eq!(proof, (Some(8), Some(2), Some(1)));
                assert!(sample.first_byte_ns.is_some_and(|first| first < sample.wall_ns));
            }
            other => panic!("{method}: {other:?}"),
        }
        set("READLAB_ETAG", "\"wrong\"");
        failed("status 412 Precondition Failed");
        set("READLAB_CACERT", "/nonexistent/cert.pem");
        failed("/nonexistent/cert.pem: No such file");
        // SAFETY: as in `set`.
        unsafe { env::remove_var("READLAB_CACERT") };
        failed("certificate");
    }
}
