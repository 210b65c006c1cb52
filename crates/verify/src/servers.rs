//! URLs and objects: right answers from servers that are as they should be, by what the servers saw
//! as well, and failures with a reason from servers that misbehave.
//!
//! The servers are a part of this process ([`listening`]), and speak HTTP/1.1. Each check has a
//! page of its own there, whose content may change from turn to turn.

mod answers;
mod conduct;
mod listening;
mod pages;
mod reading;

pub(super) use listening::Servers;

use super::check::{Check, ReadWords, Visit, is_control, visits};
use super::settings::{self, Load};
use super::stage::{Case, Stage};
use answers::Misbehaviour;
use listening::Place;
use pages::{Access, credentials};
use reading::{Etag, Reading, Trust};
use readlab_protocol::{MethodLine, Reads, TurnRequest};

/// Contents whose sizes are around those of parts and buffers.
const CONTENTS: [&str; 8] = [
    "empty",
    "one-byte",
    "no-final-newline",
    "65535-bytes",
    "65536-bytes",
    "65537-bytes",
    "65537-other-bytes",
    "utf-8",
];

/// What is read from servers that misbehave: more than two parts of the smallest size.
const OF_SEVERAL_PARTS: &str = "lines-of-many-lengths";

/// The size of a part with which contents have several.
const SMALL_PART_BYTES: u64 = 65_536;

/// A key with everything in it that a URL, a signature or a text could take for something else.
const AWKWARD_KEY: &str = "folder/a b+c %41 \"d\" ä€&=;@:,?x=y#z.txt";

/// What the words of methods that request ranges have in their parameters' names.
const OF_RANGES: [&str; 5] = ["part_", "block_", "chunk_", "range", "concurrency"];

/// Where every method is tested by itself.
const OF_ALL: [Misbehaviour; 7] = [
    Misbehaviour::NotFound,
    Misbehaviour::CutShort,
    Misbehaviour::Encoded,
    Misbehaviour::OtherVersion,
    Misbehaviour::OtherRange,
    Misbehaviour::ShorterRange,
    Misbehaviour::BytesBehind,
];

/// Where the methods of one client have the same code.
const OF_CLIENTS: [Misbehaviour; 9] = [
    Misbehaviour::Forbidden,
    Misbehaviour::InternalError,
    Misbehaviour::Busy,
    Misbehaviour::BusyTwice,
    Misbehaviour::Redirect,
    Misbehaviour::Reset,
    Misbehaviour::ChunksWithoutEnd,
    Misbehaviour::SilentBeforeHead,
    Misbehaviour::SilentAfterHead,
];

/// What can only go wrong with ranges.
const OF_RANGED: [Misbehaviour; 5] = [
    Misbehaviour::ChangedVersion,
    Misbehaviour::Whole,
    Misbehaviour::WrongContentRange,
    Misbehaviour::ShorterPart,
    Misbehaviour::LongerPart,
];

/// Turns of one reading each, so that it is known what a reading requested.
const SINGLE: TurnRequest = TurnRequest { lead: 0, count: 1 };
const DOUBLE: TurnRequest = TurnRequest { lead: 0, count: 2 };

/// Whether a method reads from servers, and proves what it reads.
pub(super) fn are_for(method: &MethodLine) -> bool {
    matches!(method.reads, Reads::Url | Reads::Object) && !is_control(method)
}

/// Why something of the method is not tested.
pub(super) fn left_out(method: &MethodLine) -> Option<String> {
    let speaks_2 = method.params.iter().any(|param| param.name == "http" && param.max >= 2);
    (are_for(method) && speaks_2).then(|| "HTTP/2, which the servers of this test do not speak".to_owned())
}

/// A request that a method answers, for what is tested with any target.
pub(super) fn plain_words(stage: &Stage, method: &MethodLine) -> Option<ReadWords> {
    let reading = reading(stage, method, visits(method).first()?)?;
    reading.keyed("any", "a file").words(stage, stage.file(OF_SEVERAL_PARTS)).ok()
}

fn reading<'s>(stage: &'s Stage, method: &MethodLine, visit: &Visit) -> Option<Reading<'s>> {
    Some(Reading::new(stage.servers.as_ref()?, method, visit))
}

pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> Vec<Check<'s>> {
    let visits = visits(method);
    let first = visits.first().and_then(|visit| reading(stage, method, visit));
    let Some(first) = first.filter(|_| are_for(method)) else { return Vec::new() };
    if param(method, "http").is_some_and(|param| param.min >= 2) {
        return vec![without_encryption(first)];
    }
    let mut checks = Vec::new();
    for visit in &visits {
        let key = format!("{} by {}", visit.work, visit.scan);
        let reading = first.clone().for_visit(visit.clone()).kept(1).keyed(&key, "");
        // One scan goes through 4 MiB: of some languages the others take seconds for that.
        let large = (*visit == first.visit).then_some(&stage.large);
        checks.push(right(reading, contents(stage, method).chain(large).collect(), DOUBLE));
    }
    let small = first.clone().set("part_bytes", SMALL_PART_BYTES);
    checks.extend(connections(stage, &small));
    checks.extend(with_settings(stage, method, &small));
    let is_object = method.reads == Reads::Object;
    let any = stage.file("65537-bytes");
    checks.push(right(first.clone().keyed(AWKWARD_KEY, "a name that needs care"), vec![any], SINGLE));
    let without_secrets =
        Reading { access: Access::Everybody, etag: Etag::Unset, credentials: None, ..first.clone() };
    let what = if is_object { "a public object" } else { "a URL without a secret, and without ETag" };
    checks.push(right(without_secrets.keyed("public", what), vec![any], SINGLE));
    checks.extend(misbehaving(stage, &small));
    checks.extend(encrypted(stage, &first, &small));
    checks
}

/// A method that needs encryption: by HTTP/2.
fn without_encryption(reading: Reading) -> Check {
    let reading = Reading { may_be_unavailable: true, ..reading.keyed("plain", "a URL without encryption") };
    failing(reading, OF_SEVERAL_PARTS)
}

fn right<'s>(reading: Reading<'s>, cases: Vec<&'s Case>, request: TurnRequest) -> Check<'s> {
    Check::new(move |stage| reading.right(stage, &cases, request))
}

fn failing<'s>(reading: Reading<'s>, case: &'static str) -> Check<'s> {
    Check::new(move |stage| reading.failing(stage, stage.file(case)))
}

fn param<'m>(method: &'m MethodLine, name: &str) -> Option<&'m readlab_protocol::ParamLine> {
    method.params.iter().find(|param| param.name == name)
}

/// What is read one after the other: bytes of every value only by a method that visits bytes.
fn contents<'s>(stage: &'s Stage, method: &MethodLine) -> impl Iterator<Item = &'s Case> {
    let visits_bytes = method.scans.contains_key("sum");
    let bytes = visits_bytes.then(|| stage.file("every-byte"));
    let text = CONTENTS.iter().map(|name| stage.file(name));
    text.chain(bytes)
}

/// Whether connections are kept from reading to reading, or not.
fn connections<'s>(stage: &'s Stage, small: &Reading<'s>) -> Vec<Check<'s>> {
    let choices = if param(&small.method, "kept").is_some() { 0..2 } else { 0..1 };
    let three_times = vec![&stage.large; 3];
    let check = |kept: u64| {
        let key = format!("connections {kept}");
        let reading = small.clone().set("concurrency", 1).kept(kept).keyed(&key, "4 MiB three times");
        right(reading, three_times.clone(), SINGLE)
    };
    choices.map(check).collect()
}

/// Every setting that shares out the bytes in another way.
fn with_settings<'s>(stage: &'s Stage, method: &MethodLine, small: &Reading<'s>) -> Vec<Check<'s>> {
    let is_own = |setting: &String| !setting.starts_with("http=") && !setting.starts_with("kept=");
    let with = |setting: String| {
        let (name, value) = setting.split_once('=').expect("a setting is a name and a value");
        let reading = small.clone().kept(1).set(name, value.parse().expect("it was a number"));
        // A buffer may have one byte.
        let cases: Vec<&Case> = match name {
            "part_bytes" | "concurrency" => contents(stage, method).chain([&stage.large]).collect(),
            _ => settings::CASES.iter().map(|name| stage.file(name)).collect(),
        };
        let reading = reading.keyed(&setting, "");
        right(reading, cases, DOUBLE).or_refused(vec![setting])
    };
    settings::for_load(method, Load::Kilobytes).into_iter().filter(is_own).map(with).collect()
}

/// Servers that misbehave, and requests that are refused.
fn misbehaving<'s>(stage: &'s Stage, small: &Reading<'s>) -> Vec<Check<'s>> {
    let method = &small.method;
    let is_first = is_first_of_its_client(stage, method);
    let is_ranged = method.params.iter().any(|param| OF_RANGES.iter().any(|word| param.name.contains(word)));
    let chosen = OF_ALL.iter().chain(OF_CLIENTS.iter().filter(|_| is_first));
    let chosen = chosen.chain(OF_RANGED.iter().filter(|_| is_ranged));
    let misbehaving = |&how: &Misbehaviour| {
        let reading = small.clone().keyed(&format!("{how:?}"), how.words());
        let reading = Reading { misbehaviour: Some(how), ..reading };
        Check::new(move |stage| reading.at_misbehaving_server(stage, how, stage.file(OF_SEVERAL_PARTS)))
    };
    let mut checks: Vec<Check> = chosen.map(misbehaving).collect();
    let refused = |key: &str, what: &str, change: &dyn Fn(&mut Reading<'s>)| {
        let mut reading = small.clone().keyed(key, what);
        change(&mut reading);
        failing(reading, OF_SEVERAL_PARTS)
    };
    checks.push(refused("other etag", "another ETag than the server's", &|it| it.etag = Etag::Other));
    if is_first {
        checks.push(refused("nowhere", "a server that does not listen", &|it| it.place = Place::Nowhere));
    }
    if is_first && method.reads == Reads::Object {
        let mut wrong = credentials();
        wrong.secret = readlab_targets::target::s3::Secret::new(&format!("{}x", wrong.secret.reveal()));
        checks.push(refused("wrong secret", "a wrong secret", &|it| it.credentials = Some(wrong.clone())));
        checks.push(refused("not signed", "an object that is not public, without credentials", &|it| {
            it.credentials = None;
        }));
    }
    checks
}

/// Servers with certificates, right and wrong ones.
fn encrypted<'s>(stage: &'s Stage, first: &Reading<'s>, small: &Reading<'s>) -> Vec<Check<'s>> {
    let method = &first.method;
    if method.reads != Reads::Object && !method.tls {
        return Vec::new();
    }
    let at = |reading: &Reading<'s>, key: &str, what: &str, place: Place, trust: Trust| Reading {
        place,
        trust,
        may_be_unavailable: true,
        ..reading.clone().keyed(key, what)
    };
    let by_authority = |key: &str, kept| {
        let reading = at(small, key, "a server with encryption", Place::Encrypted, Trust::Authority);
        right(reading.kept(kept), vec![stage.file("65537-bytes"), &stage.large], SINGLE)
    };
    let mut checks = vec![by_authority("encrypted", 0), by_authority("encrypted, kept", 1)];
    if is_first_of_its_client(stage, method) {
        let mut refused = |what: &str, place, trust| {
            checks.push(failing(at(first, what, what, place, trust), OF_SEVERAL_PARTS));
        };
        refused("a certificate of an unknown authority", Place::Encrypted, Trust::System);
        refused("an absent file of authorities", Place::Encrypted, Trust::AbsentFile);
        refused("a certificate that has expired", Place::Expired, Trust::Authority);
        refused("a certificate of another host", Place::OtherHost, Trust::Authority);
    }
    checks
}

/// What methods of one client have in common is tested with the first of them. The client is known
/// by the method's name up to its first dot or dash: `boto3.get_object` and `boto3.ranged`.
fn is_first_of_its_client(stage: &Stage, method: &MethodLine) -> bool {
    let client = |method: &MethodLine| method.method.split(['.', '-']).next().map(str::to_owned);
    let is_same = |other: &&MethodLine| {
        are_for(other) && other.unavailable.is_none() && client(other) == client(method)
    };
    stage.contender().methods.iter().find(is_same).is_none_or(|first| first.method == method.method)
}
