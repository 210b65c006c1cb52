//! What a reading needs of its environment (PROTOCOL.md, "Servers"): the target that is a secret,
//! the version of the content, whom to trust, and where objects are.

use crate::failure::Failure;
use http::HeaderValue;
use std::env::{self, VarError};

/// A variable; `None` if it is unset or empty.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::new(format!("{name} is not UTF-8"))),
    }
}

fn required(name: &str) -> Result<String, Failure> {
    variable(name)?.ok_or_else(|| Failure::new(format!("{name} is not set")))
}

/// What the word of the command line means: itself, or a URL that must not be there.
pub(crate) fn target(word: &str) -> Result<String, Failure> {
    if word == "-" { required("READLAB_TARGET") } else { Ok(word.to_owned()) }
}

/// The version of the content that every request demands.
pub(crate) fn etag() -> Result<Option<HeaderValue>, Failure> {
    let value = variable("READLAB_ETAG")?;
    let value = value.map(|value| HeaderValue::from_str(&value)).transpose();
    value.map_err(|_| Failure::new("READLAB_ETAG is no value of a header"))
}

/// The file of certificates that replaces those of the system.
pub(crate) fn cacert() -> Result<Option<String>, Failure> {
    variable("READLAB_CACERT")
}

/// Where objects are, and how requests for them are signed.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) virtual_style: bool,
    pub(crate) credentials: Option<Credentials>,
}

#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) key_id: String,
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
}

impl Store {
    pub(crate) fn of_environment() -> Result<Store, Failure> {
        let key_id = variable("AWS_ACCESS_KEY_ID")?;
        let credentials = match key_id.zip(variable("AWS_SECRET_ACCESS_KEY")?) {
            Some((key_id, secret)) => {
                Some(Credentials { key_id, secret, token: variable("AWS_SESSION_TOKEN")? })
            }
            None => None,
        };
        Ok(Store {
            endpoint: required("AWS_ENDPOINT_URL_S3")?,
            region: required("AWS_REGION")?,
            virtual_style: variable("READLAB_S3_STYLE")?.as_deref() == Some("virtual"),
            credentials,
        })
    }
}
