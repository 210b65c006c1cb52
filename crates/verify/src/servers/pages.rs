//! The pages of the servers of a verification, and the requests for each page.

use super::super::locked;
use super::answers::{ConnectionFate, Misbehaviour, Reply, Resource, error_reply, right_reply};
use jiff::Timestamp;
use readlab_roster::server::HttpStatus;
use readlab_roster::server::request::Request;
use readlab_targets::target::s3::signature::percent_decoded;
use readlab_targets::target::s3::verification::ReceivedRequest;
use readlab_targets::target::s3::{Credentials, Secret};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The bucket of all objects, which is the first part of the path in URLs.
pub(super) const BUCKET: &str = "readlab";

/// The region of all objects. It differs from the default region of libraries, so that a client
/// that ignores the configured region is noticed.
pub(super) const REGION: &str = "test-region-1";

pub(super) const SECRET_QUERY: &str = "token=SECRETQUERY0123456789";

/// The first part of the path of redirect targets.
const REDIRECT_FOLDER: &str = "elsewhere";

/// The credentials that sign requests for objects. The secret contains characters that URLs or
/// shells would change.
pub(super) fn credentials() -> Credentials {
    let known = Credentials::new("READLABACCESS0123456", "readlabsecret/0123+456789");
    Credentials { session_token: Some(Secret::new("readlabtoken0123456789")), ..known }
}

/// Texts that no message may contain.
pub(super) fn secrets() -> [String; 4] {
    let Credentials { access_key, secret, session_token, .. } = credentials();
    let token = session_token.map(|token| token.reveal().to_owned()).unwrap_or_default();
    [SECRET_QUERY.to_owned(), access_key, secret.reveal().to_owned(), token]
}

/// Which clients may read a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Everybody,
    /// Clients that send the secret query.
    Query,
    /// Clients that sign their requests.
    Signature,
}

/// All pages, by the keys of their objects.
#[derive(Default)]
pub(super) struct Pages {
    pages: Mutex<BTreeMap<String, Arc<Page>>>,
    connection_count: AtomicU64,
    open_connections: Mutex<BTreeSet<u64>>,
}

/// The content of one URL, and the requests for it.
pub(super) struct Page {
    pub key: String,
    access: Access,
    misbehaviour: Option<Misbehaviour>,
    pub etag: String,
    content: Mutex<Arc<Vec<u8>>>,
    requests: Mutex<Vec<LoggedRequest>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoggedRequest {
    pub connection_number: u64,
    pub is_head: bool,
    pub range: Option<String>,
    pub if_match: Option<String>,
    pub accept_encoding: Option<String>,
    /// True if the request is signed, correctly or not.
    pub is_signed: bool,
    /// True if the request names the whole URL, as requests to a proxy do.
    pub was_sent_to_proxy: bool,
    /// True if the request is for the path to which a redirect leads.
    pub followed_redirect: bool,
    pub refusal: Option<String>,
    /// True if the response was not what the request asked for.
    pub was_answered_wrongly: bool,
}

impl Pages {
    /// Adds a page; no other page may have its key.
    pub(super) fn add(&self, key: &str, access: Access, misbehaviour: Option<Misbehaviour>) -> Arc<Page> {
        let page = Arc::new(Page {
            key: key.to_owned(),
            access,
            misbehaviour,
            etag: format!("\"{:032x}-1\"", xxhash_rust::xxh3::xxh3_128(key.as_bytes())),
            content: Mutex::default(),
            requests: Mutex::default(),
        });
        locked(&self.pages).insert(key.to_owned(), Arc::clone(&page));
        page
    }

    pub(super) fn open_connection(&self) -> u64 {
        let connection = self.connection_count.fetch_add(1, Ordering::Relaxed);
        locked(&self.open_connections).insert(connection);
        connection
    }

    pub(super) fn close_connection(&self, connection: u64) {
        locked(&self.open_connections).remove(&connection);
    }

    /// How many of these connections are open.
    pub(super) fn open_connection_count(&self, connections: &BTreeSet<u64>) -> usize {
        locked(&self.open_connections).intersection(connections).count()
    }

    pub(super) fn reply(&self, connection: u64, request: &Request) -> Reply {
        // A client sends the whole URL to a proxy.
        let after_host =
            request.path.split_once("://").map(|(_, rest)| rest.split_once('/').unwrap_or_default().1);
        let path = percent_decoded(after_host.unwrap_or(&request.path));
        let path = String::from_utf8_lossy(&path).trim_start_matches('/').to_owned();
        let (folder, key) = path.split_once('/').unwrap_or_default();
        let page = [BUCKET, REDIRECT_FOLDER].contains(&folder).then(|| locked(&self.pages).get(key).cloned());
        let Some(page) = page.flatten() else {
            return error_reply(request, HttpStatus::NotFound, "NoSuchKey");
        };
        page.reply(connection, request, folder == REDIRECT_FOLDER, after_host.is_some())
    }
}

impl Page {
    pub(super) fn put_file(&self, file: &Path) -> io::Result<()> {
        *locked(&self.content) = Arc::new(fs::read(file)?);
        Ok(())
    }

    pub(super) fn requests(&self) -> Vec<LoggedRequest> {
        locked(&self.requests).clone()
    }

    fn reply(
        &self,
        connection: u64,
        request: &Request,
        followed_redirect: bool,
        was_sent_to_proxy: bool,
    ) -> Reply {
        let field = |name: &str| request.field(name).map(str::to_owned);
        let refusal = self.refusal(request);
        let mut logged = LoggedRequest {
            connection_number: connection,
            is_head: request.is_head(),
            range: field("range"),
            if_match: field("if-match"),
            accept_encoding: field("accept-encoding"),
            is_signed: request.field("authorization").is_some() || request.query.contains("X-Amz-Signature="),
            was_sent_to_proxy,
            followed_redirect,
            refusal: refusal.clone(),
            was_answered_wrongly: false,
        };
        let content = Arc::clone(&locked(&self.content));
        let elsewhere = format!("/{REDIRECT_FOLDER}/{}?{SECRET_QUERY}", self.key);
        let resource = Resource { content: &content, etag: &self.etag, redirect_path: &elsewhere };
        let mut requests = locked(&self.requests);
        let earlier = requests.iter().filter(|logged| !logged.is_head).count();
        let reply = match (refusal, self.misbehaviour) {
            (Some(_), _) => error_reply(request, HttpStatus::Forbidden, "AccessDenied"),
            (None, Some(misbehaviour)) if !followed_redirect => {
                misbehaviour.reply(request, resource, earlier)
            }
            _ => right_reply(request, resource),
        };
        logged.was_answered_wrongly = reply.is_wrong;
        requests.push(logged);
        Reply { end: if request.has_body() { ConnectionFate::Closes } else { reply.end }, ..reply }
    }

    fn refusal(&self, request: &Request) -> Option<String> {
        let Request { verb, path, query, fields, .. } = request;
        match self.access {
            Access::Everybody => None,
            Access::Query if query == SECRET_QUERY => None,
            Access::Query => Some(format!("the query is {query:?} instead of {SECRET_QUERY:?}")),
            Access::Signature => {
                let received = ReceivedRequest { verb, path, query, fields };
                received.verify(&credentials(), REGION, Timestamp::now()).err().map(|why| why.to_string())
            }
        }
    }
}
