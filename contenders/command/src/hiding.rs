//! Hides secrets in the output of commands and in failures: every query of a URL becomes `?…`, and
//! every known secret `…`.
//!
//! A URL is printed in many forms: with its scheme, from its path on, with its parameters one by
//! one, and decoded. So everything after a question mark is hidden, and each value separately.

use percent_encoding::percent_decode_str;

/// Replaces hidden text.
const HIDDEN_MARK: &str = "…";

/// A shorter value is not treated as a secret, because it is a part of too many words.
const SECRET_BYTES_MIN: usize = 8;

/// The texts that must not be shown in one session.
#[derive(Debug, Default)]
pub(crate) struct HiddenTexts {
    is_needed: bool,
    /// Known secrets, the longest first, because a shorter one may be a part of it.
    secrets: Vec<String>,
}

impl HiddenTexts {
    /// Makes a value that hides the query of this target, if it is a URL with a query, and these
    /// secrets with their queries.
    pub(crate) fn new(target: &str, secrets: &[String]) -> HiddenTexts {
        let is_url = target.starts_with("http://") || target.starts_with("https://");
        let targets = is_url.then_some(target).and_then(query);
        let queries: Vec<&str> = secrets.iter().filter_map(|text| query(text)).chain(targets).collect();
        let values = queries.iter().flat_map(|query| query.split('&')).filter_map(value);
        let raw = secrets.iter().map(String::as_str).chain(queries.iter().copied()).chain(values);
        let mut known: Vec<String> = raw.flat_map(|text| [text.to_owned(), decoded(text)]).collect();
        known.retain(|text| text.len() >= SECRET_BYTES_MIN);
        // The address of a whole URL stays visible. Its query is hidden below.
        known.retain(|text| !text.contains("://"));
        known.sort_by_key(|text| std::cmp::Reverse(text.len()));
        known.dedup();
        HiddenTexts { is_needed: !secrets.is_empty() || !queries.is_empty(), secrets: known }
    }

    /// Whether texts may contain secrets at all.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        if !self.is_needed {
            return text.to_owned();
        }
        let shown = without_queries(text);
        self.secrets.iter().fold(shown, |shown, secret| shown.replace(secret, HIDDEN_MARK))
    }
}

fn query(url: &str) -> Option<&str> {
    url.split_once('?').map(|(_, query)| query)
}

fn value(parameter: &str) -> Option<&str> {
    parameter.split_once('=').map(|(_, value)| value)
}

/// The text with `?…` in place of every question mark and the text after it, up to a character that
/// no URL contains.
fn without_queries(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('?') {
        let end = after.find(|c: char| c.is_whitespace() || "\"<>`".contains(c)).unwrap_or(after.len());
        let query = &after[..end];
        shown.push_str(before);
        shown.push('?');
        shown.push_str(if query.is_empty() { "" } else { HIDDEN_MARK });
        // The message continues after a colon.
        shown.push_str(if query.ends_with(':') { ":" } else { "" });
        rest = &after[end..];
    }
    shown + rest
}

/// The text with its percent escapes decoded.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://h/o?X-Amz-Credential=AKIA%2F2026&X-Amz-Expires=60&X-Amz-Signature=0123456789";

    fn hide(text: &str) -> String {
        HiddenTexts::new("-", &[URL.to_owned(), "key/of+the account".to_owned()]).hide(text)
    }

    #[test]
    fn the_query_of_a_url_is_hidden_in_every_printed_form() {
        for (printed, shown) in [
            (URL, "https://h/o?…"),
            ("GET /o?X-Amz-Signature=0123456789 HTTP/1.1", "GET /o?… HTTP/1.1"),
            ("\"https://h/o?a='b'&c=(d),e\": 404", "\"https://h/o?…\": 404"),
            ("two: https://h/o?a=1 https://h/o?b=2", "two: https://h/o?… https://h/o?…"),
            ("X-Amz-Signature=0123456789 does not match", "X-Amz-Signature=… does not match"),
            ("credential AKIA/2026", "credential …"),
            ("X-Amz-Credential=AKIA%2F2026", "X-Amz-Credential=…"),
            ("key 'key/of+the account'", "key '…'"),
        ] {
            assert_eq!(hide(printed), shown);
        }
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for text in ["is it there? no", "https://h/o", "404 in 60 seconds", "50% of é", "?"] {
            assert_eq!(hide(text), text);
        }
    }

    #[test]
    fn a_secret_within_another_does_not_expose_the_rest() {
        let hiding = HiddenTexts::new("-", &["12345678".to_owned(), "12345678-and-more".to_owned()]);
        assert_eq!(hiding.hide("12345678-and-more 12345678"), "… …");
    }

    #[test]
    fn without_secrets_nothing_is_hidden() {
        let text = "grep -c a?b failed";
        for target in ["/data/what?.txt", "https://h/o", "s3://b/k?"] {
            assert_eq!(HiddenTexts::new(target, &[]).hide(text), text, "{target}");
        }
        assert_eq!(
            HiddenTexts::new("http://h/o?key=1", &[]).hide("http://h/o?key=1: 404"),
            "http://h/o?…: 404"
        );
    }

    #[test]
    fn invalid_escapes_stay() {
        for (text, plain) in
            [("a%2Fb", "a/b"), ("100%", "100%"), ("%zz%é", "%zz%é"), ("%41%", "A%"), ("%+5", "%+5")]
        {
            assert_eq!(decoded(text), plain);
        }
    }
}
