//! Secrets in URLs and command lines: recognises queries that give access to everyone who has them,
//! and removes secrets from texts. `headers` handles headers and options of commands.
//!
//! It is impossible to know all names of secrets, so a query is hidden unless all its parameter
//! names are known to be harmless. A query that was hidden without need can be entered again, but a
//! secret that was shown stays in every record.

mod headers;

use percent_encoding::percent_decode_str;
use std::ops::Range;

pub(super) const REDACTED: &str = "…";

/// Parameter names that no server uses for keys, in lower case: versions, parts, formats, pages.
#[rustfmt::skip]
const HARMLESS_PARAMETERS: [&str; 32] = [
    "alt", "attachment", "branch", "dl", "download", "encoding", "end", "export", "ext", "file", "filename",
    "format", "height", "inline", "lang", "limit", "list-type", "offset", "page", "part", "partnumber",
    "per_page", "raw", "ref", "rev", "revision", "size", "sort", "start", "version", "versionid", "x-id",
];

/// Schemes without slashes, in which `a:b@c` does not contain a password.
const SCHEMES_WITHOUT_USERS: [&str; 5] = ["acct", "mailto", "npm", "sip", "xmpp"];

/// Characters besides whitespace that end a word in a shell, or that come before an escaped quote.
const SHELL_OPERATORS: &str = ";|&<>()\\";

/// True if a query, without its `?`, contains a secret.
fn has_secret(query: &str, is_secret_value: fn(&str) -> bool) -> bool {
    let mut pairs = query.split(['&', ';', '?', '#']).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.any(|(name, value)| may_name_secret(name) && is_secret_value(value))
}

/// True if the value of a parameter with this name may be a secret. A word without a value counts
/// too, because it may be a secret itself.
fn may_name_secret(name: &str) -> bool {
    // A name that is not UTF-8 after decoding is compared with replacement characters.
    let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    !name.is_empty() && !HARMLESS_PARAMETERS.contains(&name.as_str())
}

/// Removes the user, and the query if it is a secret, from a URL or a text that should be one.
pub fn redact_url(url: &str) -> String {
    redact_secrets(url, |_| true)
}

/// Removes secrets from a command line: from every URL as [`redact_url`] does, and the values of
/// headers. A shell variable is not a secret.
pub fn redact_command(command: &str) -> String {
    let (mut shown_command, mut rest) = (String::new(), command);
    while let Some(at) = rest.find(|c: char| !is_url_end(c)) {
        let (before, word) = rest.split_at(at);
        let end = word.find(is_url_end).unwrap_or(word.len());
        shown_command.push_str(before);
        shown_command.push_str(&redact_word(&word[..end]));
        rest = &word[end..];
    }
    headers::hide_secrets(&(shown_command + rest))
}

/// True if a character ends a URL in a command line.
fn is_url_end(c: char) -> bool {
    c.is_whitespace() || "'\"`".contains(c)
}

/// A word of a command line, without the secrets of the URL with which it ends.
fn redact_word(word: &str) -> String {
    let is_secret_value = |value: &str| !value.starts_with('$');
    if let Some(slashes) = word.find("://") {
        // The scheme begins after the last character that no scheme contains.
        let url = word[..slashes].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        return format!("{}{}", &word[..url], redact_secrets(&word[url..], is_secret_value));
    }
    let url = user_range(word).map(|user| user.start).or_else(|| host_position(word)).unwrap_or(word.len());
    format!("{}{}", &word[..url], redact_secrets(&word[url..], is_secret_value))
}

/// Position in a word at which the host of a URL without a scheme begins, as in
/// `curl host/path?query`. `None` if the word has a folder or a pattern instead of a host, or has
/// no query with a value.
fn host_position(word: &str) -> Option<usize> {
    let (before, query) = word.split_once('?')?;
    // The URL may be the value of an option, or of a parameter of a command.
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

fn redact_secrets(url: &str, is_secret_value: fn(&str) -> bool) -> String {
    let (before, query) = url.split_once(['?', '#']).unwrap_or((url, ""));
    if has_secret(query, is_secret_value) {
        return format!("{}?{REDACTED}", without_credentials(before, is_secret_value));
    }
    without_credentials(url, is_secret_value)
}

/// Removes user and password from a URL. A user without a password is removed only from a URL of
/// HTTP, because it may be a token.
fn without_credentials(url: &str, is_secret_value: fn(&str) -> bool) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return without_bare_user(url, is_secret_value) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((user, host))
            if (scheme.starts_with("http") || user.contains(':'))
                && is_secret_value(secret_of_user(user)) =>
        {
            format!("{scheme}://{REDACTED}@{host}{path}")
        }
        _ => url.to_owned(),
    }
}

/// The secret in `USER:PASSWORD`: the part after the colon, or everything if there is no colon.
fn secret_of_user(user: &str) -> &str {
    user.split_once(':').map_or(user, |(_, password)| password).trim_start_matches('\\')
}

/// Removes user and password from a URL without a scheme, as in `curl USER:PASSWORD@HOST/PATH`.
///
/// Only a colon before the `@` indicates a password: `NAME@HOST` may be an e-mail address,
/// `USER@HOST:PATH` is the syntax of `scp`, and both may be file names. A `/` before the colon
/// means a path: `./a:b@c` is a file.
fn without_bare_user(word: &str, is_secret_value: fn(&str) -> bool) -> String {
    match user_range(word).filter(|user| is_secret_value(secret_of_user(&word[user.clone()]))) {
        Some(user) => format!("{}{REDACTED}{}", &word[..user.start], &word[user.end..]),
        None => word.to_owned(),
    }
}

/// The range of `USER:PASSWORD` in a URL without a scheme; `None` if the word is not such a URL.
fn user_range(word: &str) -> Option<Range<usize>> {
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let (user, host) = authority.rsplit_once('@')?;
    let (before, password) = user.split_once(':')?;
    // The URL may be the value of an option, or of a parameter of a command.
    let from = before.rfind(['=', ',']).map_or(0, |at| at + 1);
    let name = &before[from..];
    // `${NAME:-me@host}` is a shell variable with a default value.
    let is_user = !SCHEMES_WITHOUT_USERS.contains(&name) && (!name.contains('{') || name.contains('}'));
    (is_user && !password.is_empty() && begins_with_host(host)).then_some(from..user.len())
}

/// True if the text begins with a host, with an optional port, and then ends or has a shell
/// operator.
fn begins_with_host(text: &str) -> bool {
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
    let ends = rest.is_empty() || rest.starts_with(|c: char| SHELL_OPERATORS.contains(c));
    !host.is_empty() && is_port && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_parameter_names_are_recognised_in_every_spelling() {
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
            assert!(has_secret(query, |_| true), "{query}");
        }
    }

    #[test]
    fn harmless_parameter_names_are_not_secrets_whatever_their_values() {
        for query in
            ["", "versionId=token", "x-id=GetObject", "page=2&sort=sig", "%50age=1", "download=true&"]
        {
            assert!(!has_secret(query, |_| true), "{query}");
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
            assert_eq!(redact_command(text), shown);
            assert_eq!(redact_command(shown), shown);
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
            assert_eq!(redact_command(harmless), harmless);
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
            assert_eq!(redact_command(text), shown);
        }
        for harmless in [
            "curl h.org/o?page=2",
            "curl \"h.org/o?key=$KEY\"",
            "ls a/b?c=d ../x.y/b?c=d /h.org/o?key=s",
            "sed 's/a.b/c?d=e/'",
            "grep 'x?a=b' f.txt?",
            "cat h.org/o?",
        ] {
            assert_eq!(redact_command(harmless), harmless);
        }
    }

    #[test]
    fn urls_within_a_text_are_shown_without_secrets() {
        let text = "curl -s 'https://h/o?a=1&sig=s' \"http://u:p@h/\" --url=https://h/o?page=b | wc";
        assert_eq!(
            redact_command(text),
            "curl -s 'https://h/o?…' \"http://…@h/\" --url=https://h/o?page=b | wc"
        );
        assert_eq!(redact_command("é://u:p@h?sig=s https://h"), "é://…@h?… https://h");
        for harmless in [
            "readlab race /f?token=a",
            "curl 'https://h/o?token=$TOKEN&page=2'",
            "curl https://$USER:$PASSWORD@h/",
            "git fetch ssh://git@h/o",
            "://",
        ] {
            assert_eq!(redact_command(harmless), harmless);
        }
    }
}
