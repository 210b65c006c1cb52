//! Requests that are signed rightly and wrongly.

use super::super::{ObjectName, Store};
use super::*;
use crate::target::http::RequestVerb;
use readlab_model::target::Style;
use std::time::Duration;

const REGION: &str = "us-east-1";

fn credentials() -> Credentials {
    Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn then() -> Timestamp {
    time("2013-05-24T00:00:00Z")
}

/// A request whose parts a test changes.
#[derive(Clone)]
struct Sent {
    verb: &'static str,
    path: String,
    query: String,
    fields: Vec<(String, String)>,
}

impl Sent {
    /// One of the documented examples, signed in its head.
    fn documented(query: &str, range: Option<&str>, signature: &str) -> Sent {
        let mut fields = vec![
            ("host", "examplebucket.s3.amazonaws.com"),
            ("x-amz-content-sha256", EMPTY_PAYLOAD),
            ("x-amz-date", "20130524T000000Z"),
        ];
        fields.extend(range.map(|range| ("range", range)));
        let mut names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders={},Signature={signature}",
            names.join(";")
        );
        fields.push(("authorization", &authorization));
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Sent { verb: "GET", path: "/".to_owned(), query: query.to_owned(), fields }
    }

    /// The documented `GET` of the first ten bytes.
    fn get() -> Sent {
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        Sent { path: "/test.txt".to_owned(), ..Sent::documented("", Some("bytes=0-9"), signature) }
    }

    /// By a URL that is valid for an hour.
    fn presigned() -> Sent {
        let store = Store {
            endpoint: "http://127.0.0.1:9000".parse().unwrap(),
            region: REGION.to_owned(),
            style: Style::Path,
            credentials: Some(credentials()),
        };
        let object = ObjectName::new("bucket", "a b/ü+%.txt").unwrap();
        let url = store.presigned(RequestVerb::Get, &object, Duration::from_secs(3600), then()).unwrap();
        let (path, query) = url.exact_request().split_once('?').unwrap();
        let fields = vec![("host".to_owned(), url.authority().to_owned())];
        Sent { verb: "GET", path: path.to_owned(), query: query.to_owned(), fields }
    }

    fn with(&self, name: &str, value: &str) -> Sent {
        let mut sent = self.clone();
        sent.fields.retain(|(known, _)| known != name);
        sent.fields.push((name.to_owned(), value.to_owned()));
        sent
    }

    fn with_authorization(&self, from: &str, to: &str) -> Sent {
        let (_, text) = self.fields.iter().find(|(name, _)| name == "authorization").unwrap();
        assert!(text.contains(from));
        self.with("authorization", &text.replace(from, to))
    }

    fn with_query(&self, from: &str, to: &str) -> Sent {
        assert!(self.query.contains(from));
        Sent { query: self.query.replace(from, to), ..self.clone() }
    }

    fn judged_at(&self, now: Timestamp) -> Result<(), Refusal> {
        let Sent { verb, path, query, fields } = self;
        ReceivedRequest { verb, path, query, fields }.verify(&credentials(), REGION, now)
    }

    fn judged(&self) -> Result<(), Refusal> {
        self.judged_at(then())
    }
}

#[test]
fn the_documented_examples_are_rightly_signed() {
    assert_eq!(Sent::get().judged(), Ok(()));
    let lifecycle = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543";
    assert_eq!(Sent::documented("lifecycle", None, lifecycle).judged(), Ok(()));
    let list = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
    for query in ["max-keys=2&prefix=J", "prefix=J&max-keys=2", "&prefix=%4A&max-keys=2"] {
        assert_eq!(Sent::documented(query, None, list).judged(), Ok(()), "{query}");
    }
}

#[test]
fn what_was_signed_cannot_be_changed() {
    let get = Sent::get();
    let changed = [
        Sent { verb: "HEAD", ..get.clone() },
        Sent { path: "/test.tx".to_owned(), ..get.clone() },
        Sent { path: "/test.txt/".to_owned(), ..get.clone() },
        Sent { query: "versionId=1".to_owned(), ..get.clone() },
        get.with("host", "other"),
        get.with("range", "bytes=0-10"),
        get.with("x-amz-content-sha256", UNSIGNED_PAYLOAD),
        get.with("x-amz-date", "20130524T000001Z"),
        get.with_authorization("Signature=f", "Signature=e"),
        get.with_authorization("036bdb41", "036bdb"),
        get.with_authorization("036bdb41", ""),
    ];
    for (at, sent) in changed.iter().enumerate() {
        assert_eq!(sent.judged(), Err(Refusal::Mismatch), "{at}");
    }
    assert_eq!(get.with_authorization("EXAMPLE/", "EXAMPLES/").judged(), Err(Refusal::UnknownKey));
    for (part, other) in [
        ("20130524", "20130525"),
        ("us-east-1", "eu-west-1"),
        ("s3", "ec2"),
        ("aws4_request,", "aws3_request,"),
    ] {
        let sent = get.with_authorization(part, other);
        assert!(matches!(sent.judged(), Err(Refusal::Malformed(_))), "{other}");
    }
}

#[test]
fn other_fields_may_be_unsigned_but_not_the_stores_own() {
    let get = Sent::get();
    assert_eq!(get.with("if-match", "\"a\"").with("user-agent", "x").judged(), Ok(()));
    assert_eq!(get.with("x-amz-meta", "x").judged(), Err(Refusal::UnsignedField));
    assert_eq!(get.with_authorization("host;", "").judged(), Err(Refusal::UnsignedField));
    let mut homeless = get.with_authorization("host;", "");
    homeless.fields.retain(|(name, _)| name != "host");
    assert_eq!(homeless.judged(), Err(Refusal::UnsignedField));
    assert!(matches!(get.with_authorization("host;", "host;missing;").judged(), Err(Refusal::Malformed(_))));
}

#[test]
fn spaces_in_a_field_are_no_difference() {
    assert_eq!(Sent::get().with("range", "  bytes=0-9 ").judged(), Ok(()));
}

#[test]
fn a_request_with_a_body_or_without_a_signature_is_refused() {
    let get = Sent::get();
    for verb in ["GET", "PUT"] {
        let parts = SignedParts {
            verb,
            path: "/k",
            query: "",
            fields: vec![
                ("host", "h".to_owned()),
                ("x-amz-content-sha256", "STREAMING".to_owned()),
                ("x-amz-date", "20130524T000000Z".to_owned()),
            ],
            payload: "STREAMING",
        };
        let (moment, _) = Moment::read("20130524T000000Z").unwrap();
        let signature = parts.signature(credentials().secret.reveal(), REGION, &moment);
        let mut sent = Sent::documented("", None, &signature).with("x-amz-content-sha256", "STREAMING");
        (sent.verb, sent.path) = (verb, "/k".to_owned());
        let expected = if verb == "GET" { Err(Refusal::Payload) } else { Ok(()) };
        assert_eq!(sent.with("host", "h").judged(), expected, "{verb}");
    }
    let mut without = get.clone();
    without.fields.retain(|(name, _)| name != "x-amz-content-sha256");
    assert_eq!(without.judged(), Err(Refusal::Payload));
    let plain = |sent: &Sent| Sent { fields: vec![("host".into(), "h".into())], ..sent.clone() };
    assert_eq!(plain(&get).judged(), Err(Refusal::Unsigned));
    for text in
        ["", "AWS key:signature", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=,Signature", "Basic x"]
    {
        assert!(matches!(get.with("authorization", text).judged(), Err(Refusal::Malformed(_))), "{text}");
    }
    let twice = Sent { query: "X-Amz-Signature=00".to_owned(), ..get };
    assert!(matches!(twice.judged(), Err(Refusal::Malformed(_))));
}

#[test]
fn a_head_is_valid_for_a_quarter_of_an_hour_before_and_after() {
    let get = Sent::get();
    for now in ["2013-05-23T23:45:00Z", "2013-05-24T00:15:00Z"] {
        assert_eq!(get.judged_at(time(now)), Ok(()), "{now}");
    }
    for now in ["2013-05-23T23:44:59Z", "2013-05-24T00:15:01Z"] {
        assert_eq!(get.judged_at(time(now)), Err(Refusal::Skewed), "{now}");
    }
    for text in
        ["", "20130524", "2013-05-24T00:00:00Z", "20130524T000000", "20131324T000000Z", "20130524T000000ZZ"]
    {
        assert!(matches!(get.with("x-amz-date", text).judged(), Err(Refusal::Malformed(_))), "{text}");
    }
}

#[test]
fn a_url_is_valid_again_and_again_until_it_expires() {
    let sent = Sent::presigned();
    for now in ["2013-05-23T23:45:00Z", "2013-05-24T00:00:00Z", "2013-05-24T01:00:00Z"] {
        assert_eq!(sent.judged_at(time(now)), Ok(()), "{now}");
    }
    for now in ["2013-05-23T23:44:59Z", "2013-05-24T01:00:01Z"] {
        assert_eq!(sent.judged_at(time(now)), Err(Refusal::Expired), "{now}");
    }
    assert_eq!(sent.with("range", "bytes=0-1").judged(), Ok(()), "a range need not be signed");
}

#[test]
fn a_url_cannot_be_changed() {
    let sent = Sent::presigned();
    for changed in [
        Sent { verb: "HEAD", ..sent.clone() },
        Sent { path: sent.path.replace("%20", "+"), ..sent.clone() },
        sent.with_query("X-Amz-Expires=3600", "X-Amz-Expires=3601"),
        Sent { query: format!("{}&response-content-type=x", sent.query), ..sent.clone() },
        sent.with_query("Signature=", "Signature=0"),
    ] {
        assert_eq!(changed.judged(), Err(Refusal::Mismatch), "{} {}", changed.path, changed.query);
    }
    for (from, to) in [
        ("X-Amz-Expires=3600", "X-Amz-Expires=604801"),
        ("X-Amz-Expires=3600", "X-Amz-Expires=0"),
        ("X-Amz-Expires=3600&", ""),
        ("X-Amz-Date=", "X-Amz-Data="),
        ("HMAC", "ECDSA"),
    ] {
        assert!(matches!(sent.with_query(from, to).judged(), Err(Refusal::Malformed(_))), "{to}");
    }
}

#[test]
fn an_encoding_in_other_letters_is_the_same_path() {
    let sent = Sent::presigned();
    let lower = Sent { path: sent.path.replace("%C3%BC", "%c3%bc").replace("%2B", "+"), ..sent };
    assert_eq!(lower.judged(), Ok(()));
}
