//! Requests with correct and incorrect signatures.

use super::super::{ObjectName, Store};
use super::*;
use crate::target::http::RequestVerb;
use readlab_model::target::BucketStyle;
use std::time::Duration;

const REGION: &str = "us-east-1";

fn credentials() -> Credentials {
    Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn time_of_aws_example() -> Timestamp {
    time("2013-05-24T00:00:00Z")
}

/// A request whose parts a test changes.
#[derive(Clone)]
struct SentRequest {
    verb: &'static str,
    path: String,
    query: String,
    fields: Vec<(String, String)>,
}

impl SentRequest {
    /// An example of AWS's documentation that is signed in its head.
    fn aws_example(query: &str, range: Option<&str>, signature: &str) -> SentRequest {
        let mut fields = vec![
            ("host", "examplebucket.s3.amazonaws.com"),
            ("x-amz-content-sha256", EMPTY_PAYLOAD_DIGEST),
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
        SentRequest { verb: "GET", path: "/".to_owned(), query: query.to_owned(), fields }
    }

    /// The `GET` of the first ten bytes in AWS's documentation.
    fn aws_get_example() -> SentRequest {
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        SentRequest {
            path: "/test.txt".to_owned(),
            ..SentRequest::aws_example("", Some("bytes=0-9"), signature)
        }
    }

    /// A request with a presigned URL that is valid for an hour.
    fn presigned() -> SentRequest {
        let store = Store {
            endpoint: "http://127.0.0.1:9000".parse().unwrap(),
            region: REGION.to_owned(),
            style: BucketStyle::Path,
            credentials: Some(credentials()),
        };
        let object = ObjectName::new("bucket", "a b/ü+%.txt").unwrap();
        let url = store
            .presigned_url(RequestVerb::Get, &object, Duration::from_secs(3600), time_of_aws_example())
            .unwrap();
        let (path, query) = url.exact_path_and_query().split_once('?').unwrap();
        let fields = vec![("host".to_owned(), url.authority().to_owned())];
        SentRequest { verb: "GET", path: path.to_owned(), query: query.to_owned(), fields }
    }

    fn with_field(&self, name: &str, value: &str) -> SentRequest {
        let mut sent = self.clone();
        sent.fields.retain(|(known, _)| known != name);
        sent.fields.push((name.to_owned(), value.to_owned()));
        sent
    }

    fn with_authorization(&self, from: &str, to: &str) -> SentRequest {
        let (_, text) = self.fields.iter().find(|(name, _)| name == "authorization").unwrap();
        assert!(text.contains(from));
        self.with_field("authorization", &text.replace(from, to))
    }

    fn with_query(&self, from: &str, to: &str) -> SentRequest {
        assert!(self.query.contains(from));
        SentRequest { query: self.query.replace(from, to), ..self.clone() }
    }

    fn verified_at(&self, now: Timestamp) -> Result<(), Refusal> {
        let SentRequest { verb, path, query, fields } = self;
        ReceivedRequest { verb, path, query, fields }.verify(&credentials(), REGION, now)
    }

    fn verified(&self) -> Result<(), Refusal> {
        self.verified_at(time_of_aws_example())
    }
}

#[test]
fn the_documented_examples_have_valid_signatures() {
    assert_eq!(SentRequest::aws_get_example().verified(), Ok(()));
    let lifecycle = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543";
    assert_eq!(SentRequest::aws_example("lifecycle", None, lifecycle).verified(), Ok(()));
    let list = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
    for query in ["max-keys=2&prefix=J", "prefix=J&max-keys=2", "&prefix=%4A&max-keys=2"] {
        assert_eq!(SentRequest::aws_example(query, None, list).verified(), Ok(()), "{query}");
    }
}

#[test]
fn changing_a_signed_part_invalidates_the_signature() {
    let get = SentRequest::aws_get_example();
    let changed = [
        SentRequest { verb: "HEAD", ..get.clone() },
        SentRequest { path: "/test.tx".to_owned(), ..get.clone() },
        SentRequest { path: "/test.txt/".to_owned(), ..get.clone() },
        SentRequest { query: "versionId=1".to_owned(), ..get.clone() },
        get.with_field("host", "other"),
        get.with_field("range", "bytes=0-10"),
        get.with_field("x-amz-content-sha256", UNSIGNED_PAYLOAD),
        get.with_field("x-amz-date", "20130524T000001Z"),
        get.with_authorization("Signature=f", "Signature=e"),
        get.with_authorization("036bdb41", "036bdb"),
        get.with_authorization("036bdb41", ""),
    ];
    for (at, sent) in changed.iter().enumerate() {
        assert_eq!(sent.verified(), Err(Refusal::Mismatch), "{at}");
    }
    assert_eq!(get.with_authorization("EXAMPLE/", "EXAMPLES/").verified(), Err(Refusal::UnknownKey));
    for (part, other) in [
        ("20130524", "20130525"),
        ("us-east-1", "eu-west-1"),
        ("s3", "ec2"),
        ("aws4_request,", "aws3_request,"),
    ] {
        let sent = get.with_authorization(part, other);
        assert!(matches!(sent.verified(), Err(Refusal::Malformed(_))), "{other}");
    }
}

#[test]
fn other_header_fields_may_be_unsigned_but_not_x_amz_fields() {
    let get = SentRequest::aws_get_example();
    assert_eq!(get.with_field("if-match", "\"a\"").with_field("user-agent", "x").verified(), Ok(()));
    assert_eq!(get.with_field("x-amz-meta", "x").verified(), Err(Refusal::UnsignedField));
    assert_eq!(get.with_authorization("host;", "").verified(), Err(Refusal::UnsignedField));
    let mut homeless = get.with_authorization("host;", "");
    homeless.fields.retain(|(name, _)| name != "host");
    assert_eq!(homeless.verified(), Err(Refusal::UnsignedField));
    assert!(matches!(
        get.with_authorization("host;", "host;missing;").verified(),
        Err(Refusal::Malformed(_))
    ));
}

#[test]
fn repeated_spaces_in_a_header_field_do_not_change_the_signature() {
    assert_eq!(SentRequest::aws_get_example().with_field("range", "  bytes=0-9 ").verified(), Ok(()));
}

#[test]
fn a_request_with_a_body_or_without_a_signature_is_refused() {
    let get = SentRequest::aws_get_example();
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
            payload_digest: "STREAMING",
        };
        let (moment, _) = SignatureTime::parse("20130524T000000Z").unwrap();
        let signature = parts.signature(credentials().secret.reveal(), REGION, &moment);
        let mut sent =
            SentRequest::aws_example("", None, &signature).with_field("x-amz-content-sha256", "STREAMING");
        (sent.verb, sent.path) = (verb, "/k".to_owned());
        let expected = if verb == "GET" { Err(Refusal::Payload) } else { Ok(()) };
        assert_eq!(sent.with_field("host", "h").verified(), expected, "{verb}");
    }
    let mut without = get.clone();
    without.fields.retain(|(name, _)| name != "x-amz-content-sha256");
    assert_eq!(without.verified(), Err(Refusal::Payload));
    let plain =
        |sent: &SentRequest| SentRequest { fields: vec![("host".into(), "h".into())], ..sent.clone() };
    assert_eq!(plain(&get).verified(), Err(Refusal::Unsigned));
    for text in
        ["", "AWS key:signature", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=,Signature", "Basic x"]
    {
        assert!(
            matches!(get.with_field("authorization", text).verified(), Err(Refusal::Malformed(_))),
            "{text}"
        );
    }
    let twice = SentRequest { query: "X-Amz-Signature=00".to_owned(), ..get };
    assert!(matches!(twice.verified(), Err(Refusal::Malformed(_))));
}

#[test]
fn a_signed_head_is_valid_for_15_minutes_before_and_after_its_time() {
    let get = SentRequest::aws_get_example();
    for now in ["2013-05-23T23:45:00Z", "2013-05-24T00:15:00Z"] {
        assert_eq!(get.verified_at(time(now)), Ok(()), "{now}");
    }
    for now in ["2013-05-23T23:44:59Z", "2013-05-24T00:15:01Z"] {
        assert_eq!(get.verified_at(time(now)), Err(Refusal::Skewed), "{now}");
    }
    for text in
        ["", "20130524", "2013-05-24T00:00:00Z", "20130524T000000", "20131324T000000Z", "20130524T000000ZZ"]
    {
        assert!(
            matches!(get.with_field("x-amz-date", text).verified(), Err(Refusal::Malformed(_))),
            "{text}"
        );
    }
}

#[test]
fn a_signed_url_can_be_used_repeatedly_until_it_expires() {
    let sent = SentRequest::presigned();
    for now in ["2013-05-23T23:45:00Z", "2013-05-24T00:00:00Z", "2013-05-24T01:00:00Z"] {
        assert_eq!(sent.verified_at(time(now)), Ok(()), "{now}");
    }
    for now in ["2013-05-23T23:44:59Z", "2013-05-24T01:00:01Z"] {
        assert_eq!(sent.verified_at(time(now)), Err(Refusal::Expired), "{now}");
    }
    assert_eq!(sent.with_field("range", "bytes=0-1").verified(), Ok(()), "a range need not be signed");
}

#[test]
fn changing_a_signed_url_invalidates_it() {
    let sent = SentRequest::presigned();
    for changed in [
        SentRequest { verb: "HEAD", ..sent.clone() },
        SentRequest { path: sent.path.replace("%20", "+"), ..sent.clone() },
        sent.with_query("X-Amz-Expires=3600", "X-Amz-Expires=3601"),
        SentRequest { query: format!("{}&response-content-type=x", sent.query), ..sent.clone() },
        sent.with_query("Signature=", "Signature=0"),
    ] {
        assert_eq!(changed.verified(), Err(Refusal::Mismatch), "{} {}", changed.path, changed.query);
    }
    for (from, to) in [
        ("X-Amz-Expires=3600", "X-Amz-Expires=604801"),
        ("X-Amz-Expires=3600", "X-Amz-Expires=0"),
        ("X-Amz-Expires=3600&", ""),
        ("X-Amz-Date=", "X-Amz-Data="),
        ("HMAC", "ECDSA"),
    ] {
        assert!(matches!(sent.with_query(from, to).verified(), Err(Refusal::Malformed(_))), "{to}");
    }
}

#[test]
fn percent_encoding_in_lower_case_is_the_same_path() {
    let sent = SentRequest::presigned();
    let lower = SentRequest { path: sent.path.replace("%C3%BC", "%c3%bc").replace("%2B", "+"), ..sent };
    assert_eq!(lower.verified(), Ok(()));
}
