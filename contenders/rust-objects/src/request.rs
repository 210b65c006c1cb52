//! A request of the lab: the method, the work, the target and every parameter in force.

use crate::environment;
use crate::failure::Failure;
use crate::method::{self, Method, Reads};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What is done with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Newlines,
    Lines,
    Sum,
    Discard,
}

pub(crate) struct Request {
    pub(crate) method: &'static Method,
    pub(crate) work: Work,
    /// An object or a URL, with its query.
    pub(crate) target: String,
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
        let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        let words = words.ok_or_else(|| Failure::new("read: a word is not UTF-8"))?;
        let [name, scan, work, target, settings @ ..] = words.as_slice() else {
            return Err(Failure::new("read: expected METHOD SCAN WORK TARGET [name=value …]"));
        };
        let method = method::ALL.iter().find(|method| method.name == *name);
        let method = method.ok_or_else(|| Failure::new(format!("there is no method {name:?}")))?;
        let offered = |found: &Work| found.word() == *work && method.does(*found);
        let work = Work::ALL.into_iter().find(offered);
        let work = work.ok_or_else(|| Failure::new(format!("{name} does not do this work")))?;
        if *scan != "-" {
            return Err(Failure::new(format!("{name} has no scan {scan:?}")));
        }
        let mut params: BTreeMap<_, _> =
            method.params.iter().map(|param| (param.name, param.default)).collect();
        for word in settings {
            let (name, value) = method.setting(word)?;
            params.insert(name, value);
        }
        Ok(Request { method, work, target: environment::target(target)?, params })
    }

    /// The target for messages: a query is a secret. In the key of an object, `?` is like any other.
    pub(crate) fn shown(&self) -> &str {
        match self.method.reads {
            Reads::Object => &self.target,
            Reads::Url => self.target.split('?').next().unwrap_or_default(),
        }
    }

    /// The value of a parameter that the method lists.
    pub(crate) fn param(&self, param: &method::Param) -> u64 {
        self.params[param.name]
    }

    pub(crate) fn count(&self, param: &method::Param) -> usize {
        usize::try_from(self.param(param)).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_on(&self, param: &method::Param) -> bool {
        self.param(param) != 0
    }
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
        let request = parse("ranged - sum s3://b/k?x concurrency=3").unwrap();
        assert_eq!((request.params["concurrency"], request.params["part_bytes"]), (3, 8 << 20));
        assert_eq!(request.shown(), "s3://b/k?x");
        assert_eq!(parse("reqwest - sum https://h/o?secret").unwrap().shown(), "https://h/o");
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        for words in [
            "ranged - sum",
            "fetch - sum s3://b/k",
            "ranged - lines s3://b/k",
            "ranged x sum s3://b/k",
            "get - sum s3://b/k depth=1",
            "ranged - sum s3://b/k concurrency=0",
            "ranged - sum s3://b/k concurrency=x",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }
}
