//! Tests of readlab's own loopback server: its secret path, its address, and its end.

use crate::home::{Home, READLAB, paths_in};
use crate::machine::{AS_NOBODY, has_nobody, succeeds_or_skip};
use crate::own_server::{OwnServer, get};
use crate::processes::{
    assert_nothing_left, command_line, descendants, happens_in_time, send, start_until_sample,
};
use crate::scripted_server::TEXT;
use rustix::process::Signal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command};

/// A script that requests a URL over this number of connections at the same time, and prints how
/// many bytes arrived.
const FLOOD: &str = include_str!("flood.py");

/// The lab's own server of a file, started by a shell that first runs other commands.
fn serve_after(home: &Home, first: &str) -> OwnServer {
    home.file("f.txt", TEXT);
    OwnServer::after(home, first, "f.txt")
}

#[test]
fn the_loopback_server_gives_the_file_to_its_secret_path_and_listens_nowhere_else() {
    let home = Home::new();
    let server = serve_after(&home, "");
    let (address, secret) = (server.address, &server.path[1..]);
    assert_eq!(address.ip(), Ipv4Addr::LOCALHOST);
    assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
    assert!(server.get(&server.path).ends_with(TEXT));
    for other in ["/", "/f.txt", &format!("/{secret}/"), &format!("/{}", "0".repeat(32))] {
        assert!(server.get(other).starts_with("HTTP/1.1 404 "), "{other}");
    }
    assert_eq!(listening_addresses(server.pid()), [address], "127.0.0.1 alone");
    server.assert_ends();
    assert!(get(address, "/").is_err());
}

/// The output of a system program, started by the user of the tests or by the user nobody.
fn output_of_user(nobody: bool, program: &[&str]) -> String {
    let mut command = Command::new(if nobody { "setpriv" } else { "env" });
    command.args(if nobody { &AS_NOBODY[..] } else { &[] }).args(program).env("PATH", "/usr/bin:/bin");
    String::from_utf8_lossy(&command.output().unwrap().stdout).trim().to_owned()
}

#[test]
fn another_user_who_knows_the_url_gets_no_byte() {
    if !has_nobody() || !succeeds_or_skip("curl --version") {
        return;
    }
    let home = Home::new();
    let server = serve_after(&home, "");
    assert_eq!(output_of_user(false, &["curl", "-s", &server.url]), TEXT);
    assert_eq!(output_of_user(true, &["curl", "-s", &server.url]), "");
    server.assert_ends();
}

#[test]
fn another_user_gets_no_byte_either_while_the_server_has_no_descriptor_left() {
    if !has_nobody() {
        return;
    }
    let home = Home::new();
    let server = serve_after(&home, "ulimit -n 16;");
    let flood = |nobody, count| output_of_user(nobody, &["python3", "-c", FLOOD, &server.url, count]);
    assert_eq!(flood(true, "60"), "0");
    let got: usize = flood(false, "1").parse().unwrap();
    assert!(got > TEXT.len(), "the user still gets the file");
    server.assert_ends();
}

fn listening_addresses(pid: u32) -> Vec<SocketAddr> {
    let open = paths_in(format!("/proc/{pid}/fd")).into_iter().filter_map(|fd| std::fs::read_link(fd).ok());
    let open: Vec<PathBuf> = open.collect();
    let mut found = Vec::new();
    for (table, v6) in [("tcp", false), ("tcp6", true)] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields[3] == "0A" && open.contains(&format!("socket:[{}]", fields[9]).into()) {
                assert!(!v6, "it listens on IPv6 too: {line}");
                let (ip, port) = fields[1].split_once(':').unwrap();
                let ip = Ipv4Addr::from(u32::from_str_radix(ip, 16).unwrap().swap_bytes());
                found.push(SocketAddr::from((ip, u16::from_str_radix(port, 16).unwrap())));
            }
        }
    }
    found
}

/// A long race over readlab's own server. Returns the race, and the server's process and address.
fn long_race(home: &Home) -> (Child, u32, SocketAddr) {
    let race =
        start_until_sample(home, "race", "--http --method rust/http/scalar --runs 100000 --budget 300s");
    let is_server = |pid: &u32| command_line(*pid).split(|b| *b == 0).nth(1) == Some(b"serve");
    let server =
        descendants(race.id()).into_iter().find(is_server).expect("a server in a process of its own");
    (race, server, listening_addresses(server)[0])
}

/// The command lines of a race as soon as one is that of the Rust contender.
fn command_lines(race: u32) -> Vec<String> {
    let mut lines = Vec::new();
    let has_contender = happens_in_time(|| {
        let all = descendants(race).into_iter().map(command_line);
        lines = all.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect::<Vec<_>>();
        lines.iter().any(|line| line.contains(" contender rust "))
    });
    assert!(has_contender, "{lines:?}");
    lines
}

#[test]
fn the_secret_path_is_on_no_command_line_and_the_server_is_gone_with_the_lab() {
    for signal in [Signal::INT, Signal::KILL] {
        let home = Home::new();
        let (mut race, server, address) = long_race(&home);
        // A command such as curl gets the path as an argument, and the server knows which process
        // asks.
        let lines = command_lines(race.id());
        let of_command = |line: &&String| !line.starts_with(READLAB) || line.contains(" contender command ");
        let mut others = lines.iter().filter(|line| !of_command(line));
        assert!(!others.any(|line| line.contains(&address.to_string())), "{lines:?}");
        assert!(get(address, "/").unwrap().starts_with("HTTP/1.1 404 "));
        let children = descendants(race.id());
        send(race.id(), signal);
        race.wait().unwrap();
        assert!(children.contains(&server));
        assert_nothing_left(&home, &children);
        assert!(happens_in_time(|| get(address, "/").is_err()), "{signal:?}: the port is still open");
    }
}
