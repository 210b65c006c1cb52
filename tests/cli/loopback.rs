//! Tests of readlab's own loopback server: its secret path, its address, and its end.

use super::interrupt::{assert_nothing_left, descendants, send, soon, wait_for_a_sample};
use super::scripted_server::TEXT;
use super::{AS_NOBODY, Home, READLAB, no_other_user};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The lab's own server of a file, started as the lab starts it, and its URL.
fn serve(file: &Path) -> (Child, String) {
    serve_by(Command::new(READLAB).arg("serve").arg(file))
}

fn serve_by(command: &mut Command) -> (Child, String) {
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.as_mut().unwrap()), &mut url)
        .unwrap();
    (server, url.trim_end().to_owned())
}

fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut client = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    write!(client, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    client.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn the_loopback_server_gives_the_file_to_its_secret_path_and_listens_nowhere_else() {
    let home = Home::new();
    let (mut server, url) = serve(&home.file("f.txt", TEXT));
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let address: SocketAddr = address.parse().unwrap();
    assert_eq!(address.ip(), Ipv4Addr::LOCALHOST);
    assert!(path.len() == 32 && path.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    assert!(get(address, &format!("/{path}")).unwrap().ends_with(TEXT));
    for other in ["/", "/f.txt", &format!("/{path}/"), &format!("/{}", "0".repeat(32))] {
        assert!(get(address, other).unwrap().starts_with("HTTP/1.1 404 "), "{other}");
    }
    assert_eq!(listens(server.id()), [address], "127.0.0.1 alone");
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success(), "it ends with its standard input");
    assert!(get(address, "/").is_err());
}

#[test]
fn another_user_who_knows_the_url_gets_not_a_byte() {
    let curl = Command::new("curl").arg("--version").output().is_ok_and(|it| it.status.success());
    if let Some(why) = no_other_user().or((!curl).then_some("there is no curl")) {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let home = Home::new();
    let (mut server, url) = serve(&home.file("f.txt", TEXT));
    let got = |program: &str, words: &[&str]| {
        let said = Command::new(program).args(words).args(["curl", "-s", &url]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    assert_eq!(got("env", &[]), TEXT);
    assert_eq!(got("setpriv", &AS_NOBODY), "");
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}

/// Requests a URL over so many connections at once, and prints how many bytes came in five seconds.
const FLOOD: &str = "
import selectors, socket, sys, time
host, path = sys.argv[1].split('/', 3)[2:]
name, port = host.split(':')
waiting, got, end = selectors.DefaultSelector(), 0, time.monotonic() + 5
for _ in range(int(sys.argv[2])):
    one = socket.create_connection((name, int(port)))
    try:
        one.sendall(f'GET /{path} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n'.encode())
    except OSError:
        continue
    waiting.register(one, selectors.EVENT_READ)
while waiting.get_map() and time.monotonic() < end:
    for ready, _ in waiting.select(0.1):
        try:
            more = ready.fileobj.recv(65536)
        except OSError:
            more = b''
        got += len(more)
        if not more:
            waiting.unregister(ready.fileobj)
print(got)
";

#[test]
fn another_user_gets_no_byte_either_while_the_server_has_no_descriptor_left() {
    if let Some(why) = no_other_user() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let few = "ulimit -n 16; exec \"$0\" serve \"$1\"";
    let (mut server, url) = serve_by(Command::new("sh").args(["-c", few, READLAB]).arg(&file));
    let flood = |program: &str, words: &[&str], connections: &str| {
        let python = ["python3", "-c", FLOOD, &url, connections];
        // One of the system's, which every user can run.
        let mut command = Command::new(program);
        let said = command.args(words).args(python).env("PATH", "/usr/bin:/bin").output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap().trim().parse::<u64>().unwrap()
    };
    assert_eq!(flood("setpriv", &AS_NOBODY, "60"), 0);
    assert!(flood("env", &[], "1") > TEXT.len() as u64, "the user still gets the file");
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}

/// The addresses on which a process listens, by the sockets that it has open.
fn listens(pid: u32) -> Vec<SocketAddr> {
    let process = procfs_sockets(pid);
    let mut found = Vec::new();
    for (table, v6) in [("tcp", false), ("tcp6", true)] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields[3] == "0A" && process.contains(&format!("socket:[{}]", fields[9])) {
                assert!(!v6, "it listens on IPv6 too: {line}");
                let (ip, port) = fields[1].split_once(':').unwrap();
                let ip = Ipv4Addr::from(u32::from_str_radix(ip, 16).unwrap().swap_bytes());
                found.push(SocketAddr::from((ip, u16::from_str_radix(port, 16).unwrap())));
            }
        }
    }
    found
}

fn procfs_sockets(pid: u32) -> Vec<String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    open.filter_map(|fd| Some(std::fs::read_link(fd.path()).ok()?.to_string_lossy().into_owned())).collect()
}

/// A long race over readlab's own server; the server's process and address.
fn long_race(home: &Home) -> (Child, u32, SocketAddr) {
    let file = home.file("f", "line\n".repeat(1 << 20));
    let mut command = Command::new(READLAB);
    command.args(["race", "--http"]).arg(&file).args([
        "--runs",
        "100000",
        "--budget",
        "300s",
        "--no-progress",
    ]);
    command.args(["--output", "run", "--method", "rust/http/scalar"]);
    command.envs(home.environment()).current_dir(home.at(""));
    let race = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_a_sample(&home.at("run/record.jsonl"));
    let is_server = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|words| words.split(|b| *b == 0).nth(1) == Some(b"serve"))
    };
    let server =
        descendants(race.id()).into_iter().find(is_server).expect("a server in a process of its own");
    (race, server, listens(server)[0])
}

/// The command lines of those processes that are still there.
fn command_lines(pids: &[u32]) -> Vec<String> {
    let lines = pids.iter().filter_map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

#[test]
fn the_secret_path_is_on_no_command_line_of_a_contender() {
    let home = Home::new();
    let (mut race, _, address) = long_race(&home);
    let mut lines = Vec::new();
    let has_contender = soon(|| {
        lines = command_lines(&descendants(race.id()));
        lines.iter().any(|line| line.contains(" contender rust "))
    });
    send(&race, Signal::INT);
    race.wait().unwrap();
    assert!(has_contender, "{lines:?}");
    // A command such as curl takes it as an argument, and the server knows who asks.
    let of_commands = |line: &&String| !line.starts_with(READLAB) || line.contains(" contender command ");
    let mut others = lines.iter().filter(|line| !of_commands(line));
    assert!(!others.any(|line| line.contains(&address.to_string())), "{lines:?}");
}

#[test]
fn the_loopback_server_is_gone_after_ctrl_c_and_after_the_lab_was_killed() {
    for signal in [Signal::INT, Signal::KILL] {
        let home = Home::new();
        let (mut race, server, address) = long_race(&home);
        assert!(get(address, "/").unwrap().starts_with("HTTP/1.1 404 "));
        let children = descendants(race.id());
        send(&race, signal);
        race.wait().unwrap();
        assert!(children.contains(&server));
        assert_nothing_left(&home, &children);
        assert!(soon(|| get(address, "/").is_err()), "{signal:?}: the port is still open");
    }
}
