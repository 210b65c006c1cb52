//! Fuzz targets for all readers of foreign bytes, one function for each reader. For any bytes, no
//! reader may panic, hang, or use memory out of proportion to the input, and no message about the
//! bytes may contain an escape that moves the cursor.
//!
//! The fuzzers in `fuzz_targets` and the quick test in `tests/garbage.rs` share this file.

use readlab_analysis::compare::{Center, Comparison, Measure, Side};
use readlab_catalog::roster::Roster;
use readlab_corpus::archive::PackedFile;
use readlab_corpus::oracle;
use readlab_model::trial::{Params, TrialId};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_protocol::{Archive, Cache, Message, TurnRequest};
use readlab_record::Record;
use readlab_report::{self as report, Page, Style};
use readlab_rust::method::{Method, registry};
use readlab_rust::{Reading, Work};
use readlab_suite::Suite;
use readlab_system::terminal::printable::is_unprintable;
use readlab_targets::target::http::{Client, RequestVerb};
use readlab_targets::target::url::Url;
use std::cell::Cell;
use std::fs;
use std::io::{Error, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// The measures by which records are compared.
const MEASURES: [Measure; 5] = [Measure::Wall, Measure::Cpu, Measure::Rate, Measure::Peak, Measure::Syscalls];

/// One of this number of samples is kept in a shortened record.
const SAMPLES_EACH: u32 = 13;

/// Limit for pieces of content from an archive. A decompression bomb has more.
const PIECES_MAX: u32 = 256;

/// Limit for bytes that are read of an answer.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Parses the input as a line of a contender and as a line of the lab.
pub(crate) fn protocol(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(say) = Message::parse(text) {
        assert_eq!(Message::parse(&say.line()).expect("what is said is understood"), say);
    }
    if let Ok(ask) = text.parse::<TurnRequest>() {
        assert_eq!(ask.to_string().parse::<TurnRequest>().expect("what is asked is understood"), ask);
    }
}

/// Reads the input as a record, and makes every output from it.
pub(crate) fn record(input: &[u8], file: &Path) {
    fs::write(file, input).expect("the file can be written");
    let Ok(record) = Record::read(file) else { return };
    for (name, text) in outputs(&record) {
        if let Some(c) = text.chars().find(|&c| is_unprintable(c) && c != '\n') {
            panic!("{name} lets {c:?} through");
        }
    }
}

/// Removes most samples of a record. A few test as much as all, and leave more time for other
/// changes.
pub(crate) fn shorter(record: &[u8]) -> Vec<u8> {
    let mut samples = 0;
    let keep = |line: &&[u8]| {
        let is_sample = line.starts_with(b"{\"line\":\"sample\"");
        samples += u32::from(is_sample);
        !is_sample || samples % SAMPLES_EACH == 1
    };
    record.split_inclusive(|&byte| byte == b'\n').filter(keep).flatten().copied().collect()
}

/// Every output from a record, by its name.
pub(crate) fn outputs(record: &Record) -> Vec<(&'static str, String)> {
    let page = Page::from_record(record);
    let narrow = report::terminal_page(&page, Style { width: 40, may_use_color: false }, Some("record"));
    let side = Side::of_record(record, "a", "a");
    let all = [
        ("the terminal", report::terminal_page(&page, Style { width: 200, may_use_color: false }, None)),
        ("a narrow terminal", narrow),
        ("percentiles", report::percentile_tables(&page)),
        ("markdown", report::markdown(&page)),
        ("json", exported(record, report::write_json)),
        ("csv", exported(record, report::write_csv)),
        ("html", report::html(&page)),
        (
            "the history",
            report::history_table(&[report::HistoryLine::from_record(vec![], record, "folder")], 100),
        ),
        ("bencher", report::bencher_json(&side)),
        ("github", report::github_json(&side)),
    ];
    let mut all: Vec<_> = all.into();
    if let Ok(comparison) = Comparison::new(vec![side.clone(), side], &MEASURES, Center::Median, true) {
        let style = Style { width: 100, may_use_color: false };
        all.push(("a comparison", report::comparison_terminal(&comparison, None, style)));
        all.push(("a comparison in markdown", report::comparison_markdown(&comparison, None)));
        all.push(("a comparison in json", report::comparison_json(&comparison, None, None)));
    }
    all
}

fn exported(record: &Record, export: fn(&Record, &mut dyn Write) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    export(record, &mut text).expect("memory takes everything");
    String::from_utf8(text).expect("documents are text")
}

/// Parses the input as a user's roster. None of its programs is run.
pub(crate) fn roster(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = toml::from_str::<Roster>(text);
}

/// Parses the input as a user's suite.
pub(crate) fn suite(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(suite) = Suite::parse(Path::new("suite.toml"), text) else { return };
    let _ = (suite.forms(), suite.server_transports());
    for entry in &suite.entries {
        words(entry.trial.as_bytes());
    }
}

/// Parses the input as a user's claims, and judges them without a record.
pub(crate) fn claims(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(file) = readlab_claims::parse(text) else { return };
    let _ = report::claims_markdown(&[readlab_claims::judge(&file, None)]);
}

/// Parses the input as a word of a command line or of a suite.
pub(crate) fn words(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(id) = text.parse::<TrialId>() {
        assert_eq!(id.to_string().parse::<TrialId>().as_ref(), Ok(&id), "a trial's name is spelled one way");
    }
    let _ =
        (text.parse::<Params>(), text.parse::<Bytes>(), text.parse::<Nanos>(), text.parse::<Throughput>());
    let _ = text.parse::<Url>();
}

/// Reads the input as an archive, by the simplest code and by the Rust contender's methods. They
/// must agree if both succeed.
pub(crate) fn archive(input: &[u8], file: &Path, archive: Archive) {
    fs::write(file, input).expect("the file can be written");
    let pieces = Cell::new(0);
    let go_on = |_| {
        pieces.set(pieces.get() + 1);
        if pieces.get() > PIECES_MAX { Err(Error::other("enough")) } else { Ok(()) }
    };
    let plain = oracle::truth_of_content(&PackedFile { path: file, archive, dictionary: &[] }, &go_on);
    if pieces.get() > PIECES_MAX {
        return;
    }
    let decodes = |method: &&Method| method.decodes.contains(&archive) && method.cache != Cache::None;
    for method in registry::ALL.iter().filter(decodes).map(|method| method.name) {
        let reading = Reading::new(method, "memchr", Work::Newlines, file, []);
        let mut reading = reading.expect("the method is there");
        let answer = reading.prepare().and_then(|()| reading.read());
        if let (Ok(plain), Ok(answer)) = (&plain, &answer) {
            assert_eq!(plain.answer.newlines, answer.newlines, "{method}");
        }
    }
}

/// Passes the input to the lab's client as a server's answer.
pub(crate) fn http(input: &[u8]) {
    static SERVER: OnceLock<Mutex<TcpListener>> = OnceLock::new();
    let server = SERVER.get_or_init(|| Mutex::new(TcpListener::bind("127.0.0.1:0").expect("a port is free")));
    let server = server.lock().expect("nobody panics with it");
    let port = server.local_addr().expect("it has an address").port();
    let url: Url = format!("http://127.0.0.1:{port}/x").parse().expect("a URL");
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let (mut client, _) = server.accept().expect("a client comes");
            let _ = client.read(&mut [0; 1024]);
            let _ = client.write_all(input);
            let _ = client.shutdown(Shutdown::Write);
            // Waits until the client has disconnected. An early end of the connection would discard
            // bytes that the client has not read yet.
            let _ = client.read(&mut [0; 1024]);
        });
        if let Ok(response) = Client::default().ask(RequestVerb::Get, &url, &[], &|| Ok(())) {
            let _ = std::io::copy(&mut response.take(ANSWER_BYTES_MAX), &mut std::io::sink());
        }
        // A scope only waits for the work of a thread. A join waits until the thread itself has
        // ended, which the check for leaks needs.
        answering.join().expect("it does not panic");
    });
}
