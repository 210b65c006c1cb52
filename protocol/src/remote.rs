//! How a contender gets what it needs to read from a server: the names of the variables of its
//! environment, and the word that stands for a target that must not be on a command line.
//!
//! An object is read with the variables of the AWS tools besides: `AWS_ENDPOINT_URL_S3`,
//! `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.

use std::ffi::{OsStr, OsString};

/// In place of a target: the URL is in [`TARGET_VARIABLE`], because its query is a secret.
pub const TARGET_ELSEWHERE: &str = "-";

/// The URL that is read, where the word for the target is [`TARGET_ELSEWHERE`].
pub const TARGET_VARIABLE: &str = "READLAB_TARGET";

/// The value of `If-Match` for every request; unset where the server sends no strong `ETag`.
pub const ETAG_VARIABLE: &str = "READLAB_ETAG";

/// A file of certificates in PEM; servers are trusted by these and no others. Unset for those of
/// the system.
pub const CACERT_VARIABLE: &str = "READLAB_CACERT";

/// `1` if the user lets foreign commands have the [`SECRET_VARIABLES`], and a URL with a secret
/// query on their command line. The lab sets it for the contender `command` alone.
pub const COMMANDS_GET_CREDENTIALS_VARIABLE: &str = "READLAB_COMMANDS_GET_CREDENTIALS";

/// The variables whose values are secrets, or name the account that they belong to. A contender
/// that starts programs of others removes them from the environment of these.
pub const SECRET_VARIABLES: [&str; 4] =
    [TARGET_VARIABLE, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// `path`, or `virtual` for buckets that are part of the server's name.
pub const STYLE_VARIABLE: &str = "READLAB_S3_STYLE";

/// The target that a word of the command line means.
#[must_use]
pub fn target(word: &OsStr) -> OsString {
    let elsewhere = (word == TARGET_ELSEWHERE).then(|| std::env::var_os(TARGET_VARIABLE)).flatten();
    elsewhere.unwrap_or_else(|| word.to_owned())
}

/// A URL for messages: its query may be a secret, and is left out.
#[must_use]
pub fn shown(url: &str) -> &str {
    url.split_once('?').map_or(url, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_never_has_a_query() {
        assert_eq!(shown("https://h/o?X-Amz-Signature=secret"), "https://h/o");
        assert_eq!(shown("s3://b/k"), "s3://b/k");
    }

    #[test]
    fn every_secret_variable_is_on_the_page() {
        let page = include_str!("../../PROTOCOL.md");
        for name in SECRET_VARIABLES {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        let credentials = page.lines().find(|line| line.contains("how requests for objects are signed"));
        for name in credentials.unwrap().split('`').filter(|word| word.starts_with("AWS_")) {
            assert!(SECRET_VARIABLES.contains(&name), "{name} is a credential");
        }
    }

    #[test]
    fn a_path_is_itself() {
        assert_eq!(target(OsStr::new("/f")), OsStr::new("/f"));
    }
}
