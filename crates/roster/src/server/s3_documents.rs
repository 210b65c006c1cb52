//! The XML documents of S3. They contain no text that a client sent, and the bucket's name and the
//! object's key contain no characters that XML must escape.

use super::file_version::FileVersion;
use super::s3::ErrorCode;
use readlab_targets::target::s3::signature::{self, percent_decoded};

const XML_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// The XML namespace of all documents except errors.
const XMLNS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

/// The parameters of a query, without percent-encoding.
pub(super) fn decoded_parameters(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| String::from_utf8_lossy(&percent_decoded(text)).into_owned();
    signature::parameters(query).map(|(name, value)| (decoded(name), decoded(value))).collect()
}

pub(super) fn error_xml(code: ErrorCode) -> String {
    format!("{XML_HEAD}<Error><Code>{}</Code><Message>{}</Message></Error>", code.name, code.message)
}

/// The document that states the region of the bucket. S3 leaves the region empty for us-east-1.
pub(super) fn region_xml(region: &str) -> String {
    let region = if region == "us-east-1" { "" } else { region };
    format!("{XML_HEAD}<LocationConstraint {XMLNS}>{region}</LocationConstraint>")
}

pub(super) fn bucket_list_xml(bucket: &str) -> String {
    let one = format!(
        "<Bucket><Name>{bucket}</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate></Bucket>"
    );
    let owner = "<Owner><ID>readlab</ID><DisplayName>readlab</DisplayName></Owner>";
    format!(
        "{XML_HEAD}<ListAllMyBucketsResult {XMLNS}>{owner}<Buckets>{one}</Buckets></ListAllMyBucketsResult>"
    )
}

/// The list of the bucket's only object. `version` is `None` if the file does not exist, and then the
/// list is empty. It is also empty if the query excludes the object's key.
pub(super) fn key_list_xml(
    bucket: &str,
    key: &str,
    version: Option<&FileVersion>,
    query: &[(String, String)],
) -> String {
    let value = |name: &str| query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
    let after = [value("marker"), value("start-after"), value("continuation-token")];
    let is_in = key.starts_with(value("prefix"))
        && after.iter().all(|after| *after < key)
        && value("max-keys").parse() != Ok(0_u32);
    let entry = match version.filter(|_| is_in) {
        Some(version) => entry_xml(key, version, &[value("prefix"), value("delimiter")]),
        None => String::new(),
    };
    let count = usize::from(!entry.is_empty());
    let of_second =
        if value("list-type") == "2" { format!("<KeyCount>{count}</KeyCount>") } else { String::new() };
    format!(
        "{XML_HEAD}<ListBucketResult {XMLNS}>\
         <Name>{bucket}</Name><Prefix></Prefix>{of_second}<MaxKeys>1000</MaxKeys>\
         <IsTruncated>false</IsTruncated>{entry}</ListBucketResult>"
    )
}

/// The entry for the object; or, if the key has the delimiter after the prefix, the part of the key up
/// to the delimiter, which S3 calls a common prefix.
fn entry_xml(key: &str, version: &FileVersion, [prefix, delimiter]: &[&str; 2]) -> String {
    let rest = &key[prefix.len()..];
    let common = rest.find(delimiter).filter(|_| !delimiter.is_empty());
    if let Some(at) = common {
        let common = &key[..prefix.len() + at + delimiter.len()];
        return format!("<CommonPrefixes><Prefix>{common}</Prefix></CommonPrefixes>");
    }
    let etag = version.etag.trim_matches('"');
    format!(
        "<Contents><Key>{key}</Key><LastModified>{}</LastModified><ETag>&quot;{etag}&quot;</ETag><Size>{}</Size>\
         <StorageClass>STANDARD</StorageClass></Contents>",
        version.xml_modified_time(),
        version.size_bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(query: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let version = FileVersion::from_metadata(&std::fs::metadata(folder.path()).unwrap());
        key_list_xml("bucket", "file.txt", Some(&version), &decoded_parameters(query))
    }

    #[test]
    fn a_list_contains_the_key_if_the_request_matches_it() {
        for query in [
            "",
            "prefix=",
            "prefix=file",
            "prefix=file.txt&delimiter=%2F",
            "start-after=file.tx",
            "max-keys=1",
        ] {
            let list = listed(query);
            assert!(
                list.contains("<Key>file.txt</Key>") && roxmltree::Document::parse(&list).is_ok(),
                "{query}"
            );
        }
        for query in ["prefix=files", "prefix=%2F", "start-after=file.txt", "marker=g", "max-keys=0"] {
            assert!(!listed(query).contains("<Key>"), "{query}");
        }
        assert!(listed("delimiter=e.").contains("<CommonPrefixes><Prefix>file.</Prefix>"));
        assert!(listed("list-type=2&prefix=x").contains("<KeyCount>0</KeyCount>"));
        assert!(!key_list_xml("bucket", "file.txt", None, &[]).contains("<Key>"), "no file");
    }

    #[test]
    fn documents_contain_nothing_that_a_client_sent() {
        assert!(!listed("prefix=%3Cevil%3E&delimiter=%3Cevil%3E").contains("evil"));
    }
}
