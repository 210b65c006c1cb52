//! The server's side of AWS Signature Version 4: checks whether a request is signed, in its head or
//! its URL, with the server's access key.

use super::credentials::Credentials;
use super::signature::{
    self, ALGORITHM, SIGNATURE_PARAMETER, SignatureTime, SignedParts, UNSIGNED_PAYLOAD, parameters,
    percent_decoded,
};
use super::store::VALIDITY_MAX;
use jiff::{SignedDuration, Timestamp};

/// SHA-256 of an empty body, hexadecimal.
pub const EMPTY_PAYLOAD_DIGEST: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Largest permitted difference between the clocks of client and server.
const SKEW_MAX: SignedDuration = SignedDuration::from_mins(15);

#[derive(Debug, Clone, Copy)]
pub struct ReceivedRequest<'a> {
    /// The verb, in upper case.
    pub verb: &'a str,
    /// The path, percent-encoded.
    pub path: &'a str,
    /// The query, percent-encoded, without its question mark.
    pub query: &'a str,
    /// The header fields, with names in lower case.
    pub fields: &'a [(String, String)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the request is not signed")]
    Unsigned,
    #[error("{0}")]
    Malformed(&'static str),
    #[error("the access key is not known here")]
    UnknownKey,
    #[error("a field of the head is not signed: host and every x-amz- field must be")]
    UnsignedField,
    /// The digest is the digest of a body that is not empty, but this verb has no body.
    #[error("x-amz-content-sha256 must be {UNSIGNED_PAYLOAD} or the digest of no bytes")]
    Payload,
    #[error("the clocks of the client and the server differ by more than 15 minutes")]
    Skewed,
    #[error("the signed URL has expired or is not valid yet")]
    Expired,
    #[error("the signature does not match the request, the key or the secret")]
    Mismatch,
}

struct SignatureClaim {
    credential: String,
    field_names: String,
    signature: String,
    moment: SignatureTime,
    payload_digest: String,
}

impl ReceivedRequest<'_> {
    /// Checks that the owner of the credentials signed the request for this region, and that it is
    /// valid now.
    pub fn verify(&self, credentials: &Credentials, region: &str, now: Timestamp) -> Result<(), Refusal> {
        let in_head = self.field("authorization");
        let in_query = self.parameter(SIGNATURE_PARAMETER);
        let claim = match (in_head, in_query) {
            (Some(_), Some(_)) => return Err(Refusal::Malformed("the request is signed twice")),
            (Some(text), None) => self.parse_authorization_field(&text, now)?,
            (None, Some(signature)) => self.parse_presigned_query(signature, now)?,
            (None, None) => return Err(Refusal::Unsigned),
        };
        check_credential(&claim, credentials, region)?;
        let parts = SignedParts {
            verb: self.verb,
            path: self.path,
            query: self.query,
            fields: self.signed_fields(&claim.field_names)?,
            payload_digest: &claim.payload_digest,
        };
        let secret = credentials.secret.reveal();
        if !parts.has_signature(&claim.signature, secret, region, &claim.moment) {
            return Err(Refusal::Mismatch);
        }
        // The digest of a body is accepted for writing verbs, which the server rejects anyway.
        let has_no_body = [UNSIGNED_PAYLOAD, EMPTY_PAYLOAD_DIGEST].contains(&parts.payload_digest);
        if has_no_body || !["GET", "HEAD"].contains(&self.verb) { Ok(()) } else { Err(Refusal::Payload) }
    }

    /// The value of a header field; several fields with one name are joined by commas. `None` if
    /// there is no such field.
    fn field(&self, name: &str) -> Option<String> {
        let values: Vec<_> =
            self.fields.iter().filter(|(known, _)| known == name).map(|(_, value)| value.trim()).collect();
        (!values.is_empty()).then(|| values.join(","))
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let (_, value) = parameters(self.query).find(|(known, _)| *known == name)?;
        String::from_utf8(percent_decoded(value)).ok()
    }

    /// Parses `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
    fn parse_authorization_field(&self, text: &str, now: Timestamp) -> Result<SignatureClaim, Refusal> {
        const PARTS: Refusal =
            Refusal::Malformed("the field Authorization has not the parts that it must have");
        let rest =
            text.strip_prefix(ALGORITHM).ok_or(Refusal::Malformed("only AWS4-HMAC-SHA256 is known"))?;
        let part = |name: &str| {
            let mut parts = rest.split(',').filter_map(|part| part.trim().split_once('='));
            parts.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).ok_or(PARTS)
        };
        let date = self.field("x-amz-date").ok_or(Refusal::Malformed("the request has no x-amz-date"))?;
        let (moment, time) =
            SignatureTime::parse(&date).ok_or(Refusal::Malformed("x-amz-date is no date"))?;
        if time.duration_since(now).abs() > SKEW_MAX {
            return Err(Refusal::Skewed);
        }
        let payload = self.field("x-amz-content-sha256").ok_or(Refusal::Payload)?;
        let [credential, field_names, signature] =
            [part("Credential")?, part("SignedHeaders")?, part("Signature")?];
        Ok(SignatureClaim { credential, field_names, signature, moment, payload_digest: payload })
    }

    /// Parses the parameters `X-Amz-…` of a presigned URL.
    fn parse_presigned_query(&self, signature: String, now: Timestamp) -> Result<SignatureClaim, Refusal> {
        const PARTS: Refusal = Refusal::Malformed("the query has not the parameters that it must have");
        let part = |name: &str| self.parameter(name).ok_or(PARTS);
        if part("X-Amz-Algorithm")? != ALGORITHM {
            return Err(Refusal::Malformed("only AWS4-HMAC-SHA256 is known"));
        }
        let (moment, from) =
            SignatureTime::parse(&part("X-Amz-Date")?).ok_or(Refusal::Malformed("X-Amz-Date is no date"))?;
        let valid = part("X-Amz-Expires")?.parse().ok().filter(|s| (1..=VALIDITY_MAX.as_secs()).contains(s));
        let valid = valid.ok_or(Refusal::Malformed("X-Amz-Expires must be 1 to 604800 seconds"))?;
        let age = now.duration_since(from);
        if age < -SKEW_MAX || age.as_secs() > i64::try_from(valid).unwrap_or(i64::MAX) {
            return Err(Refusal::Expired);
        }
        let [credential, field_names] = [part("X-Amz-Credential")?, part("X-Amz-SignedHeaders")?];
        Ok(SignatureClaim {
            credential,
            field_names,
            signature,
            moment,
            payload_digest: UNSIGNED_PAYLOAD.to_owned(),
        })
    }

    /// The signed header fields. The host and all `x-amz-` fields must be among them.
    fn signed_fields<'n>(&self, names: &'n str) -> Result<Vec<(&'n str, String)>, Refusal> {
        let names: Vec<&str> = names.split(';').collect();
        let must_be = |name: &str| name == "host" || name.starts_with("x-amz-");
        let is_left_out = |name: &str| must_be(name) && !names.contains(&name);
        if is_left_out("host") || self.fields.iter().any(|(name, _)| is_left_out(name)) {
            return Err(Refusal::UnsignedField);
        }
        let field = |name: &'n str| Some((name, self.field(name)?));
        let fields: Option<Vec<_>> = names.iter().copied().map(field).collect();
        fields.ok_or(Refusal::Malformed("a signed field is missing"))
    }
}

/// Checks that the claim has the server's access key, and the right day, region and service.
fn check_credential(claim: &SignatureClaim, credentials: &Credentials, region: &str) -> Result<(), Refusal> {
    let (key, scope) =
        claim.credential.split_once('/').ok_or(Refusal::Malformed("the credential has no scope"))?;
    if key != credentials.access_key {
        return Err(Refusal::UnknownKey);
    }
    if scope != signature::scope(&claim.moment, region) {
        return Err(Refusal::Malformed("the scope of the credential is another day, region or service"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
