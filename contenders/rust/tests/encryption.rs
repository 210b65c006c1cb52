//! Tests URLs with encryption, and what a session takes from its environment.
//!
//! A session runs in a separate process, which is this test program again, because the environment
//! belongs to a process.

use crate::server::{self, Answer, Request};
use readlab_protocol::Message;
use readlab_rust::serve;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{self, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::{env, thread};

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

/// The variable with the words of a session, one a line. It is set only in the process of a session.
const SESSION_WORDS: &str = "SESSION_WORDS";

/// No test itself, but the process of a session.
#[test]
fn run_session_of_another_test() {
    if let Ok(words) = env::var(SESSION_WORDS) {
        let code = serve::main(words.split('\n').map(OsString::from));
        process::exit(i32::from(code != ExitCode::SUCCESS));
    }
}

/// The last message of one turn of a session whose target, version and trusted certificate are in
/// the environment.
fn last_message(method: &str, target: &str, etag: &str, certificate: Option<&Path>) -> Message {
    let words = ["read", method, "scalar", "newlines", "-"].join("\n");
    let mut session = Command::new(env::current_exe().unwrap());
    session.args(["--exact", "encryption::run_session_of_another_test", "--nocapture", "-q"]);
    session.env(SESSION_WORDS, words).env("READLAB_TARGET", target).env("READLAB_ETAG", etag);
    session.env_remove("READLAB_CACERT").envs(certificate.map(|path| ("READLAB_CACERT", path)));
    let mut session = session.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // A session that cannot begin does not read its turns.
    let _ = session.stdin.take().unwrap().write_all(b"go 0 1\n");
    let output = String::from_utf8(session.wait_with_output().unwrap().stdout).unwrap();
    assert!(!output.contains("secret"), "{output}");
    Message::parse(output.lines().rfind(|line| !line.contains("\"done\"")).unwrap()).unwrap()
}

#[test]
fn a_secret_url_is_read_with_encryption_if_the_server_is_trusted_and_has_the_version() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificate(folder.path()) {
        eprintln!("SKIPPED: URLs with encryption: no openssl makes a certificate");
        return;
    }
    let shown = format!("https://localhost:{}/f", start(folder.path(), versioned));
    let target = format!("{shown}?signature=secret");
    let (right, wrong) = ("\"right\"", "\"wrong\"");
    let trusted = folder.path().join("cert.pem");
    for method in ["http", "http-ranged"] {
        match last_message(method, &target, right, Some(&trusted)) {
            Message::Sample(sample) => {
                let proof = (sample.bytes, sample.newlines, sample.requests);
                assert_eq!(proof, (Some(8), Some(2), Some(1)));
                assert!(sample.first_byte_ns.is_some_and(|first| first < sample.wall_ns));
            }
            other => panic!("{method}: {other:?}"),
        }
        for (etag, certificate, part) in [
            (wrong, Some(&*trusted), "status 412 Precondition Failed"),
            (right, Some(Path::new("/nonexistent/cert.pem")), "/nonexistent/cert.pem: No such file"),
            (right, None, "certificate"),
        ] {
            match last_message(method, &target, etag, certificate) {
                Message::Failed { reason } => {
                    assert!(reason.starts_with(&format!("{shown}: ")) && reason.contains(part), "{reason}");
                }
                other => panic!("{method}: {other:?}"),
            }
        }
    }
}
