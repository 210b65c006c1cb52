//! The name of an object of an S3 store, `s3://bucket/key`.

use readlab_system::terminal::printable::{is_unprintable, printable};
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// A bucket and a key. The key is as users write it, without percent-encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    bucket: String,
    key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectNameError {
    #[error("{}: not the name of an object: expected s3://BUCKET/KEY", printable(.0))]
    Form(String),
    #[error("s3://{0}: a bucket, not an object: add a key, s3://{0}/KEY")]
    NoKey(String),
    #[error(
        "{}: not the name of a bucket: expected 3 to 63 letters, digits, dots, hyphens and underscores",
        printable(.0)
    )]
    Bucket(String),
    #[error("the key of an object has at most {KEY_BYTES_MAX} bytes, this one has {0}")]
    LongKey(usize),
    #[error("{}: a key with control characters is not read", printable(.0))]
    Control(String),
    /// Clients normalise a path with these parts before they request it.
    #[error("{0}: a key with '.' or '..' as a part is not read: clients would request another key")]
    Dots(String),
}

const SCHEME: &str = "s3://";

const KEY_BYTES_MAX: usize = 1024;

/// True if a word of the command line is the name of an object and not a path.
pub fn is_object_name(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(SCHEME.as_bytes())
}

impl ObjectName {
    pub fn new(bucket: &str, key: &str) -> Result<ObjectName, ObjectNameError> {
        if !is_bucket_name(bucket) {
            return Err(ObjectNameError::Bucket(bucket.to_owned()));
        }
        check_key(key, bucket)?;
        Ok(ObjectName { bucket: bucket.to_owned(), key: key.to_owned() })
    }

    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// True if the bucket can be part of a host name that a certificate for `*.host` covers.
    pub fn has_virtual_host(&self) -> bool {
        self.bucket.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    }
}

fn is_bucket_name(bucket: &str) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    (3..=63).contains(&bucket.len())
        && bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && is_end(bucket.bytes().next())
        && is_end(bucket.bytes().last())
        && !bucket.contains("..")
}

fn check_key(key: &str, bucket: &str) -> Result<(), ObjectNameError> {
    if key.is_empty() {
        return Err(ObjectNameError::NoKey(bucket.to_owned()));
    }
    if key.len() > KEY_BYTES_MAX {
        return Err(ObjectNameError::LongKey(key.len()));
    }
    if key.chars().any(is_unprintable) {
        return Err(ObjectNameError::Control(key.to_owned()));
    }
    if key.split('/').any(|part| part == "." || part == "..") {
        return Err(ObjectNameError::Dots(key.to_owned()));
    }
    Ok(())
}

impl FromStr for ObjectName {
    type Err = ObjectNameError;

    fn from_str(text: &str) -> Result<ObjectName, ObjectNameError> {
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| ObjectNameError::Form(text.to_owned()))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        ObjectName::new(bucket, key)
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{SCHEME}{}/{}", self.bucket, self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_name_is_split_into_bucket_and_key_and_displayed_as_written() {
        for (text, bucket, key) in [
            ("s3://abc/k", "abc", "k"),
            ("s3://my.bucket-1/a/b c/ü%20?#&+.txt", "my.bucket-1", "a/b c/ü%20?#&+.txt"),
            ("s3://Old_Bucket//leading//double/", "Old_Bucket", "/leading//double/"),
        ] {
            let name: ObjectName = text.parse().unwrap();
            assert_eq!((name.bucket(), name.key()), (bucket, key));
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn an_invalid_object_name_has_a_reason_on_one_line() {
        let long = format!("s3://bucket/{}", "x".repeat(KEY_BYTES_MAX + 1));
        for (text, reason) in [
            ("bucket/key", "expected s3://BUCKET/KEY"),
            ("S3://bucket/key", "expected s3://BUCKET/KEY"),
            ("s3://bucket", "add a key"),
            ("s3://bucket/", "add a key"),
            ("s3:///key", "not the name of a bucket"),
            ("s3://ab/key", "not the name of a bucket"),
            ("s3://user@host/key", "not the name of a bucket"),
            ("s3://-bucket/key", "not the name of a bucket"),
            ("s3://a..b/key", "not the name of a bucket"),
            ("s3://bucket\n/key", "not the name of a bucket"),
            ("s3://bucket/a\r\nb", "control characters"),
            ("s3://bucket/a\u{202e}b", "control characters"),
            ("s3://bucket/a/../b", "as a part"),
            ("s3://bucket/.", "as a part"),
            (&long, "at most 1024 bytes"),
        ] {
            let error = text.parse::<ObjectName>().unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn only_the_complete_s3_scheme_makes_an_object_name() {
        assert!(is_object_name("s3://b/k".as_ref()) && is_object_name("s3://".as_ref()));
        assert!(!is_object_name("./s3://b/k".as_ref()) && !is_object_name("s3:/b/k".as_ref()));
    }

    #[test]
    fn buckets_that_no_certificate_covers_have_no_virtual_host() {
        let has = |text: &str| text.parse::<ObjectName>().unwrap().has_virtual_host();
        assert!(has("s3://my-bucket/k"));
        assert!(!has("s3://my.bucket/k") && !has("s3://My-bucket/k") && !has("s3://my_bucket/k"));
    }
}
