//! The documents of S3 in XML. Nothing in them is what a client sent, and the names of the bucket
//! and the key have no characters that XML would take for its own.

use super::file_version::FileVersion;
use super::s3::ErrorCode;
use readlab_targets::target::s3::signature::{self, decoded};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// The name space of documents that are no errors.
const XMLNS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

pub(super) fn parameters(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| String::from_utf8_lossy(&decoded(text)).into_owned();
    signature::parameters(query).map(|(name, value)| (decoded(name), decoded(value))).collect()
}

pub(super) fn error(code: ErrorCode) -> String {
    format!("{HEAD}<Error><Code>{}</Code><Message>{}</Message></Error>", code.name, code.message)
}

/// Where the bucket is; for the first region that is empty.
pub(super) fn location(region: &str) -> String {
    let region = if region == "us-east-1" { "" } else { region };
    format!("{HEAD}<LocationConstraint {XMLNS}>{region}</LocationConstraint>")
}

pub(super) fn buckets(bucket: &str) -> String {
    let one = format!(
        "<Bucket><Name>{bucket}</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate></Bucket>"
    );
    let owner = "<Owner><ID>readlab</ID><DisplayName>readlab</DisplayName></Owner>";
    format!("{HEAD}<ListAllMyBucketsResult {XMLNS}>{owner}<Buckets>{one}</Buckets></ListAllMyBucketsResult>")
}

/// The list of a bucket's one key; without a version there is none.
pub(super) fn list(
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
        Some(version) => entry(key, version, &[value("prefix"), value("delimiter")]),
        None => String::new(),
    };
    let count = usize::from(!entry.is_empty());
    let of_second =
        if value("list-type") == "2" { format!("<KeyCount>{count}</KeyCount>") } else { String::new() };
    format!(
        "{HEAD}<ListBucketResult {XMLNS}><Name>{bucket}</Name><Prefix></Prefix>{of_second}<MaxKeys>1000</MaxKeys>\
         <IsTruncated>false</IsTruncated>{entry}</ListBucketResult>"
    )
}

/// The key, or what it has in common with others up to a delimiter.
fn entry(key: &str, version: &FileVersion, [prefix, delimiter]: &[&str; 2]) -> String {
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
        version.modified_in_xml(),
        version.size_bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(query: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let version = FileVersion::from_metadata(&std::fs::metadata(folder.path()).unwrap());
        list("bucket", "file.txt", Some(&version), &parameters(query))
    }

    #[test]
    fn a_list_has_the_key_if_it_is_asked_for() {
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
        assert!(!list("bucket", "file.txt", None, &[]).contains("<Key>"), "no file");
    }

    #[test]
    fn nothing_that_a_client_sent_comes_back() {
        assert!(!listed("prefix=%3Cevil%3E&delimiter=%3Cevil%3E").contains("evil"));
    }
}
