//! A request of the lab: the method, the work, the file and every parameter in force.

use crate::failure::Failure;
use crate::method::{self, Method, Param};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What is done with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Newlines,
    Lines,
    Sum,
    Discard,
}

pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) work: Work,
    /// Any bytes.
    pub(crate) path: PathBuf,
    pub(crate) params: BTreeMap<&'static str, u64>,
}

impl Work {
    pub(crate) const ALL: [Work; 4] = [Work::Newlines, Work::Lines, Work::Sum, Work::Discard];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Work::Newlines => "newlines",
            Work::Lines => "lines",
            Work::Sum => "sum",
            Work::Discard => "discard",
        }
    }
}

impl Request {
    /// Reads METHOD SCAN WORK TARGET [name=value …] and checks it against the method.
    pub(crate) fn parse(words: &[OsString]) -> Result<Request, Failure> {
        let [name, scan, work, path, settings @ ..] = words else {
            return Err(Failure::new("read: expected METHOD SCAN WORK TARGET [name=value …]"));
        };
        let [name, scan, work] = [utf8(name)?, utf8(scan)?, utf8(work)?];
        let method = method::all().into_iter().find(|method| method.name == name);
        let method = method.ok_or_else(|| Failure::new(format!("there is no method {name:?}")))?;
        let work = method.works.iter().copied().find(|offered| offered.word() == work);
        let work = work.ok_or_else(|| Failure::new(format!("{name} does not do this work")))?;
        if scan != "-" {
            return Err(Failure::new(format!("{name} has no scan {scan:?}")));
        }
        let mut params: BTreeMap<_, _> =
            method.params.iter().map(|param| (param.name, param.default)).collect();
        for word in settings {
            let (name, value) = method.setting(utf8(word)?)?;
            params.insert(name, value);
        }
        Ok(Request { method, work, path: path.into(), params })
    }

    /// The value of a parameter that the method lists, which counts things in memory.
    pub(crate) fn size(&self, param: &Param) -> usize {
        usize::try_from(self.params[param.name]).unwrap_or(usize::MAX)
    }
}

fn utf8(word: &OsStr) -> Result<&str, Failure> {
    word.to_str().ok_or_else(|| Failure::new("read: a word is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Request, String> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        Request::parse(&words).map_err(|why| why.line())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let request = parse("tokio-fs - sum f max_buf_bytes=3").unwrap();
        assert_eq!((request.params["max_buf_bytes"], request.params["buffer_bytes"]), (3, 2 << 20));
        assert_eq!((request.work, request.path), (Work::Sum, PathBuf::from("f")));
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        for words in [
            "tokio-fs - sum",
            "fetch - sum f",
            "rayon - lines f",
            "tokio-fs x sum f",
            "csv - sum f",
            "monoio - sum f depth=1",
            "monoio - sum f buffer_bytes=0",
            "monoio - sum f buffer_bytes=x",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }
}
