//! URLs and objects: true answers from correct servers, including checks of what the servers
//! received, and failures with a reason from servers that misbehave.
//!
//! The servers run in this process ([`listening`]), and speak HTTP/1.1. Each check has its own page
//! on a server; the content of the page may change between turns.

mod answers;
mod conduct;
mod listening;
mod pages;
mod reading;

pub(super) use listening::Servers;

use super::check::{Check, ONE_READING, ReadWords, is_control, work_scans};
use super::places::{RangeCase, range_cases};
use super::settings::{self, DataAmount};
use super::stage::{Case, Stage};
use answers::Misbehaviour;
use listening::ServerKind;
use pages::{Access, credentials};
use reading::{EtagChoice, ServerReadSpec, TrustChoice};
use readlab_protocol::places::RANGES_VARIABLE;
use readlab_protocol::{MethodLine, Part, Reads, TurnRequest};
use std::sync::Arc;

/// Files with sizes around those of parts and buffers.
const CONTENT_FILES: [&str; 8] = [
    "empty",
    "one-byte",
    "no-final-newline",
    "65535-bytes",
    "65536-bytes",
    "65537-bytes",
    "65537-other-bytes",
    "utf-8",
];

/// The file that misbehaving servers have: more than two parts of the smallest size.
const SEVERAL_PARTS_FILE: &str = "lines-of-many-lengths";

/// A size of parts that divides the files into several parts.
const SMALL_PART_BYTES: u64 = 65_536;

/// A key that contains all characters with a special meaning in URLs, signatures or text.
const AWKWARD_KEY: &str = "folder/a b+c %41 \"d\" ä€&=;@:,?x=y#z.txt";

/// Parts of parameter names by which methods that request ranges are recognised.
const RANGE_PARAMETERS: [&str; 5] = ["part_", "block_", "chunk_", "range", "concurrency"];

/// Misbehaviours that are tested with every method.
const MISBEHAVIOURS_FOR_ALL: [Misbehaviour; 7] = [
    Misbehaviour::NotFound,
    Misbehaviour::CutShort,
    Misbehaviour::Encoded,
    Misbehaviour::OtherVersion,
    Misbehaviour::OtherRange,
    Misbehaviour::ShorterRange,
    Misbehaviour::BytesAfterEnd,
];

/// Misbehaviours that are tested with one method of each client, because the methods of a client
/// share the code that reacts to them.
const MISBEHAVIOURS_FOR_FIRST_OF_CLIENT: [Misbehaviour; 9] = [
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

/// Misbehaviours that only affect range requests.
const MISBEHAVIOURS_FOR_RANGES: [Misbehaviour; 5] = [
    Misbehaviour::ChangedVersion,
    Misbehaviour::Whole,
    Misbehaviour::WrongContentRange,
    Misbehaviour::ShorterPart,
    Misbehaviour::LongerPart,
];

/// Misbehaviours that are tested with methods that read the ranges of a list.
const MISBEHAVIOURS_FOR_LISTED_RANGES: [Misbehaviour; 6] = [
    Misbehaviour::NotFound,
    Misbehaviour::Redirect,
    Misbehaviour::CutShort,
    Misbehaviour::Encoded,
    Misbehaviour::OtherVersion,
    Misbehaviour::Whole,
];

const TWO_READINGS: TurnRequest = TurnRequest { lead: 0, count: 2 };

/// True if a method reads from servers and proves what it reads.
pub(super) fn reads_from_servers(method: &MethodLine) -> bool {
    matches!(method.reads, Reads::Url | Reads::Object) && !is_control(method)
}

/// What of the method is not tested, and why; `None` if everything is tested.
pub(super) fn why_left_out(method: &MethodLine) -> Option<String> {
    let speaks_2 = method.params.iter().any(|param| param.name == "http" && param.max >= 2);
    (reads_from_servers(method) && speaks_2)
        .then(|| "HTTP/2, which the servers of this test do not speak".to_owned())
}

/// The words of a session with a valid target, for checks that need any such session; `None` if the
/// method does not read from servers, or the target cannot be prepared.
pub(super) fn valid_words(stage: &Stage, method: &MethodLine) -> Option<ReadWords> {
    let reading = first_reading(stage, method)?.with_key("any", "a file");
    if method.ranges {
        let RangeCase { list, case } = range_cases(stage).ok()?.into_iter().next()?;
        return ServerReadSpec { range_list_path: Some(list), ..reading }.words(stage, &case).ok();
    }
    reading.words(stage, stage.file(SEVERAL_PARTS_FILE)).ok()
}

/// A reading for the first work and scan of a method that reads from servers.
fn first_reading<'s>(stage: &'s Stage, method: &MethodLine) -> Option<ServerReadSpec<'s>> {
    let visit = work_scans(method).into_iter().next().filter(|_| reads_from_servers(method))?;
    Some(ServerReadSpec::new(stage.servers.as_ref()?, method, &visit))
}

pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> Vec<Check<'s>> {
    let Some(first) = first_reading(stage, method) else { return Vec::new() };
    if param(method, "http").is_some_and(|param| param.min >= 2) {
        return vec![missing_encryption_check(first)];
    }
    let mut checks = Vec::new();
    for visit in work_scans(method) {
        let key = format!("{} by {}", visit.work, visit.scan);
        // Only the first scan reads the large file of 4 MiB, because in some languages the others
        // would take seconds.
        let large = (visit == first.work_scan).then_some(&stage.large_text);
        let reading = first.clone().for_work_scan(visit).with_kept_connections(1).with_key(&key, "");
        checks.push(right_answers_check(
            reading,
            content_cases(stage, method).chain(large).collect(),
            TWO_READINGS,
        ));
    }
    let small = first.clone().set("part_bytes", SMALL_PART_BYTES);
    checks.extend(connection_checks(stage, &small));
    checks.extend(setting_checks(stage, method, &small));
    let is_object = method.reads == Reads::Object;
    let any = stage.file("65537-bytes");
    checks.push(right_answers_check(
        first.clone().with_key(AWKWARD_KEY, "a name that needs care"),
        vec![any],
        ONE_READING,
    ));
    let without_secrets = ServerReadSpec {
        access: Access::Everybody,
        etag: EtagChoice::Unset,
        credentials: None,
        ..first.clone()
    };
    let what = if is_object { "a public object" } else { "a URL without a secret, and without ETag" };
    checks.push(right_answers_check(without_secrets.with_key("public", what), vec![any], ONE_READING));
    checks.extend(misbehaviour_checks(stage, &small));
    checks.extend(encryption_checks(stage, &first, &small));
    checks
}

/// Checks of parts of a page: the answer and the requests must be about the part alone.
pub(super) fn part_checks<'s>(
    stage: &'s Stage,
    method: &MethodLine,
    parts: Vec<(Part, Arc<Case>)>,
) -> Vec<Check<'s>> {
    // The servers speak no HTTP/2.
    let needs_2 = param(method, "http").is_some_and(|param| param.min >= 2);
    let Some(first) = first_reading(stage, method).filter(|_| !needs_2) else { return Vec::new() };
    let check = |(part, case): (Part, Arc<Case>)| {
        let key = format!("part-{}-{}", part.start_bytes, part.length_bytes);
        let reading = first.clone().set("part_bytes", SMALL_PART_BYTES).with_key(&key, "a part");
        Check::new(move |stage| reading.check_part(stage, &case, part))
    };
    parts.into_iter().map(check).collect()
}

/// Checks of a method that reads the ranges of a list: each list and each work and scan at least once,
/// every setting, a session without a list, and servers that misbehave.
pub(super) fn range_checks<'s>(stage: &'s Stage, method: &MethodLine, cases: &[RangeCase]) -> Vec<Check<'s>> {
    let work_scans = work_scans(method);
    let (Some(first), Some(several)) = (first_reading(stage, method), cases.first()) else {
        return Vec::new();
    };
    let reading_of = |listed: &RangeCase, key: &str, what: &str| {
        ServerReadSpec { range_list_path: Some(listed.list.clone()), ..first.clone() }.with_key(key, what)
    };
    let listed_check = |reading: ServerReadSpec<'s>, case: Arc<Case>| {
        Check::new(move |stage| reading.check_right_answers(stage, &[&*case], TWO_READINGS))
    };
    let mut checks = Vec::new();
    for number in 0..work_scans.len().max(cases.len()) {
        let (visit, listed) = (&work_scans[number % work_scans.len()], &cases[number % cases.len()]);
        let key = format!("ranges {number}, {} by {}", visit.work, visit.scan);
        let reading = reading_of(listed, &key, "ranges").for_work_scan(visit.clone());
        checks.push(listed_check(reading, Arc::clone(&listed.case)));
    }
    for setting in settings::settings_for(method, DataAmount::Kilobytes) {
        let reading = reading_of(several, &setting, "ranges").with_setting(&setting);
        checks.push(listed_check(reading, Arc::clone(&several.case)).or_settings_refused(vec![setting]));
    }
    let without_list = ServerReadSpec { range_list_path: None, ..reading_of(several, "no list", "ranges") };
    if let Ok(words) = without_list.words(stage, &several.case) {
        checks.push(Check::must_fail(words, "ranges, without their list", RANGES_VARIABLE));
    }
    let misbehaving = MISBEHAVIOURS_FOR_LISTED_RANGES.iter().map(|&how| {
        let reading = reading_of(several, &format!("{how:?}"), how.words());
        let (reading, case) =
            (ServerReadSpec { misbehaviour: Some(how), ..reading }, Arc::clone(&several.case));
        Check::new(move |stage| reading.check_misbehaving_server(stage, how, &case))
    });
    checks.extend(misbehaving);
    checks
}

/// The check of a method that requires encryption because it uses HTTP/2: it must fail without it.
fn missing_encryption_check(reading: ServerReadSpec) -> Check {
    let reading =
        ServerReadSpec { may_be_unavailable: true, ..reading.with_key("plain", "a URL without encryption") };
    failing_check(reading, SEVERAL_PARTS_FILE)
}

fn right_answers_check<'s>(
    reading: ServerReadSpec<'s>,
    cases: Vec<&'s Case>,
    request: TurnRequest,
) -> Check<'s> {
    Check::new(move |stage| reading.check_right_answers(stage, &cases, request))
}

fn failing_check<'s>(reading: ServerReadSpec<'s>, case: &'static str) -> Check<'s> {
    Check::new(move |stage| reading.check_failing(stage, stage.file(case)))
}

fn param<'m>(method: &'m MethodLine, name: &str) -> Option<&'m readlab_protocol::ParamLine> {
    method.params.iter().find(|param| param.name == name)
}

/// The files that are read one after another; bytes of every value only for methods that visit
/// bytes.
fn content_cases<'s>(stage: &'s Stage, method: &MethodLine) -> impl Iterator<Item = &'s Case> {
    let visits_bytes = method.scans.contains_key("sum");
    let bytes = visits_bytes.then(|| stage.file("every-byte"));
    let text = CONTENT_FILES.iter().map(|name| stage.file(name));
    text.chain(bytes)
}

fn connection_checks<'s>(stage: &'s Stage, small: &ServerReadSpec<'s>) -> Vec<Check<'s>> {
    let choices = if param(&small.method, "kept").is_some() { 0..2 } else { 0..1 };
    let three_times = vec![&stage.large_text; 3];
    let check = |kept: u64| {
        let key = format!("connections {kept}");
        let reading = small
            .clone()
            .set("concurrency", 1)
            .with_kept_connections(kept)
            .with_key(&key, "4 MiB three times");
        right_answers_check(reading, three_times.clone(), ONE_READING)
    };
    choices.map(check).collect()
}

/// Checks of every setting that changes how the bytes are divided.
fn setting_checks<'s>(stage: &'s Stage, method: &MethodLine, small: &ServerReadSpec<'s>) -> Vec<Check<'s>> {
    let is_own = |setting: &String| !setting.starts_with("http=") && !setting.starts_with("kept=");
    let with = |setting: String| {
        let divides = ["part_bytes=", "concurrency="].iter().any(|name| setting.starts_with(name));
        // A buffer may be as small as one byte.
        let cases: Vec<&Case> = match divides {
            true => content_cases(stage, method).chain([&stage.large_text]).collect(),
            false => settings::SETTING_CASES.iter().map(|name| stage.file(name)).collect(),
        };
        let reading = small.clone().with_kept_connections(1).with_setting(&setting).with_key(&setting, "");
        right_answers_check(reading, cases, TWO_READINGS).or_settings_refused(vec![setting])
    };
    settings::settings_for(method, DataAmount::Kilobytes).into_iter().filter(is_own).map(with).collect()
}

fn misbehaviour_checks<'s>(stage: &'s Stage, small: &ServerReadSpec<'s>) -> Vec<Check<'s>> {
    let method = &small.method;
    let is_first = is_first_method_of_client(stage, method);
    let is_ranged =
        method.params.iter().any(|param| RANGE_PARAMETERS.iter().any(|word| param.name.contains(word)));
    let chosen =
        MISBEHAVIOURS_FOR_ALL.iter().chain(MISBEHAVIOURS_FOR_FIRST_OF_CLIENT.iter().filter(|_| is_first));
    let chosen = chosen.chain(MISBEHAVIOURS_FOR_RANGES.iter().filter(|_| is_ranged));
    let misbehaving = |&how: &Misbehaviour| {
        let reading = small.clone().with_key(&format!("{how:?}"), how.words());
        let reading = ServerReadSpec { misbehaviour: Some(how), ..reading };
        Check::new(move |stage| reading.check_misbehaving_server(stage, how, stage.file(SEVERAL_PARTS_FILE)))
    };
    let mut checks: Vec<Check> = chosen.map(misbehaving).collect();
    let refused = |key: &str, what: &str, change: &dyn Fn(&mut ServerReadSpec<'s>)| {
        let mut reading = small.clone().with_key(key, what);
        change(&mut reading);
        failing_check(reading, SEVERAL_PARTS_FILE)
    };
    checks.push(refused("other etag", "another ETag than the server's", &|it| it.etag = EtagChoice::Other));
    if is_first {
        checks
            .push(refused("nowhere", "a server that does not listen", &|it| it.server = ServerKind::Nowhere));
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

/// Checks with servers that have valid and invalid certificates.
fn encryption_checks<'s>(
    stage: &'s Stage,
    first: &ServerReadSpec<'s>,
    small: &ServerReadSpec<'s>,
) -> Vec<Check<'s>> {
    let method = &first.method;
    if method.reads != Reads::Object && !method.tls {
        return Vec::new();
    }
    let at = |reading: &ServerReadSpec<'s>, key: &str, what: &str, server: ServerKind, trust: TrustChoice| {
        ServerReadSpec { server, trust, may_be_unavailable: true, ..reading.clone().with_key(key, what) }
    };
    let by_authority = |key: &str, kept| {
        let reading =
            at(small, key, "a server with encryption", ServerKind::Encrypted, TrustChoice::Authority);
        right_answers_check(
            reading.with_kept_connections(kept),
            vec![stage.file("65537-bytes"), &stage.large_text],
            ONE_READING,
        )
    };
    let mut checks = vec![by_authority("encrypted", 0), by_authority("encrypted, kept", 1)];
    if is_first_method_of_client(stage, method) {
        let mut refused = |what: &str, server, trust| {
            checks.push(failing_check(at(first, what, what, server, trust), SEVERAL_PARTS_FILE));
        };
        refused("a certificate of an unknown authority", ServerKind::Encrypted, TrustChoice::System);
        refused("an absent file of authorities", ServerKind::Encrypted, TrustChoice::AbsentFile);
        refused("a certificate that has expired", ServerKind::Expired, TrustChoice::Authority);
        refused("a certificate of another host", ServerKind::OtherHost, TrustChoice::Authority);
    }
    checks
}

/// True for the first method of a client. Only this method is used to test code that all methods of
/// the client share. The client is the method's name up to its first dot or dash:
/// `boto3.get_object` and `boto3.ranged` are methods of `boto3`.
fn is_first_method_of_client(stage: &Stage, method: &MethodLine) -> bool {
    let client = |method: &MethodLine| method.method.split(['.', '-']).next().map(str::to_owned);
    let is_same = |other: &&MethodLine| {
        reads_from_servers(other) && other.unavailable.is_none() && client(other) == client(method)
    };
    stage.contender.methods.iter().find(is_same).is_none_or(|first| first.method == method.method)
}
