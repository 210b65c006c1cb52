//! The cases: what is read, what limits it, and what readlab must say.

use super::Limit::{BusyLoops, Group, Link};
use super::Target::{Hosts, Https, LateTree, Lines, Newlines, On, Tree, Url, Zip};
use super::Trials::{Only, WithControls};
use super::{Case, Files, Limit, Question, Target, Trials};
use crate::made::control_group::Limit::{DeviceBytes, DeviceReads, Processor, ProcessorPercent};
use crate::made::file_system::FileSystem::{Compressed, ShortReadAhead, Slow};
use crate::made::hosts::HostLimit;
use crate::made::network::Pace;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::time::Duration;

const FILE: Bytes = Bytes(256 << 20);
/// Slow things are shown by a smaller file.
const SMALL: Bytes = Bytes(64 << 20);
const TINY: Bytes = Bytes(4 << 20);
/// So large that its places are seldom in the caches of a processor.
const LARGE: Bytes = Bytes(1_000_000_000);

const READ: &str = "rust/read@buffer=128KiB";
const READ_FILES: &str = "rust/read/memchr@buffer=64KiB";
const READ_ALL: Trials = WithControls(&["rust/read/memchr"]);
const DIRECT: &str = "rust/direct/memchr@buffer=128KiB";
const COPY: &str = "rust/copy";
const DEVICE: &str = "rust/device";
const RESIDENT: &str = "rust/resident";
const HTTP: &str = "rust/http/memchr@kept=1";
const RANGES: &str = "rust/http-ranged/memchr@concurrency=4,kept=1,part=512KiB";
const CURL: &str = "command/curl -s {} | wc -l";
/// Whose loops count four thousand million newlines within seconds.
const QUICK: Trials = WithControls(&[
    "rust/*/memchr",
    "rust/*/avx512*",
    "rust/auto",
    "c/*/loop",
    "cpp/ifstream.read/loop",
    "go/*/Count",
    "java/*/loop",
    "swift/read/for-unsafe",
    "swift/FileHandle/for-unsafe",
    "python/read/count",
    "node/readSync/loop",
]);

const FULL_SPEED: Pace = Pace { bytes_per_s: None, delay: Duration::ZERO };
const PACED: Pace = Pace { bytes_per_s: Some(20e6), ..FULL_SPEED };
const LATE: Pace = Pace { delay: Duration::from_millis(50), ..FULL_SPEED };
const SHARED_LINK: HostLimit = HostLimit::SharedLink(RATE);
const EACH_LINK: HostLimit = HostLimit::EachLink(RATE);
const RATE: &str = "80mbit";

const PLACES: &[&str] =
    &["--pattern", "random", "--reads", "4096", "--block", "4KiB", "--work", "discard", "--runs", "8"];
/// So many that the kernel's count of processor time is fine.
const MANY_PLACES: &[&str] =
    &["--pattern", "random", "--reads", "100000", "--block", "4KiB", "--work", "discard", "--runs", "8"];
/// Of smaller blocks the call itself takes as long as the sum.
const SUMMED_PLACES: &[&str] =
    &["--pattern", "random", "--reads", "20000", "--block", "64KiB", "--work", "sum", "--runs", "8"];
const MAPPED_PLACES: &[&str] = &["--runs", "7", "--fills", "7", "--pattern", "random", "--reads", "2000"];
const TREE: &[&str] = &["--runs", "7", "--fills", "7", "--budget", "20m"];
const READERS: &[&str] = &["--readers", "1,2", "--runs", "8", "--budget", "20m"];
const FLEET: &[&str] = &["race", "/mnt/f", "--runs", "8"];
const SCALE: &[&str] = &["scale", "/mnt/f", "--hosts", "1,2", "--runs", "8"];
const ONCE: &[&str] =
    &["--work", "newlines", "--warmup", "0", "--runs", "1", "--fills", "1", "--budget", "10m"];

const fn warm(name: &'static str, target: Target, trials: Trials, right: &'static [&'static str]) -> Case {
    let options = &["--runs", "7", "--fills", "7"];
    let (limit, state, question) = (Limit::None, Some(CacheState::Warm), Question::StopsAt);
    Case { name, target, limit, state, trials, options, question, right }
}

const fn cold(name: &'static str, target: Target, trials: Trials, right: &'static [&'static str]) -> Case {
    Case { state: Some(CacheState::Cold), ..warm(name, target, trials, right) }
}

const fn url(name: &'static str, target: Target, right: &'static [&'static str]) -> Case {
    let case = warm(name, target, WithControls(&[HTTP, RANGES]), right);
    Case { state: None, options: &["--runs", "8"], ..case }
}

impl Case {
    const fn limited(self, limit: Limit) -> Case {
        Case { limit, ..self }
    }

    const fn with(self, options: &'static [&'static str]) -> Case {
        Case { options, ..self }
    }

    const fn asked(self, question: Question, options: &'static [&'static str]) -> Case {
        Case { question, options, ..self }
    }
}

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    // So low that what the kernel grants after a pause is a small share of the file.
    cold("io-quota", Lines(SMALL), Only(&[READ, DEVICE]), &["I/O quota"]).limited(Group(DeviceBytes(30_000_000))),
    cold("device", Lines(FILE), Only(&["rust/io_uring@buffer=1MiB,depth=8,direct=1", DEVICE, "rust/device@buffer=1MiB,depth=8"]), &["device"]),
    cold("small-blocks", Lines(SMALL), Only(&["rust/direct@buffer=8KiB", "rust/direct@buffer=1MiB", DEVICE]), &["small blocks"]),
    cold("shallow-depth", Lines(FILE), Only(&["rust/io_uring@buffer=128KiB,depth=1,direct=1", "rust/io_uring@buffer=128KiB,depth=16,direct=1", DEVICE]), &["shallow depth"]),
    warm("slow-scan", Lines(FILE), Only(&["rust/mmap/scalar", "rust/mmap", RESIDENT, COPY]), &["processing"]),
    warm("strings", Lines(FILE), Only(&["rust/lines", RESIDENT, COPY]), &["processing"]),
    warm("copy", Lines(FILE), Only(&[READ, RESIDENT, COPY]), &["copy"]),
    warm("memory", Lines(FILE), Only(&["rust/mmap@threads=all", "rust/resident@threads=all", RESIDENT, COPY]), &["memory"]),
    warm("small-pages", On(Compressed, FILE), Only(&["rust/mmap", RESIDENT, COPY, "rust/faults"]), &["faults", "mixed"]),
    // Where no reading past the cache shows the limit of the device, the verdict is unknown.
    cold("compressed", On(Compressed, FILE), Only(&[READ]), &["decoding", "unknown"]),
    warm("sleep", Lines(SMALL), Only(&["command/sleep 0.2; wc -l {}", RESIDENT, COPY]), &["latency"]),
    // It waits for what lies below the file system, which may have a cache of its own.
    cold("slow-fuse", On(Slow, SMALL), Only(&[READ]), &["unknown"]),
    warm("lock", Lines(FILE), Only(&["slowed/locked@threads=2", "slowed/locked@threads=1", RESIDENT, COPY]), &["lock"]),
    warm("busy-loops", Lines(FILE), Only(&[READ, RESIDENT, COPY]), &["scheduler"]).limited(BusyLoops(3)),
    warm("processor-quota", Lines(FILE), Only(&[READ, RESIDENT, COPY]), &["processor quota"]).limited(Group(ProcessorPercent(25))),
    warm("processor-quota-threads", Lines(FILE), Only(&["rust/pread@threads=2", RESIDENT, COPY]), &["processor quota"]).limited(Group(ProcessorPercent(20))),
    warm("new-memory", Lines(FILE), Only(&["rust/fs-read", READ, RESIDENT, COPY, "rust/faults"]), &["new memory"]),
    cold("read-ahead", Lines(FILE), Only(&["rust/places-mmap", "rust/places-device"]), &["read-ahead"]).with(MAPPED_PLACES),
    cold("short-read-ahead", On(ShortReadAhead, SMALL), Only(&["rust/mmap", DEVICE]), &["short read-ahead"]),
    warm("zip", Zip(SMALL), Only(&["rust/zip", "rust/decoder", RESIDENT, COPY]), &["decoding"]),
    cold("places-one-in-flight", Lines(LARGE), WithControls(&["rust/places-direct@threads=1", "rust/places-io_uring@depth=64,direct=1"]), &["shallow depth"]).with(PLACES),
    cold("places-io-quota", Lines(LARGE), WithControls(&["rust/places-io_uring@depth=16,direct=1"]), &["I/O quota"]).limited(Group(DeviceReads(5_000))).with(PLACES),
    warm("places-slow-scan", Lines(LARGE), WithControls(&["rust/places-pread/scalar@threads=1"]), &["processing"]).with(SUMMED_PLACES),
    warm("places-copy", Lines(LARGE), WithControls(&["rust/places-pread@threads=1"]), &["copy"]).with(MANY_PLACES),
    warm("files-metadata", Tree(Files { count: 20_000, bytes: 40 }), WithControls(&[READ_FILES]), &["metadata"]).with(TREE),
    cold("files-late-device", LateTree(Files { count: 1_000, bytes: 4 << 10 }), WithControls(&[READ_FILES, "rust/files-io_uring/memchr", "rust/files-threads/memchr@threads=16"]), &["shallow depth"]).with(TREE),
    warm("files-slow-scan", Tree(Files { count: 200, bytes: 1 << 20 }), WithControls(&["rust/read/scalar@buffer=64KiB"]), &["processing"]).with(TREE),
    url("url-first-byte", Url(LATE, TINY), &["first byte"]),
    url("url-one-connection", Url(PACED, TINY), &["one connection"]),
    // No driver knows this link's rate, and a server that gives all connections together no more looks the same from here.
    url("url-link", Url(FULL_SPEED, TINY), &["server or network"]).limited(Link(RATE)),
    // A client with a part of a processor reads this for many periods of its quota.
    url("url-processor-quota", Https(SMALL), &["processor quota", "processors"]).limited(Group(ProcessorPercent(25))),
    Case { trials: WithControls(&[CURL, HTTP, RANGES]), ..url("url-processor-quota-command", Https(SMALL), &["processor quota", "processors"]).limited(Group(ProcessorPercent(25))) },
    // So long that what the throttle grants after a pause does not matter.
    cold("readers-device", Lines(SMALL), WithControls(&[DIRECT]), &["what they share"]).limited(Group(DeviceBytes(100_000_000))).asked(Question::Scaling, READERS),
    Case { trials: WithControls(&["rust/http/memchr"]), ..url("readers-connections", Url(PACED, TINY), &["something of each"]).asked(Question::Scaling, READERS) },
    warm("readers-processor", Lines(FILE), READ_ALL, &["processors"]).limited(Group(Processor(0))).asked(Question::Scaling, READERS),
    cold("hosts-shared-link", Hosts(2, SHARED_LINK, TINY), READ_ALL, &["what they share"]).asked(Question::Scaling, SCALE),
    cold("hosts-each-link", Hosts(2, EACH_LINK, TINY), READ_ALL, &["something of each"]).asked(Question::Scaling, SCALE),
    warm("hosts-processors", Hosts(2, HostLimit::Processors, FILE), READ_ALL, &["processors"]).asked(Question::Scaling, SCALE),
    cold("hosts-one-slow", Hosts(4, HostLimit::OneLink(2, "160mbit"), TINY), READ_ALL, &["host 2 alone"]).asked(Question::SlowHosts, FLEET),
    cold("hosts-equal", Hosts(4, HostLimit::None, TINY), READ_ALL, &["none"]).asked(Question::SlowHosts, FLEET),
    warm("large-file", Newlines(Bytes((1 << 32) + 1)), QUICK, &["right"]).asked(Question::Answers, ONCE),
];
