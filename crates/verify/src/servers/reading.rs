//! A session that reads a page of a server.

use super::super::check::{CheckResult, ONE_READING, ReadWords, Reason, WorkScan, start_ready};
use super::super::files::is_text;
use super::super::stage::{Case, Stage};
use super::super::{failure_reason, missing_failure_message};
use super::answers::Misbehaviour;
use super::conduct::{ConnectionHistory, ExpectedRequests, conduct_fault, part_fault, wait_until_closed};
use super::listening::{ServerKind, Servers};
use super::pages::{Access, BUCKET, LoggedRequest, Page, REGION, SECRET_QUERY, credentials, secrets};
use readlab_model::target::BucketStyle;
use readlab_protocol::places::RANGES_VARIABLE;
use readlab_protocol::remote::{self, CACERT_VARIABLE, ETAG_VARIABLE};
use readlab_protocol::{MethodLine, Part, Reads, SampleLine, TurnRequest};
use readlab_report::verification::Fault;
use readlab_roster::session::{Session, SessionError, Turn};
use readlab_targets::target::s3::signature::encoded_path;
use readlab_targets::target::s3::store::VARIABLES_REMOVED;
use readlab_targets::target::s3::{Credentials, ObjectName, Store};
use readlab_targets::target::source::{Source, StoredObject};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A version that no page has.
const UNKNOWN_ETAG: &str = "\"another-1\"";

/// Environment variables that configure a proxy. They name a server of the verification, which
/// records requests to a proxy.
const PROXY_VARIABLES: [&str; 5] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// Environment variables of the user that would change what a session does.
const REMOVED_VARIABLES: [&str; 8] = [
    "no_proxy",
    "NO_PROXY",
    "AWS_CA_BUNDLE",
    remote::TARGET_VARIABLE,
    ETAG_VARIABLE,
    CACERT_VARIABLE,
    RANGES_VARIABLE,
    remote::STYLE_VARIABLE,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EtagChoice {
    OfPage,
    Other,
    Unset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrustChoice {
    System,
    Authority,
    AbsentFile,
}

#[derive(Clone)]
pub(super) struct ServerReadSpec<'s> {
    pub servers: &'s Servers,
    pub method: MethodLine,
    pub work_scan: WorkScan,
    pub settings: Vec<(String, u64)>,
    /// The list of the ranges that are read; `None` if the whole page is read.
    pub range_list_path: Option<PathBuf>,
    /// The key of the page, after the method's name.
    pub key: String,
    /// Description for reports.
    pub description: String,
    pub access: Access,
    pub misbehaviour: Option<Misbehaviour>,
    pub server: ServerKind,
    pub etag: EtagChoice,
    pub trust: TrustChoice,
    pub credentials: Option<Credentials>,
    /// True if the contender may report that it cannot read this target.
    pub may_be_unavailable: bool,
}

/// A reading with its page and the words of its session.
struct PreparedServerRead<'r> {
    spec: &'r ServerReadSpec<'r>,
    page: Arc<Page>,
    words: ReadWords,
    /// The name of the target that messages must contain.
    shown_target: String,
}

impl<'s> ServerReadSpec<'s> {
    pub(super) fn new(servers: &'s Servers, method: &MethodLine, visit: &WorkScan) -> ServerReadSpec<'s> {
        let is_object = method.reads == Reads::Object;
        let reading = ServerReadSpec {
            servers,
            method: method.clone(),
            work_scan: visit.clone(),
            settings: Vec::new(),
            range_list_path: None,
            key: String::new(),
            description: String::new(),
            access: if is_object { Access::Signature } else { Access::Query },
            misbehaviour: None,
            server: ServerKind::Plain,
            etag: EtagChoice::OfPage,
            trust: TrustChoice::System,
            credentials: is_object.then(credentials),
            may_be_unavailable: false,
        };
        reading.set("http", 1)
    }

    pub(super) fn for_work_scan(self, visit: WorkScan) -> ServerReadSpec<'s> {
        ServerReadSpec { work_scan: visit, ..self }
    }

    /// Sets the key of the page, which follows the method's name, and the description `what`, which
    /// reports put before the name of the content; an empty description is left out.
    pub(super) fn with_key(self, key: &str, what: &str) -> ServerReadSpec<'s> {
        ServerReadSpec { key: format!("{}/{key}", self.method.method), description: what.to_owned(), ..self }
    }

    /// Sets a parameter to this value, or to the nearest permitted one, if the method has the
    /// parameter.
    pub(super) fn set(mut self, name: &str, value: u64) -> ServerReadSpec<'s> {
        if let Some(param) = super::param(&self.method, name) {
            self.settings.retain(|(known, _)| known != name);
            self.settings.push((name.to_owned(), value.clamp(param.min, param.max)));
        }
        self
    }

    /// Sets the parameter that a setting `name=value` names.
    pub(super) fn with_setting(self, setting: &str) -> ServerReadSpec<'s> {
        let (name, value) = setting.split_once('=').expect("a setting is a name and a value");
        self.set(name, value.parse().expect("it was a number"))
    }

    pub(super) fn with_kept_connections(self, kept: u64) -> ServerReadSpec<'s> {
        self.set("kept", kept)
    }

    pub(super) fn words(&self, stage: &Stage, case: &Case) -> io::Result<ReadWords> {
        self.prepare(stage, case).map(|prepared| prepared.words)
    }

    fn source(&self) -> io::Result<Source> {
        let origin = self.servers.origin(self.server);
        if self.method.reads == Reads::Object {
            let store = Store {
                endpoint: origin.parse().map_err(io::Error::other)?,
                region: REGION.to_owned(),
                style: BucketStyle::Path,
                credentials: self.credentials.clone(),
            };
            let name = ObjectName::new(BUCKET, &self.key).map_err(io::Error::other)?;
            return Ok(Source::Object(Box::new(StoredObject { store, name })));
        }
        let query = if self.access == Access::Query { format!("?{SECRET_QUERY}") } else { String::new() };
        let url = format!("{origin}/{BUCKET}/{}{query}", encoded_path(self.key.as_bytes()));
        Ok(Source::Url(url.parse().map_err(io::Error::other)?))
    }

    fn prepare(&self, stage: &Stage, case: &Case) -> io::Result<PreparedServerRead<'_>> {
        let page = self.servers.pages.add(&self.key, self.access, self.misbehaviour);
        page.put_file(&case.path)?;
        let source = self.source()?;
        let request = source.request(self.method.reads, false).map_err(io::Error::other)?;
        let shown = match &source {
            Source::Url(url) => remote::url_without_query(url.exact_text()).to_owned(),
            Source::Object(object) => object.name.to_string(),
        };
        let mut env = request.env;
        let proxy = OsString::from(self.servers.origin(ServerKind::Plain));
        env.extend(PROXY_VARIABLES.map(|name| (name.into(), proxy.clone())));
        let etag = match self.etag {
            EtagChoice::OfPage => Some(page.etag.as_str()),
            EtagChoice::Other => Some(UNKNOWN_ETAG),
            EtagChoice::Unset => None,
        };
        env.extend(etag.map(|etag| (ETAG_VARIABLE.into(), etag.into())));
        let ranges =
            self.range_list_path.iter().map(|list| (RANGES_VARIABLE.into(), list.clone().into_os_string()));
        env.extend(ranges);
        let authority = &self.servers.ca_certificate;
        let cacert = match self.trust {
            TrustChoice::System => None,
            TrustChoice::Authority => Some(authority.clone()),
            TrustChoice::AbsentFile => Some(authority.with_file_name("absent.pem")),
        };
        env.extend(cacert.map(|file| (CACERT_VARIABLE.into(), file.into())));
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let words = ReadWords {
            env,
            env_removed: VARIABLES_REMOVED.iter().chain(&REMOVED_VARIABLES).map(OsString::from).collect(),
            repeating_command: Some(stage.verify_again_command(&self.method.method)),
            ..ReadWords::new(&self.method, &self.work_scan).with_target(request.word).with_settings(settings)
        };
        Ok(PreparedServerRead { spec: self, page, words, shown_target: shown })
    }

    /// Reads the cases, one in each turn. Each answer must be right, and the requests must be
    /// correct.
    pub(super) fn check_right_answers(
        &self,
        stage: &Stage,
        cases: &[&Case],
        request: TurnRequest,
    ) -> CheckResult {
        let Some(first) = cases.first() else { return Ok(0) };
        let prepared = self.prepare_or_fault(stage, first)?;
        let mut session = match start_ready(stage, &prepared.words) {
            Err(SessionError::Unavailable(reason)) if self.may_be_unavailable => {
                stage.leave_out(&self.method.method, &format!("{}: {reason}", self.description));
                return Ok(0);
            }
            opened => prepared.attempt(stage, &first.name, || Ok(opened?))?,
        };
        let mut connections = ConnectionHistory::default();
        let mut answers = 0;
        for case in cases {
            prepared.attempt(stage, &case.name, || Ok(prepared.page.put_file(&case.path)?))?;
            let turn = prepared.run_turn(&mut session, stage, case, request).and_then(|requests| {
                let keeps = prepared.must_keep_connections(case);
                let reason = connections.turn_fault(&requests, request.count, keeps, |used| {
                    self.servers.pages.open_connection_count(used)
                });
                let reason = reason.or_else(|| {
                    let are_closed =
                        keeps != Some(false) || wait_until_closed(&self.servers.pages, &requests);
                    (!are_closed).then(|| "it keeps a connection open between turns".to_owned())
                });
                reason.map_or(Ok(()), |reason| Err(SessionError::Failed(reason)))
            });
            match turn {
                Err(SessionError::Failed(reason)) if !is_text(case) && reason.contains("UTF-8") => {
                    return Ok(answers);
                }
                turn => prepared.attempt(stage, &case.name, || Ok(turn?))?,
            }
            answers += request.count;
        }
        prepared.attempt(stage, "", || check_end_without_secrets(session, None))?;
        Ok(answers)
    }

    /// Reads a part of a page. The answer must be about the part, and nothing else may be requested.
    pub(super) fn check_part(&self, stage: &Stage, case: &Case, part: Part) -> CheckResult {
        let whole = self.prepare_or_fault(stage, case)?;
        let prepared = PreparedServerRead { words: whole.words.with_settings(part.words()), ..whole };
        prepared.attempt(stage, &case.name, || {
            let mut session = start_ready(stage, &prepared.words)?;
            let turn = session.run_turn(ONE_READING, stage.time_limit)?;
            prepared.words.check_samples(&turn.samples, case)?;
            let requests = prepared.page.requests();
            if let Some(reason) = requests.iter().find_map(|logged| part_fault(logged, part)) {
                return Err(reason.into());
            }
            check_end_without_secrets(session, None)?;
            Ok(turn.samples.len().try_into().unwrap_or(u32::MAX))
        })
    }

    pub(super) fn check_failing(&self, stage: &Stage, case: &Case) -> CheckResult {
        let prepared = self.prepare_or_fault(stage, case)?;
        prepared.attempt(stage, "", || {
            let mut session = stage.start_session(&prepared.words)?;
            let result = prepared.take_one_reading(&mut session, stage);
            if self.may_be_unavailable && matches!(result, Err(SessionError::Unavailable(_))) {
                return Ok(1);
            }
            prepared.check_failure(session, &failure_reason(result)?)
        })
    }

    /// Checks a session with a misbehaving server. The session must fail if a response was wrong.
    pub(super) fn check_misbehaving_server(
        &self,
        stage: &Stage,
        how: Misbehaviour,
        case: &Case,
    ) -> CheckResult {
        let prepared = self.prepare_or_fault(stage, case)?;
        let words = &prepared.words;
        prepared.attempt(stage, "", || {
            let mut session = stage.start_session(words)?;
            let result = prepared.take_one_reading(&mut session, stage);
            let requests = prepared.page.requests();
            if requests.iter().any(|logged| logged.followed_redirect) {
                return Err("it followed a redirect".into());
            }
            let turn = match result {
                Err(SessionError::Failed(reason)) => return prepared.check_failure(session, &reason),
                Err(error) => return Err(missing_failure_message(&error.to_string()).into()),
                Ok(turn) => turn,
            };
            words.check_samples(&turn.samples, case)?;
            let was_wrong = requests.iter().any(|logged| logged.was_answered_wrongly);
            let counts_retry =
                turn.samples.iter().any(|sample| sample.retries.is_some_and(|retries| retries > 0));
            match how {
                // Not every client can see bytes after the promised ones. They must not appear in
                // this answer or the next.
                Misbehaviour::BytesAfterEnd => match session.run_turn(ONE_READING, stage.time_limit) {
                    Err(SessionError::Failed(reason)) => return prepared.check_failure(session, &reason),
                    turn => words.check_samples(&turn?.samples, case)?,
                },
                Misbehaviour::BusyTwice if was_wrong && !counts_retry => {
                    return Err("it repeated a request, and counts no 'retries'".into());
                }
                Misbehaviour::BusyTwice => {}
                _ if was_wrong => return Err(missing_failure_message("it sent a sample").into()),
                _ => {}
            }
            check_end_without_secrets(session, None)?;
            Ok(turn.samples.len().try_into().unwrap_or(u32::MAX))
        })
    }

    fn prepare_or_fault(&self, stage: &Stage, case: &Case) -> Result<PreparedServerRead<'_>, Fault> {
        let fault = |error: io::Error| Fault {
            request: self.description.clone(),
            reason: error.to_string(),
            repeat_command: stage.verify_again_command(&self.method.method),
        };
        self.prepare(stage, case).map_err(fault)
    }
}

impl PreparedServerRead<'_> {
    /// The result of `search`; its error becomes a violation for this content of the page.
    fn attempt<T>(
        &self,
        stage: &Stage,
        content: &str,
        search: impl FnOnce() -> Result<T, Reason>,
    ) -> Result<T, Fault> {
        let ServerReadSpec { description: what, key, .. } = self.spec;
        let of = if content.is_empty() { String::new() } else { format!("{content} at ") };
        self.words.attempt(stage, &format!("{of}{BUCKET}/{key}"), search).map_err(|fault| {
            let request = if what.is_empty() { fault.request } else { format!("{what}: {}", fault.request) };
            Fault { request, ..fault }
        })
    }

    fn take_one_reading(&self, session: &mut Session, stage: &Stage) -> Result<Turn, SessionError> {
        session.wait_until_ready()?;
        session.run_turn(ONE_READING, stage.time_limit)
    }

    /// Runs one turn, whose answers and requests must be right; returns the requests.
    fn run_turn(
        &self,
        session: &mut Session,
        stage: &Stage,
        case: &Case,
        request: TurnRequest,
    ) -> Result<Vec<LoggedRequest>, SessionError> {
        let before = self.page.requests().len();
        let turn = session.run_turn(request, stage.time_limit)?;
        let requests = self.page.requests().split_off(before);
        self.words.check_samples(&turn.samples, case).map_err(SessionError::Failed)?;
        let reason = turn.samples.iter().find_map(why_implausible);
        let reason = reason
            .or_else(|| conduct_fault(&requests, &turn.samples, &self.expected_requests(request, case)));
        reason.map_or(Ok(requests), |reason| Err(SessionError::Failed(reason)))
    }

    fn expected_requests(&self, request: TurnRequest, case: &Case) -> ExpectedRequests<'_> {
        ExpectedRequests {
            etag: (self.spec.etag == EtagChoice::OfPage).then_some(self.page.etag.as_str()),
            may_be_signed: self.spec.credentials.is_some(),
            reading_count: request.count,
            size_bytes: case.truth.answer.bytes.filter(|_| self.spec.range_list_path.is_none()),
        }
    }

    /// True if the protocol requires kept connections, false if it forbids them, `None` if it permits
    /// kept and new ones. It permits both for objects without the parameter `kept`; with several
    /// connections at once, whose number depends on their speed; and for empty content, because a
    /// server answers a request for a range of it with an error, after which a client may close the
    /// connection.
    fn must_keep_connections(&self, case: &Case) -> Option<bool> {
        let ServerReadSpec { settings, method, .. } = self.spec;
        let value = |name: &str| settings.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let is_one_at_once = super::param(method, "concurrency").is_none() || value("concurrency") == Some(1);
        match value("kept") {
            Some(0) => Some(false),
            Some(_) => (is_one_at_once && case.truth.answer.bytes != Some(0)).then_some(true),
            None => (method.reads == Reads::Url).then_some(false),
        }
    }

    /// Checks that the reason of a failure names the target, and that the contender wrote no secret.
    fn check_failure(&self, session: Session, reason: &str) -> Result<u32, Reason> {
        let file = self.spec.trust == TrustChoice::AbsentFile;
        let is_named = reason.contains(&self.shown_target)
            || file && (reason.contains("absent.pem") || reason.contains(CACERT_VARIABLE));
        if !is_named {
            return Err(format!("it failed with {reason:?}, which must have {:?}", self.shown_target).into());
        }
        check_end_without_secrets(session, Some(reason))?;
        Ok(1)
    }
}

/// Ends a session, and checks that it wrote no secret. `failure` is the reason of a session that has
/// failed; `None` if the session must exit with 0.
fn check_end_without_secrets(mut session: Session, failure: Option<&str>) -> Result<(), Reason> {
    let status = session.wait_for_exit()?;
    let written = format!("{} {}", failure.unwrap_or_default(), session.last_error_lines());
    if secrets().iter().any(|secret| written.contains(secret)) {
        return Err(format!("what it wrote has a secret: {:?}", written.trim()).into());
    }
    if failure.is_none() && !status.success() {
        return Err(format!("at the end of its input it ended with {status}").into());
    }
    Ok(())
}

/// Why the times within the window of a sample are impossible; `None` if they are possible.
fn why_implausible(sample: &SampleLine) -> Option<String> {
    let SampleLine { wall_ns, dns_ns, connect_ns, tls_ns, first_byte_ns, .. } = sample;
    let parts = [("dns_ns", dns_ns), ("connect_ns", connect_ns), ("tls_ns", tls_ns)];
    let until_connected: u64 = parts.iter().filter_map(|(_, ns)| **ns).sum();
    let mut all = parts.into_iter().chain([("first_byte_ns", first_byte_ns)]);
    if let Some((name, _)) = all.find(|(_, ns)| **ns == Some(0)) {
        return Some(format!("{name} is 0"));
    }
    if first_byte_ns.is_some_and(|ns| ns > *wall_ns) || until_connected > *wall_ns {
        return Some("a time within its window is longer than the window".to_owned());
    }
    None
}
