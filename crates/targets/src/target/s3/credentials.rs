//! The credentials that sign requests. Neither `Debug` nor an error shows a secret.

use jiff::Timestamp;
use std::fmt;

/// An access key with its secret, as a store knows them.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The identifier of the key, which is part of the scope of every signature.
    pub access_key: String,
    /// The secret that signs requests.
    pub secret: Secret,
    /// The token that is sent with every request; `None` if the key is not temporary.
    pub session_token: Option<Secret>,
    /// When the key expires; `None` if the key is not temporary, or if the time is not known.
    pub expires_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Credentials {
    /// A key that does not expire.
    pub fn new(access_key: &str, secret: &str) -> Credentials {
        let (access_key, secret) = (access_key.to_owned(), Secret::new(secret));
        Credentials { access_key, secret, session_token: None, expires_at: None }
    }
}

impl Secret {
    pub fn new(text: &str) -> Secret {
        Secret(text.to_owned())
    }

    /// Returns the text, for a signature or the environment of a contender.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_credentials() {
        let token = Some(Secret::new("the-token"));
        let credentials = Credentials { session_token: token, ..Credentials::new("the-key", "the-secret") };
        for shown in
            [format!("{credentials:?}"), format!("{credentials:#?}"), format!("{:?}", credentials.secret)]
        {
            assert!(shown.contains("hidden") && !shown.contains("the-"), "{shown}");
        }
    }
}
