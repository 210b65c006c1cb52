//! URLs and objects on another server as targets: their facts, and whether the content has changed.

use super::http::{Client, HttpError, RequestVerb, Response, Trust, WaitCheck, pause};
use super::places::FilePlaces;
use super::s3::PresignError;
use super::s3::config::is_region;
use super::source::{ReadRequest, Source, secret_url_request};
use super::{Place, Target, TargetError};
use readlab_model::target::{CACHE_UNKNOWN_WORDS, Http, ServerOptions, TargetFacts, TargetKind};
use readlab_protocol::Reads;
use readlab_protocol::remote::{CACERT_VARIABLE, ETAG_VARIABLE};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Environment variables that make curl, OpenSSL and AWS's tools trust the certificates in a file.
const COMMAND_CACERT_VARIABLES: [&str; 3] = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"];

const REDIRECTS_MAX: u32 = 10;

/// The pause before the first repetition of a request that failed. Later pauses double.
const FIRST_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The header fields that distinguish versions of a URL's content; `None` if the server does not
/// send the field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentVersion {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_length: Option<String>,
}

impl ContentVersion {
    /// The `ETag`, if it is strong. Equal strong tags mean equal bytes, so a request can require
    /// this version with `If-Match`.
    pub fn strong_etag(&self) -> Option<&str> {
        let etag = self.etag.as_deref()?;
        let inner = etag.strip_prefix('"')?.strip_suffix('"')?;
        let is_tag = |c: char| !(c == '"' || c.is_whitespace() || c.is_control());
        inner.chars().all(is_tag).then_some(etag)
    }

    fn from_head(response: &Response<'_>) -> ContentVersion {
        let field = |name| response.field(name).map(str::to_owned);
        ContentVersion {
            etag: field("etag"),
            last_modified: field("last-modified"),
            content_length: field("content-length"),
        }
    }

    /// How the content `now` differs from this version; `None` if it does not differ.
    pub fn change(&self, now: &ContentVersion) -> Option<String> {
        let fields = [
            ("ETag", &self.etag, &now.etag),
            ("Last-Modified", &self.last_modified, &now.last_modified),
            ("Content-Length", &self.content_length, &now.content_length),
        ];
        let (name, from, to) = fields.into_iter().find(|(_, from, to)| from != to)?;
        let (from, to) = (from.as_deref().unwrap_or("none"), to.as_deref().unwrap_or("none"));
        Some(format!("changed its {name} from {from} to {to}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteTarget {
    pub source: Source,
    /// The version of the content before measuring; `None` if the server does not answer HEAD.
    pub version: Option<ContentVersion>,
    /// True if the server declares that it answers range requests.
    pub has_range_support: bool,
    /// The ranges that are read; `None` if the whole content is read.
    pub ranges: Option<Arc<FilePlaces>>,
    options: ServerOptions,
    /// True for readlab's own server; all its URLs are secrets.
    is_on_own_server: bool,
    client: Arc<Client>,
}

impl RemoteTarget {
    pub fn new(source: Source, options: &ServerOptions) -> RemoteTarget {
        let client = Arc::new(Client::new(Trust::from(options.ca_certificates_path.clone())));
        RemoteTarget {
            source,
            version: None,
            has_range_support: false,
            ranges: None,
            options: options.clone(),
            is_on_own_server: false,
            client,
        }
    }

    /// The content on readlab's own server.
    pub(super) fn on_own_server(
        source: Source,
        options: &ServerOptions,
    ) -> Result<RemoteTarget, TargetError> {
        let mut remote = RemoteTarget::new(source, options);
        let (version, response) = remote.head(&|| Ok(())).map_err(|cause| remote.target_error(cause))?;
        (remote.version, remote.has_range_support, remote.is_on_own_server) =
            (version, declares_ranges(&response), true);
        Ok(remote)
    }

    fn target_error(&self, cause: HttpError) -> TargetError {
        let name = self.source.to_string();
        if let Some(region) = self.other_region(&cause) {
            return TargetError::OtherRegion { name, region };
        }
        match (cause, &self.source) {
            (HttpError::Redirect { code, to, .. }, Source::Url(url)) => {
                let to = url
                    .resolve(to.exact_url())
                    .map_or_else(|| to.exact_url().to_owned(), |to| to.exact_text().to_owned());
                TargetError::Redirected { name, code, to }
            }
            (cause, _) => TargetError::Web { name, cause },
        }
    }

    /// The region of the object's bucket, if the store names another region than that of the
    /// requests.
    fn other_region(&self, cause: &HttpError) -> Option<String> {
        let Source::Object(object) = &self.source else { return None };
        let region = cause.bucket_region().filter(|region| !region.is_empty() && is_region(region))?;
        (region != object.store.region).then(|| region.to_owned())
    }

    /// The URL to which the server redirects; `None` if it is on another server, or if an object was
    /// requested.
    fn redirect_target(&self, location: &str) -> Option<Source> {
        let Source::Url(url) = &self.source else { return None };
        url.resolve(location).filter(|next| url.shares_server(next)).map(Source::Url)
    }

    /// The response to HEAD, with the version of the content. A server may reject HEAD, or redirect it
    /// to another server, and still send the content. Then a GET is sent, of which only the head is
    /// read, and the version is `None`.
    fn head_or_get<'a>(
        &self,
        check: WaitCheck<'a>,
    ) -> Result<(Option<ContentVersion>, Response<'a>), HttpError> {
        match self.head(check) {
            Err(HttpError::Redirect { to, .. }) if self.redirect_target(to.exact_url()).is_none() => {}
            Err(HttpError::Status { .. }) => {}
            answer => return answer,
        }
        self.ask(RequestVerb::Get, check).map(|response| (None, response))
    }

    fn head<'a>(&self, check: WaitCheck<'a>) -> Result<(Option<ContentVersion>, Response<'a>), HttpError> {
        self.ask(RequestVerb::Head, check)
            .map(|response| (Some(ContentVersion::from_head(&response)), response))
    }

    pub fn ask<'a>(&self, verb: RequestVerb, check: WaitCheck<'a>) -> Result<Response<'a>, HttpError> {
        let url = self.source.url(verb).map_err(HttpError::Presign)?;
        self.client.ask(verb, &url, &[], check)
    }

    /// How the content has changed; `None` if it has not changed, or if the server does not report
    /// versions. A request that fails is repeated for this time, because a server may be overloaded
    /// for a moment.
    pub fn change(&self, retry_time: Duration) -> Result<Option<String>, HttpError> {
        let Some(before) = &self.version else { return Ok(None) };
        let (begun, mut next_pause) = (Instant::now(), FIRST_RETRY_PAUSE);
        loop {
            match self.ask(RequestVerb::Head, &|| Ok(())) {
                Ok(response) => return Ok(before.change(&ContentVersion::from_head(&response))),
                Err(HttpError::Interrupted) => return Err(HttpError::Interrupted),
                Err(error) if begun.elapsed() + next_pause > retry_time => return Err(error),
                Err(_) => pause(next_pause)?,
            }
            next_pause *= 2;
        }
    }

    pub(super) fn request(&self, reads: Reads) -> Result<ReadRequest, PresignError> {
        let mut request = match &self.source {
            // A command gets the URL as an argument. The server rejects other users who see it
            // there.
            Source::Url(url) if self.is_on_own_server && reads != Reads::Both => secret_url_request(url),
            source => source.request(reads, self.options.commands_get_credentials)?,
        };
        let etag = self.version.as_ref().and_then(ContentVersion::strong_etag).map(OsString::from);
        // Contenders may run in another folder.
        let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or(file.clone()).into_os_string();
        let cacert = self.options.ca_certificates_path.as_ref().map(absolute);
        let names: &[&str] =
            if reads == Reads::Both { &COMMAND_CACERT_VARIABLES } else { &[CACERT_VARIABLE] };
        let certificates = names.iter().map(|&name| (name, cacert.clone()));
        let all = certificates.chain([(ETAG_VARIABLE, etag)]);
        request.env.extend(all.filter_map(|(name, value)| Some((name.into(), value?))));
        request.env.extend(self.ranges.iter().map(|ranges| ranges.environment_variable()));
        Ok(request)
    }
}

impl Target {
    /// Collects the facts about a URL or an object, except facts that need a whole read
    /// ([`readlab_corpus`]).
    pub fn examine_remote(
        source: Source,
        options: &ServerOptions,
        check: WaitCheck,
    ) -> Result<Target, TargetError> {
        let named = source.to_string();
        let mut remote = RemoteTarget::new(source, options);
        let mut redirects = 0;
        let (version, response) = loop {
            let cause = match remote.head_or_get(check) {
                Ok(answer) => break answer,
                Err(cause) => cause,
            };
            let next = match &cause {
                HttpError::Redirect { to, .. } => remote.redirect_target(to.exact_url()),
                _ => None,
            };
            match next {
                None => return Err(remote.target_error(cause)),
                Some(_) if redirects == REDIRECTS_MAX => {
                    return Err(TargetError::RedirectLoop { name: named, redirects });
                }
                Some(next) => remote.source = next,
            }
            redirects += 1;
        };
        let redirect = (redirects > 0).then(|| {
            format!("The server redirects {named}: what is read is {}, without that request.", remote.source)
        });
        let software = response.field("server").map(str::to_owned);
        let known = version.clone().unwrap_or_default();
        let http = Http::Foreign { software, etag: known.etag, last_modified: known.last_modified };
        let facts = TargetFacts {
            path: remote.source.to_string(),
            size_bytes: response.field("content-length").and_then(|it| it.parse().ok()).unwrap_or(0),
            cautions: cautions(version.as_ref()).into_iter().chain(redirect).collect(),
            kind: TargetKind::from_server(http, remote.source.store_facts()),
            ..TargetFacts::default()
        };
        let has_ranges = declares_ranges(&response);
        (remote.version, remote.has_range_support) = (version, has_ranges);
        let place = Place::Web(Box::new(remote));
        Ok(Target { place, part: None, copies: None, facts, evictable: Vec::new() })
    }
}

/// True if a server declares in the head that it answers range requests (RFC 9110, 14.3).
fn declares_ranges(response: &Response<'_>) -> bool {
    let accepted = response.field("accept-ranges").unwrap_or_default();
    accepted.split(',').any(|unit| unit.trim().eq_ignore_ascii_case("bytes"))
}

fn cautions(version: Option<&ContentVersion>) -> Vec<String> {
    let mut cautions = vec![format!(
        "The server is not readlab's: {CACHE_UNKNOWN_WORDS}. Every reading includes the server and the network."
    )];
    if version.is_none_or(readlab_model::is_default) {
        let text = "The server sends neither ETag, Last-Modified nor Content-Length to a HEAD: only the answers show a \
                    change of the bytes.";
        cautions.push(text.to_owned());
    }
    cautions
}

#[cfg(test)]
mod tests {
    use super::super::s3::Store;
    use super::super::source::StoredObject;
    use super::*;
    use readlab_model::target::BucketStyle;

    #[test]
    fn a_change_names_the_field_that_changed() {
        let before = ContentVersion { etag: Some("a".into()), ..ContentVersion::default() };
        assert_eq!(before.change(&before.clone()), None);
        let now =
            ContentVersion { etag: Some("b".into()), content_length: Some("1".into()), ..before.clone() };
        assert_eq!(before.change(&now).unwrap(), "changed its ETag from a to b");
        assert_eq!(before.change(&ContentVersion::default()).unwrap(), "changed its ETag from a to none");
    }

    #[test]
    fn only_a_strong_etag_is_used_in_conditional_requests() {
        let strong = |etag: &str| {
            let version = ContentVersion { etag: Some(etag.to_owned()), ..ContentVersion::default() };
            version.strong_etag().map(str::to_owned)
        };
        for etag in ["\"a\"", "\"\"", "\"d41d8cd9-2\"", "\"W/\""] {
            assert_eq!(strong(etag).as_deref(), Some(etag));
        }
        for etag in ["W/\"a\"", "w/\"a\"", "a", "\"", "\"a", "\"a\"b\"", "\"a\", \"b\"", "\"a\rb\"", ""] {
            assert_eq!(strong(etag), None, "{etag}");
        }
        assert_eq!(ContentVersion::default().strong_etag(), None);
    }

    #[test]
    fn a_foreign_server_always_has_a_caution() {
        let version = ContentVersion { etag: Some("a".into()), ..ContentVersion::default() };
        assert!(cautions(Some(&version))[0].contains(CACHE_UNKNOWN_WORDS));
        assert_eq!(cautions(None).len(), 2);
    }

    #[test]
    fn a_bucket_in_another_region_is_refused_with_that_region() {
        let store = Store {
            endpoint: "http://127.0.0.1:9000".parse().unwrap(),
            region: "us-east-1".to_owned(),
            style: BucketStyle::Path,
            credentials: None,
        };
        let object = StoredObject { store, name: "s3://bucket/key".parse().unwrap() };
        let remote = RemoteTarget::new(Source::Object(Box::new(object)), &ServerOptions::default());
        let refusal = |region: &str| {
            let (reason, bucket_region) = ("Moved Permanently".to_owned(), Some(region.to_owned()));
            remote.target_error(HttpError::Status { code: 301, reason, bucket_region }).to_string()
        };
        let named = "s3://bucket/key: the bucket is in eu-west-1: set AWS_REGION=eu-west-1";
        assert_eq!(refusal("eu-west-1"), named);
        for no_help in ["us-east-1", "", "$(reboot)", "a\u{1b}b"] {
            assert_eq!(refusal(no_help), "s3://bucket/key: the server answers 301 Moved Permanently");
        }
    }

    mod ring2 {
        use super::*;
        use std::io::{Read, Write};
        use std::net::{Ipv4Addr, TcpListener};

        /// A target whose server gives each of these answers once, and then refuses connections.
        fn target_with_answers(answers: [&'static str; 2]) -> RemoteTarget {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let url = format!("http://{}/f", listener.local_addr().unwrap());
            std::thread::spawn(move || {
                for answer in answers {
                    let (mut client, _) = listener.accept().unwrap();
                    let _ = client.read(&mut [0; 4096]);
                    let _ = client.write_all(answer.as_bytes());
                }
            });
            let source = Source::Url(url.parse().unwrap());
            let version = ContentVersion { etag: Some("\"a\"".to_owned()), ..ContentVersion::default() };
            RemoteTarget { version: Some(version), ..RemoteTarget::new(source, &ServerOptions::default()) }
        }

        const OVERLOADED: &str = "HTTP/1.1 503 Slow Down\r\n\r\n";

        #[test]
        fn a_server_that_gives_no_version_is_asked_again_and_is_no_change() {
            let retry_time = FIRST_RETRY_PAUSE + FIRST_RETRY_PAUSE / 2;
            let change = |answers| target_with_answers(answers).change(retry_time);
            let same = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\r\n";
            assert_eq!(change([OVERLOADED, same]).unwrap(), None);
            let other = "HTTP/1.1 200 OK\r\nETag: \"b\"\r\n\r\n";
            assert_eq!(change([OVERLOADED, other]).unwrap().unwrap(), "changed its ETag from \"a\" to \"b\"");
            assert!(matches!(change([OVERLOADED; 2]), Err(HttpError::Status { code: 503, .. })));
            let unknown = RemoteTarget { version: None, ..target_with_answers([OVERLOADED; 2]) };
            assert_eq!(unknown.change(Duration::ZERO).unwrap(), None, "nothing is asked");
        }
    }
}
