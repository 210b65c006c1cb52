//! Responses to requests with valid signatures. The signatures are tested in their own module.

use super::*;

/// The status and the document of the response to a request whose signature counts as valid.
fn routed(line: &str) -> String {
    let file = tempfile::Builder::new().prefix("named").tempfile().unwrap();
    let service = S3Service::new(file.path(), Credentials::new("key", "secret"));
    let line = line.replace("KEY", &service.object_key);
    match service.routing_decision(&Request::from_text(&format!("{line} HTTP/1.1\r\n\r\n"))) {
        Decision::File => "file".to_owned(),
        Decision::OnlyPart => "only part".to_owned(),
        Decision::Other(answer) | Decision::Refused(answer) => format!("{answer:?}"),
    }
}

#[test]
fn only_the_key_of_the_bucket_gives_the_file() {
    for line in [
        "GET /readlab/KEY",
        "HEAD /readlab/KEY",
        "GET /readlab/KEY?x-id=GetObject&X-Amz-Signature=00&response-content-type=a",
        "GET /%72eadlab/KEY",
    ] {
        assert_eq!(routed(line), "file", "{line}");
    }
    assert_eq!(routed("GET /readlab/KEY?partNumber=1"), "only part");
    for (line, code) in [
        ("GET /readlab/other", "NoSuchKey"),
        ("GET /readlab//KEY", "NoSuchKey"),
        ("GET /readlab/KEY/", "NoSuchKey"),
        ("GET /other/KEY", "NoSuchBucket"),
        ("GET //readlab/KEY", "ListAllMyBucketsResult"),
        ("GET readlab/KEY", "NoSuchBucket"),
        ("GET /readlab/KEY?partNumber=2", "InvalidPartNumber"),
        ("GET /readlab/KEY?acl", "NotImplemented"),
        ("GET /readlab/KEY?uploadId=1", "NotImplemented"),
        ("GET /readlab?versions", "NotImplemented"),
        ("PUT /readlab/KEY", "MethodNotAllowed"),
        ("DELETE /readlab/KEY", "MethodNotAllowed"),
        ("POST /readlab?delete", "MethodNotAllowed"),
    ] {
        assert!(routed(line).contains(code), "{line}: {}", routed(line));
    }
}

#[test]
fn the_bucket_answers_the_requests_that_tools_make_first() {
    assert!(routed("HEAD /readlab").contains("x-amz-bucket-region"));
    assert!(routed("GET /readlab?location").contains("<LocationConstraint"));
    assert!(routed("GET /readlab?list-type=2&prefix=named&encoding-type=url").contains("<Key>named"));
    assert!(routed("GET /readlab/?delimiter=%2F&prefix=none").contains("<ListBucketResult"));
    assert!(routed("GET /").contains("<Name>readlab</Name>"));
}

#[test]
fn every_rejected_signature_has_its_own_error_code_and_no_secret() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let service = S3Service::new(file.path(), Credentials::new("the-key", "the-secret"));
    for status in [
        HttpStatus::NotFound,
        HttpStatus::PreconditionFailed,
        HttpStatus::RangeNotSatisfiable,
        HttpStatus::BadRequest,
        HttpStatus::Busy,
    ] {
        let answer = format!("{:?}", service.problem_answer(status));
        assert!(answer.contains("<Error><Code>") && !answer.contains("the-"), "{answer}");
    }
    assert!(!format!("{service:?}").contains("the-"));
    for refusal in [Refusal::Unsigned, Refusal::Mismatch, Refusal::UnknownKey, Refusal::Malformed("why")] {
        let document = documents::error_xml(refusal_code(refusal));
        let document = roxmltree::Document::parse(&document).unwrap();
        assert!(document.descendants().any(|node| node.has_tag_name("Code")), "{refusal}");
    }
}
