//! Secrets in URLs: queries that let everybody who has them read, and texts without them.
//!
//! Nobody knows all names of secrets. So a query is hidden as a whole unless each of its names is
//! known to be harmless: a hidden query must be named again, one that is shown stays in every
//! record.

/// In place of a query that is a secret.
pub(super) const HIDDEN: &str = "…";

/// Names of what no server takes for a key, in lower case: versions, parts, formats, pages.
const HARMLESS: [&str; 32] = [
    "alt",
    "attachment",
    "branch",
    "dl",
    "download",
    "encoding",
    "end",
    "export",
    "ext",
    "file",
    "filename",
    "format",
    "height",
    "inline",
    "lang",
    "limit",
    "list-type",
    "offset",
    "page",
    "part",
    "partnumber",
    "per_page",
    "raw",
    "ref",
    "rev",
    "revision",
    "size",
    "sort",
    "start",
    "version",
    "versionid",
    "x-id",
];

/// Whether a query, without its `?`, has a secret.
fn is_secret(query: &str, is_secret_value: fn(&str) -> bool) -> bool {
    let mut pairs = query.split(['&', ';', '?', '#']).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.any(|(name, value)| is_name(name) && is_secret_value(value))
}

/// Whether a name of a query may mean a secret. A word without a value may be one itself.
fn is_name(name: &str) -> bool {
    let name = decoded(name).to_ascii_lowercase();
    !name.is_empty() && !HARMLESS.contains(&name.as_str())
}

/// A name without percent encoding; what is no UTF-8 then is no name of a secret.
fn decoded(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, after @ ..] = rest {
        let code = name_byte(rest);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of a `%41` at the beginning.
fn name_byte(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// A URL, or what should be one, without its user and without a query that is a secret.
pub fn redact_url(url: &str) -> String {
    hide(url, |_| true)
}

/// A command line with every URL in it as it is [`redact_url`]. A variable of the shell is no secret.
pub fn shown_in(command: &str) -> String {
    let (mut shown_command, mut rest) = (String::new(), command);
    while let Some(slashes) = rest.find("://") {
        // What is before the scheme ends with a character that no scheme has.
        let before = rest[..slashes].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
        let (before, url) = rest.split_at(before.len());
        let end = url.find(|c: char| c.is_whitespace() || "'\"`".contains(c)).unwrap_or(url.len());
        shown_command.push_str(before);
        shown_command.push_str(&hide(&url[..end], |value| !value.starts_with('$')));
        rest = &url[end..];
    }
    shown_command + rest
}

fn hide(url: &str, is_secret_value: fn(&str) -> bool) -> String {
    let (before, query) = url.split_once(['?', '#']).unwrap_or((url, ""));
    if is_secret(query, is_secret_value) {
        return format!("{}?{HIDDEN}", without_user(before, is_secret_value));
    }
    without_user(url, is_secret_value)
}

/// A URL without its password, or without the user of a website, which may be a token.
fn without_user(url: &str, is_secret_value: fn(&str) -> bool) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((user, host)) if (scheme.starts_with("http") || user.contains(':')) && is_secret_value(user) => {
            format!("{scheme}://{HIDDEN}@{host}{path}")
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for query in [
            "X-Amz-Signature=a",
            "x-amz-credential=a",
            "a=b&X-AMZ-SECURITY-TOKEN=c",
            "X-Goog-Signature=a",
            "X%2dAmz%2DSignature=a",
            "sv=1&se=2&sp=r&sig=abc",
            "Expires=1&Signature=a&Key-Pair-Id=b",
            "Policy=a",
            "access_token",
            "a;token=b",
            "?token=b",
            "apiKey=a",
            "subscription-key=a",
            "api-key=a",
            "access-key=a",
            "private_key=a",
            "pass=a",
            "k=a",
            "page=1&hush",
        ] {
            assert!(is_secret(query, |_| true), "{query}");
        }
    }

    #[test]
    fn other_names_and_all_values_are_harmless() {
        for query in
            ["", "versionId=token", "x-id=GetObject", "page=2&sort=sig", "%50age=1", "download=true&"]
        {
            assert!(!is_secret(query, |_| true), "{query}");
        }
    }

    #[test]
    fn a_url_is_shown_without_its_secret_query_and_its_user() {
        for (url, with) in [
            ("https://h/o?token=a#b", "https://h/o?…"),
            ("https://h/o?page=b", "https://h/o?page=b"),
            ("https://h/o#token=a", "https://h/o?…"),
            ("/o?sig=a", "/o?…"),
            ("https://me:pw@h/o?page=b@c", "https://…@h/o?page=b@c"),
            ("https://me:pw@h?sig=a", "https://…@h?…"),
            ("/a/b@c", "/a/b@c"),
        ] {
            assert_eq!(redact_url(url), with);
        }
    }

    #[test]
    fn urls_within_a_text_are_shown_without_secrets() {
        let text = "curl -s 'https://h/o?a=1&sig=s' \"http://u:p@h/\" --url=https://h/o?page=b | wc";
        assert_eq!(shown_in(text), "curl -s 'https://h/o?…' \"http://…@h/\" --url=https://h/o?page=b | wc");
        assert_eq!(shown_in("é://u:p@h?sig=s https://h"), "é://…@h?… https://h");
        for harmless in [
            "readlab race /f?token=a",
            "curl 'https://h/o?token=$TOKEN&page=2'",
            "curl https://$USER:$PASSWORD@h/",
            "git fetch ssh://git@h/o",
            "://",
        ] {
            assert_eq!(shown_in(harmless), harmless);
        }
    }
}
