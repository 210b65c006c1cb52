//! Secrets in URLs and command lines: queries that let everybody who has them read, and texts
//! without them. `headers` has what a command hands over beside a URL.
//!
//! Nobody knows all names of secrets, so a query is hidden unless all its names are known to be
//! harmless: a hidden one must be named again, one that is shown stays in every record.

mod headers;

use percent_encoding::percent_decode_str;
use std::ops::Range;

pub(super) const HIDDEN: &str = "…";

/// Names of what no server takes for a key, in lower case: versions, parts, formats, pages.
#[rustfmt::skip]
const HARMLESS: [&str; 32] = [
    "alt", "attachment", "branch", "dl", "download", "encoding", "end", "export", "ext", "file", "filename",
    "format", "height", "inline", "lang", "limit", "list-type", "offset", "page", "part", "partnumber",
    "per_page", "raw", "ref", "rev", "revision", "size", "sort", "start", "version", "versionid", "x-id",
];

/// Schemes without slashes, behind which no password comes before an `@`.
const NO_USERS: [&str; 5] = ["acct", "mailto", "npm", "sip", "xmpp"];

/// What ends a word of a shell besides blanks, or comes before an escaped quote.
const OPERATORS: &str = ";|&<>()\\";

/// Whether a query, without its `?`, has a secret.
fn is_secret(query: &str, is_secret_value: fn(&str) -> bool) -> bool {
    let mut pairs = query.split(['&', ';', '?', '#']).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.any(|(name, value)| is_name(name) && is_secret_value(value))
}

/// Whether a name of a query may mean a secret. A word without a value may be one itself.
fn is_name(name: &str) -> bool {
    // What is no UTF-8 without its percent encoding is no name of a secret.
    let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    !name.is_empty() && !HARMLESS.contains(&name.as_str())
}

/// A URL, or what should be one, without its user and without a query that is a secret.
pub fn redact_url(url: &str) -> String {
    hide(url, |_| true)
}

/// A command line with every URL in it as it is by [`redact_url`], and without the values of
/// headers. A variable of the shell is no secret.
pub fn shown_in(command: &str) -> String {
    let (mut shown_command, mut rest) = (String::new(), command);
    while let Some(at) = rest.find(|c: char| !is_between(c)) {
        let (before, word) = rest.split_at(at);
        let end = word.find(is_between).unwrap_or(word.len());
        shown_command.push_str(before);
        shown_command.push_str(&shown_word(&word[..end]));
        rest = &word[end..];
    }
    headers::hidden(&(shown_command + rest))
}

/// Whether a character ends a URL in a command line.
fn is_between(c: char) -> bool {
    c.is_whitespace() || "'\"`".contains(c)
}

/// A word of a command line without the secrets of the URL at its end.
fn shown_word(word: &str) -> String {
    let is_secret_value = |value: &str| !value.starts_with('$');
    if let Some(slashes) = word.find("://") {
        // What is before the scheme ends with a character that no scheme has.
        let url = word[..slashes].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        return format!("{}{}", &word[..url], hide(&word[url..], is_secret_value));
    }
    let url = bare_user(word).map(|user| user.start).or_else(|| host_of_query(word)).unwrap_or(word.len());
    format!("{}{}", &word[..url], hide(&word[url..], is_secret_value))
}

/// Where in a word the host of a URL without a scheme begins, as `curl host/path?query` takes it;
/// `None` if that is no host but a folder or a pattern, or there is no query with a value.
fn host_of_query(word: &str) -> Option<usize> {
    let (before, query) = word.split_once('?')?;
    // As the value of an option, or of a parameter of a command.
    let from = before.rfind(['=', ',']).map_or(0, |at| at + 1);
    let (authority, _) = before[from..].split_once('/')?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_name = host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
    let has_end = host.contains('.') && host.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_host = has_end && !host.contains("..") || host == "localhost" || !port.is_empty();
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    let has_value = query.contains('=');
    (is_name && !host.is_empty() && is_host && is_port && has_value).then_some(from)
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
    let Some((scheme, rest)) = url.split_once("://") else { return without_bare_user(url, is_secret_value) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((user, host))
            if (scheme.starts_with("http") || user.contains(':')) && is_secret_value(password(user)) =>
        {
            format!("{scheme}://{HIDDEN}@{host}{path}")
        }
        _ => url.to_owned(),
    }
}

/// The secret of a user: what is behind the colon, or all where there is none.
fn password(user: &str) -> &str {
    user.split_once(':').map_or(user, |(_, password)| password).trim_start_matches('\\')
}

/// A URL without a scheme, as `curl USER:PASSWORD@HOST/PATH` takes it, without user and password.
///
/// Only a colon before the `@` shows a password: `NAME@HOST` is an address of mail as well,
/// `USER@HOST:PATH` is what `scp` copies, and both may be names of files. A `/` before it is one of
/// a path: `./a:b@c` is a file.
fn without_bare_user(word: &str, is_secret_value: fn(&str) -> bool) -> String {
    match bare_user(word).filter(|user| is_secret_value(password(&word[user.clone()]))) {
        Some(user) => format!("{}{HIDDEN}{}", &word[..user.start], &word[user.end..]),
        None => word.to_owned(),
    }
}

/// Where in a word without a scheme a user is with a password.
fn bare_user(word: &str) -> Option<Range<usize>> {
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let (user, host) = authority.rsplit_once('@')?;
    let (before, password) = user.split_once(':')?;
    // As the value of an option, or of a parameter of a command.
    let from = before.rfind(['=', ',']).map_or(0, |at| at + 1);
    let name = &before[from..];
    // `${NAME:-me@host}` is a variable with a value of its own.
    let is_user = !NO_USERS.contains(&name) && (!name.contains('{') || name.contains('}'));
    (is_user && !password.is_empty() && is_host(host)).then_some(from..user.len())
}

/// Whether a text is a host, perhaps with a port, until it ends or a shell goes on.
fn is_host(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-._${}%".contains(c);
    let parts_at = |text: &str| text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let (host, rest) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some(address) => address,
        None => text.split_at(parts_at(text)),
    };
    let (port, rest) = match rest.strip_prefix(':') {
        Some(rest) => rest.split_at(parts_at(rest)),
        None => ("0", rest),
    };
    let is_port = port.starts_with('$') || !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    let ends = rest.is_empty() || rest.starts_with(|c: char| OPERATORS.contains(c));
    !host.is_empty() && is_port && ends
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
    fn a_password_before_a_host_is_hidden_without_a_scheme_too() {
        for (text, shown) in [
            ("curl u:p@host/x", "curl …@host/x"),
            ("curl 'u:p;@=,w@h.org:80/x' | wc", "curl '…@h.org:80/x' | wc"),
            ("curl --url=u:p@h/x?key=s -x u:p@[::1]:80", "curl --url=…@h/x?… -x …@[::1]:80"),
            ("curl u:p=q@h.org/x?key=s", "curl …@h.org/x?…"),
            ("(curl u:p@h;wc)", "(curl …@h;wc)"),
            ("curl u:p@$HOST:$PORT", "curl …@$HOST:$PORT"),
            ("curl $USER:p@h http://$USER:p@h", "curl …@h http://…@h"),
        ] {
            assert_eq!(shown_in(text), shown);
            assert_eq!(shown_in(shown), shown);
        }
        assert_eq!(redact_url("u:p@host/x"), "…@host/x");
        for harmless in [
            "scp me@host:x a@b",
            "grep -c mailto:me@h.org",
            "docker run image:1.2@sha256:abc",
            "sed s:a@b:c:g",
            "./a:b@c /a:b@c a/b:c@d h:80/?page=a@b",
            "curl u:$P@h \"u:\\$P@h\" https://u:$P@h u:@h u:p@ ${X:-me@h}",
        ] {
            assert_eq!(shown_in(harmless), harmless);
        }
    }

    #[test]
    fn urls_without_a_scheme_are_shown_without_secrets() {
        for (text, shown) in [
            ("curl h.org/o?key=s", "curl h.org/o?…"),
            ("curl 'localhost/o?page=1&key=s' | wc", "curl 'localhost/o?…' | wc"),
            ("curl --url=host:80/?k=s", "curl --url=host:80/?…"),
            ("curl -H 'X-Key: s' 10.0.0.1/o?key=s", "curl -H 'X-Key: …' 10.0.0.1/o?…"),
        ] {
            assert_eq!(shown_in(text), shown);
        }
        for harmless in [
            "curl h.org/o?page=2",
            "curl \"h.org/o?key=$KEY\"",
            "ls a/b?c=d ../x.y/b?c=d /h.org/o?key=s",
            "sed 's/a.b/c?d=e/'",
            "grep 'x?a=b' f.txt?",
            "cat h.org/o?",
        ] {
            assert_eq!(shown_in(harmless), harmless);
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
