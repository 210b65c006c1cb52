//! The cases: the target, its limit, and the answer that readlab must give.

use super::CaseLimit::{BusyLoops, Group, Link};
use super::Target::{
    Hosts, Https, LateFile, LateTree, Lines, Newlines, NewlinesInMemory, On, Tree, Url, Zip,
};
use super::TrialSelection::{Only, WithControls};
use super::{Case, CaseLimit, Files, Question, Target, TrialSelection};
use crate::made::control_group::GroupLimit::{DeviceBytes, DeviceReads, Processor, ProcessorPercent};
use crate::made::file_system::FileSystem::{Compressed, CompressedImage, ShortReadAhead, Slow};
use crate::made::hosts::HostLimit;
use crate::made::network::Pace;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::time::Duration;

const FILE_SIZE: Bytes = Bytes(256 << 20);
/// A smaller file for slow readings.
const SMALL_FILE_SIZE: Bytes = Bytes(64 << 20);
const TINY_FILE_SIZE: Bytes = Bytes(4 << 20);
/// A file so large that blocks at random places of it are seldom in the processor's caches.
const LARGE_FILE_SIZE: Bytes = Bytes(1_000_000_000);

const READ_TRIAL: &str = "rust/read@buffer=128KiB";
const READ_FILES_TRIAL: &str = "rust/read/memchr@buffer=64KiB";
const READ_ALL_TRIALS: TrialSelection = WithControls(&["rust/read/memchr"]);
const DIRECT_TRIAL: &str = "rust/direct/memchr@buffer=128KiB";
const COPY_CONTROL: &str = "rust/copy";
const DEVICE_CONTROL: &str = "rust/device";
const RESIDENT_CONTROL: &str = "rust/resident";
const HTTP_TRIAL: &str = "rust/http/memchr@kept=1";
const RANGES_TRIAL: &str = "rust/http-ranged/memchr@concurrency=4,kept=1,part=512KiB";
const CURL_TRIAL: &str = "command/curl -s {} | wc -l";
/// Trials whose loops count four thousand million newlines within seconds.
const FAST_LOOPS: TrialSelection = WithControls(&[
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
const PACED_SERVER: Pace = Pace { bytes_per_s: Some(20e6), ..FULL_SPEED };
const LATE_ANSWER: Pace = Pace { delay: Duration::from_millis(50), ..FULL_SPEED };
const SHARED_LINK: HostLimit = HostLimit::SharedLink(LINK_RATE);
const EACH_LINK: HostLimit = HostLimit::EachLink(LINK_RATE);
const LINK_RATE: &str = "80mbit";

const PLACES_OPTIONS: &[&str] =
    &["--pattern", "random", "--reads", "4096", "--block", "4KiB", "--work", "discard", "--runs", "8"];
/// With fewer reads, the kernel's coarse count of processor time is not precise enough.
const MANY_PLACES_OPTIONS: &[&str] =
    &["--pattern", "random", "--reads", "100000", "--block", "4KiB", "--work", "discard", "--runs", "8"];
/// With smaller blocks the call itself would take as long as the sum.
const SUMMED_PLACES_OPTIONS: &[&str] =
    &["--pattern", "random", "--reads", "20000", "--block", "64KiB", "--work", "sum", "--runs", "8"];
const MAPPED_PLACES_OPTIONS: &[&str] =
    &["--runs", "7", "--fills", "7", "--pattern", "random", "--reads", "2000"];
/// With fewer blocks, the memory that the kernel charges in advance is a large part of the bound.
const PRESSED_PLACES_OPTIONS: &[&str] =
    &["--runs", "7", "--pattern", "random", "--reads", "20000", "--memory", "50%"];
const TREE_OPTIONS: &[&str] = &["--runs", "7", "--fills", "7", "--budget", "20m"];
const READ_AHEAD_OPTIONS: &[&str] = &["--setting", "read-ahead=4MiB", "--runs", "6", "--budget", "20m"];
const READERS_OPTIONS: &[&str] = &["--readers", "1,2", "--runs", "8", "--budget", "20m"];
const FLEET_RACE_OPTIONS: &[&str] = &["race", "/mnt/f", "--runs", "8"];
const FLEET_SCALE_OPTIONS: &[&str] = &["scale", "/mnt/f", "--hosts", "1,2", "--runs", "8"];
const SINGLE_RUN_OPTIONS: &[&str] =
    &["--work", "newlines", "--warmup", "0", "--runs", "1", "--fills", "1", "--budget", "10m"];

const fn warm(
    name: &'static str,
    target: Target,
    trials: TrialSelection,
    right: &'static [&'static str],
) -> Case {
    let options = &["--runs", "7", "--fills", "7"];
    let (limit, state, question) = (CaseLimit::None, Some(CacheState::Warm), Question::StopsAt);
    Case { name, target, limit, state, trials, options, question, right }
}

const fn cold(
    name: &'static str,
    target: Target,
    trials: TrialSelection,
    right: &'static [&'static str],
) -> Case {
    Case { state: Some(CacheState::Cold), ..warm(name, target, trials, right) }
}

const fn url(name: &'static str, target: Target, right: &'static [&'static str]) -> Case {
    let case = warm(name, target, WithControls(&[HTTP_TRIAL, RANGES_TRIAL]), right);
    Case { state: None, options: &["--runs", "8"], ..case }
}

impl Case {
    const fn with_limit(self, limit: CaseLimit) -> Case {
        Case { limit, ..self }
    }

    const fn with_options(self, options: &'static [&'static str]) -> Case {
        Case { options, ..self }
    }

    const fn asked(self, question: Question, options: &'static [&'static str]) -> Case {
        Case { question, options, ..self }
    }
}

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    // The rate is so low that the bytes which the kernel grants after a pause are a small share of
    // the file.
    cold("io-quota", Lines(SMALL_FILE_SIZE), Only(&[READ_TRIAL, DEVICE_CONTROL]), &["I/O quota"]).with_limit(Group(DeviceBytes(30_000_000))),
    cold("device", Lines(FILE_SIZE), Only(&["rust/io_uring@buffer=1MiB,depth=8,direct=1", DEVICE_CONTROL, "rust/device@buffer=1MiB,depth=8"]), &["device"]),
    cold("small-blocks", Lines(SMALL_FILE_SIZE), Only(&["rust/direct@buffer=8KiB", "rust/direct@buffer=1MiB", DEVICE_CONTROL]), &["small blocks"]),
    cold("shallow-depth", Lines(FILE_SIZE), Only(&["rust/io_uring@buffer=128KiB,depth=1,direct=1", "rust/io_uring@buffer=128KiB,depth=16,direct=1", DEVICE_CONTROL]), &["shallow depth"]),
    warm("slow-scan", Lines(FILE_SIZE), Only(&["rust/mmap/scalar", "rust/mmap", RESIDENT_CONTROL, COPY_CONTROL]), &["processing"]),
    warm("strings", Lines(FILE_SIZE), Only(&["rust/lines", RESIDENT_CONTROL, COPY_CONTROL]), &["processing"]),
    warm("copy", Lines(FILE_SIZE), Only(&[READ_TRIAL, RESIDENT_CONTROL, COPY_CONTROL]), &["copy"]),
    warm("memory", Lines(FILE_SIZE), Only(&["rust/mmap@threads=all", "rust/resident@threads=all", RESIDENT_CONTROL, COPY_CONTROL]), &["memory"]),
    warm("small-pages", On(Compressed, FILE_SIZE), Only(&["rust/mmap", RESIDENT_CONTROL, COPY_CONTROL, "rust/faults"]), &["faults", "mixed"]),
    cold("compressed", On(Compressed, FILE_SIZE), Only(&[READ_TRIAL]), &["decoding"]),
    cold("compressed-image", On(CompressedImage, FILE_SIZE), Only(&[READ_TRIAL]), &["decoding"]),
    warm("sleep", Lines(SMALL_FILE_SIZE), Only(&["command/sleep 0.2; wc -l {}", RESIDENT_CONTROL, COPY_CONTROL]), &["latency"]),
    // The file system waits for layers below it, which may have a cache.
    cold("slow-fuse", On(Slow, SMALL_FILE_SIZE), Only(&[READ_TRIAL]), &["unknown"]),
    warm("lock", Lines(FILE_SIZE), Only(&["slowed/locked@threads=2", "slowed/locked@threads=1", RESIDENT_CONTROL, COPY_CONTROL]), &["lock"]),
    warm("busy-loops", Lines(FILE_SIZE), Only(&[READ_TRIAL, RESIDENT_CONTROL, COPY_CONTROL]), &["scheduler"]).with_limit(BusyLoops(3)),
    warm("processor-quota", Lines(FILE_SIZE), Only(&[READ_TRIAL, RESIDENT_CONTROL, COPY_CONTROL]), &["processor quota"]).with_limit(Group(ProcessorPercent(25))),
    warm("processor-quota-threads", Lines(FILE_SIZE), Only(&["rust/pread@threads=2", RESIDENT_CONTROL, COPY_CONTROL]), &["processor quota"]).with_limit(Group(ProcessorPercent(20))),
    warm("new-memory", Lines(FILE_SIZE), Only(&["rust/fs-read", READ_TRIAL, RESIDENT_CONTROL, COPY_CONTROL, "rust/faults"]), &["new memory"]),
    warm("new-memory-go", Lines(FILE_SIZE), Only(&["go/os.ReadFile/Count", "go/os.File.Read/Count", RESIDENT_CONTROL, COPY_CONTROL, "rust/faults"]), &["new memory"]),
    cold("read-ahead", Lines(FILE_SIZE), Only(&["rust/places-mmap", "rust/places-device"]), &["read-ahead"]).with_options(MAPPED_PLACES_OPTIONS),
    cold("short-read-ahead", On(ShortReadAhead, SMALL_FILE_SIZE), Only(&["rust/mmap", DEVICE_CONTROL]), &["short read-ahead"]),
    warm("zip", Zip(SMALL_FILE_SIZE), Only(&["rust/zip", "rust/decoder", RESIDENT_CONTROL, COPY_CONTROL]), &["decoding"]),
    cold("places-one-in-flight", Lines(LARGE_FILE_SIZE), WithControls(&["rust/places-direct@threads=1", "rust/places-io_uring@depth=64,direct=1"]), &["shallow depth"]).with_options(PLACES_OPTIONS),
    cold("places-io-quota", Lines(LARGE_FILE_SIZE), WithControls(&["rust/places-io_uring@depth=16,direct=1"]), &["I/O quota"]).with_limit(Group(DeviceReads(5_000))).with_options(PLACES_OPTIONS),
    warm("places-slow-scan", Lines(LARGE_FILE_SIZE), WithControls(&["rust/places-pread/scalar@threads=1"]), &["processing"]).with_options(SUMMED_PLACES_OPTIONS),
    warm("places-copy", Lines(LARGE_FILE_SIZE), WithControls(&["rust/places-pread@threads=1"]), &["copy"]).with_options(MANY_PLACES_OPTIONS),
    cold("pressed-bound", Lines(FILE_SIZE), Only(&[READ_TRIAL, DEVICE_CONTROL]), &["memory bound"]).asked(Question::StopsAtUnderBound, &["--runs", "7", "--memory", "50%"]),
    cold("pressed-thrash", Lines(LARGE_FILE_SIZE), Only(&["rust/places-mmap", "rust/places-device"]), &["thrash"]).asked(Question::StopsAtUnderBound, PRESSED_PLACES_OPTIONS),
    // The page faults of the case before, on a device that does not wait. The kernel evicts as many
    // pages as it brings, and examines mapped ones twice.
    cold("pressed-reclaim", NewlinesInMemory(LARGE_FILE_SIZE), Only(&["rust/places-mmap"]), &["reclaim"]).asked(Question::StopsAtUnderBound, PRESSED_PLACES_OPTIONS),
    warm("pressed-enough", Lines(FILE_SIZE), Only(&[READ_TRIAL, RESIDENT_CONTROL, COPY_CONTROL]), &["copy"]).asked(Question::StopsAtUnderBound, &["--runs", "7", "--fills", "7", "--memory", "200%"]),
    warm("files-metadata", Tree(Files { count: 20_000, bytes: 40 }), WithControls(&[READ_FILES_TRIAL]), &["metadata"]).with_options(TREE_OPTIONS),
    cold("files-late-device", LateTree(Files { count: 1_000, bytes: 4 << 10 }), WithControls(&[READ_FILES_TRIAL, "rust/files-io_uring/memchr", "rust/files-threads/memchr@threads=16"]), &["shallow depth"]).with_options(TREE_OPTIONS),
    // Below the device is a file system in user space, whose cache is not known.
    cold("read-ahead-late-device", LateFile(16 << 20), Only(&[READ_TRIAL]), &["too little in flight"]).with_options(READ_AHEAD_OPTIONS),
    warm("files-slow-scan", Tree(Files { count: 200, bytes: 1 << 20 }), WithControls(&["rust/read/scalar@buffer=64KiB"]), &["processing"]).with_options(TREE_OPTIONS),
    url("url-first-byte", Url(LATE_ANSWER, TINY_FILE_SIZE), &["first byte"]),
    url("url-one-connection", Url(PACED_SERVER, TINY_FILE_SIZE), &["one connection"]),
    // No driver knows the rate of this link. A server that gives all connections together this rate
    // looks the same from here.
    url("url-link", Url(FULL_SPEED, TINY_FILE_SIZE), &["server or network"]).with_limit(Link(LINK_RATE)),
    // A client with a part of a processor reads this file for many periods of its quota.
    url("url-processor-quota", Https(SMALL_FILE_SIZE), &["processor quota", "processors"]).with_limit(Group(ProcessorPercent(25))),
    Case { trials: WithControls(&[CURL_TRIAL, HTTP_TRIAL, RANGES_TRIAL]), ..url("url-processor-quota-command", Https(SMALL_FILE_SIZE), &["processor quota", "processors"]).with_limit(Group(ProcessorPercent(25))) },
    // The file is so long that the bytes which the throttle grants after a pause do not matter.
    cold("readers-device", Lines(SMALL_FILE_SIZE), WithControls(&[DIRECT_TRIAL]), &["what they share"]).with_limit(Group(DeviceBytes(100_000_000))).asked(Question::Scaling, READERS_OPTIONS),
    Case { trials: WithControls(&["rust/http/memchr"]), ..url("readers-connections", Url(PACED_SERVER, TINY_FILE_SIZE), &["something of each"]).asked(Question::Scaling, READERS_OPTIONS) },
    warm("readers-processor", Lines(FILE_SIZE), READ_ALL_TRIALS, &["processors"]).with_limit(Group(Processor(0))).asked(Question::Scaling, READERS_OPTIONS),
    cold("hosts-shared-link", Hosts(2, SHARED_LINK, TINY_FILE_SIZE), READ_ALL_TRIALS, &["what they share"]).asked(Question::Scaling, FLEET_SCALE_OPTIONS),
    cold("hosts-each-link", Hosts(2, EACH_LINK, TINY_FILE_SIZE), READ_ALL_TRIALS, &["something of each"]).asked(Question::Scaling, FLEET_SCALE_OPTIONS),
    warm("hosts-processors", Hosts(2, HostLimit::Processors, FILE_SIZE), READ_ALL_TRIALS, &["processors"]).asked(Question::Scaling, FLEET_SCALE_OPTIONS),
    cold("hosts-one-slow", Hosts(4, HostLimit::OneLink(2, "160mbit"), TINY_FILE_SIZE), READ_ALL_TRIALS, &["host 2 alone"]).asked(Question::SlowHosts, FLEET_RACE_OPTIONS),
    cold("hosts-equal", Hosts(4, HostLimit::None, TINY_FILE_SIZE), READ_ALL_TRIALS, &["none"]).asked(Question::SlowHosts, FLEET_RACE_OPTIONS),
    warm("large-file", Newlines(Bytes((1 << 32) + 1)), FAST_LOOPS, &["right"]).asked(Question::Answers, SINGLE_RUN_OPTIONS),
];
