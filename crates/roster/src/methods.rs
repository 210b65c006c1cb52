//! The methods of a contender, and the method that the name of a trial selects.

use readlab_catalog::roster::Warmup;
use readlab_model::trial::{MethodId, Params, TrialError, Work};
use readlab_protocol::MethodLine;
use readlab_record::Receipt;
use readlab_system::program::CommandLine;
use readlab_targets::target::source::ReadRequest;
use std::ffi::OsString;

#[derive(Debug, Clone)]
pub struct Contender {
    pub(super) command: CommandLine,
    pub receipt: Receipt,
    /// The contender's methods, in its own order.
    pub methods: Vec<MethodLine>,
    /// How the contender warms up before its timed readings.
    pub warmup: Warmup,
    /// True if the contender collects garbage after the last reading of a turn, before it answers.
    pub collects_garbage: bool,
}

/// The method that the name of a trial selects, with a definite scan, and with parameters that have
/// full names and are within their bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedMethod {
    /// The contender, the method, and the scan that is used.
    pub id: MethodId,
    pub params: Params,
    /// The contender's description of the method.
    pub method: MethodLine,
}

/// The method name that matches every name; the contender `command` offers it.
const ANY_METHOD: &str = "*";

/// The word of the protocol for "no scan".
const NO_SCAN: &str = "-";

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("{contender} has no method '{method}' (it has: {known})")]
    UnknownMethod { contender: String, method: String, known: String },
    #[error("{method}: no scan '{scan}' for {work} here (there are: {known})")]
    NoScan { method: String, scan: String, work: Work, known: String },
    #[error("{method} has no scans to choose from for {work}: name it without '/{scan}'")]
    NoScanChoice { method: String, scan: String, work: Work },
    #[error("{method}: no {work} here (it does: {known})")]
    NoWork { method: String, work: Work, known: String },
    #[error("no contender '{0}' in the roster")]
    NoContender(String),
    #[error("{0}")]
    Unavailable(String),
    #[error(transparent)]
    Params(#[from] TrialError),
}

impl Contender {
    /// Finds the method of this name, with the best scan for the work if the name contains no scan.
    pub fn resolve(
        &self,
        id: &MethodId,
        params: &Params,
        work: Work,
    ) -> Result<ResolvedMethod, ResolveError> {
        let named = |name: &str| self.methods.iter().find(|method| method.method == name);
        let method = named(&id.method)
            .or_else(|| named(ANY_METHOD))
            .ok_or_else(|| self.unknown_method_error(&id.method))?;
        if let Some(reason) = &method.unavailable {
            return Err(ResolveError::Unavailable(reason.clone()));
        }
        let offered = method.scans.get(work.word()).map_or(&[][..], Vec::as_slice);
        let fits = |scan: &&String| id.scan.as_ref().is_none_or(|requested| requested == *scan);
        let scan = offered.iter().find(fits).ok_or_else(|| no_scan_error(id, method, work))?;
        let scan = (scan != NO_SCAN).then(|| scan.clone());
        let id = MethodId { scan, ..id.clone() };
        Ok(ResolvedMethod { id, params: params.resolve(method)?, method: method.clone() })
    }

    fn unknown_method_error(&self, method: &str) -> ResolveError {
        let known: Vec<&str> = self.methods.iter().map(|method| method.method.as_str()).collect();
        ResolveError::UnknownMethod {
            contender: self.receipt.contender.clone(),
            method: method.to_owned(),
            known: known.join(", "),
        }
    }

    /// The command that starts the contender with these words after its own. A verification passes
    /// invalid words, too.
    pub fn command_with(&self, words: impl IntoIterator<Item = OsString>) -> CommandLine {
        let mut command = self.command.clone();
        command.args.extend(words);
        command
    }

    pub fn read_command(&self, choice: &ResolvedMethod, work: Work, request: &ReadRequest) -> CommandLine {
        let mut command = self.command.clone();
        let scan = choice.id.scan.as_deref().unwrap_or(NO_SCAN);
        command.args.extend(["read", &choice.id.method, scan, work.word()].map(OsString::from));
        command.args.push(request.word.clone());
        command.args.extend(choice.params.0.iter().map(|(name, value)| format!("{name}={value}").into()));
        command.env_removed.extend(request.env_removed.iter().cloned());
        command.env.extend(request.env.iter().cloned());
        command
    }
}

fn no_scan_error(id: &MethodId, line: &MethodLine, work: Work) -> ResolveError {
    let method = format!("{}/{}", id.contender, id.method);
    let offered = line.scans.get(work.word()).map_or(&[][..], Vec::as_slice);
    if let (Some(scan), [_, ..]) = (&id.scan, offered) {
        if offered == [NO_SCAN] {
            return ResolveError::NoScanChoice { method, scan: scan.clone(), work };
        }
        let known = offered.join(", ");
        return ResolveError::NoScan { method, scan: scan.clone(), work, known };
    }
    let done = line.scans.iter().filter(|(_, scans)| !scans.is_empty());
    let described = |(work, scans): (&String, &Vec<String>)| match scans.as_slice() {
        [only] if only == NO_SCAN => work.clone(),
        scans => format!("{work} with {}", scans.join(", ")),
    };
    let known: Vec<String> = done.map(described).collect();
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join("; ") };
    ResolveError::NoWork { method, work, known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contender_with_scans(scans: &[(&str, &[&str])]) -> Contender {
        let listed = |(work, scans): &(&str, &[&str])| {
            ((*work).to_owned(), scans.iter().map(|scan| (*scan).to_owned()).collect())
        };
        let method = MethodLine { scans: scans.iter().map(listed).collect(), ..MethodLine::plain("m", "") };
        let command = CommandLine { program: "x".into(), ..CommandLine::default() };
        let receipt =
            Receipt { contender: "x".into(), version: "1".into(), runtime: String::new(), language: None };
        Contender {
            command,
            receipt,
            methods: vec![method],
            warmup: Warmup::default(),
            collects_garbage: false,
        }
    }

    #[test]
    fn an_unknown_scan_or_work_is_reported_with_those_that_exist() {
        let contender =
            contender_with_scans(&[("newlines", &["avx2", "scalar"]), ("lines", &["-"]), ("sum", &[])]);
        let why = |name: &str, work| {
            let id: readlab_model::trial::TrialId = name.parse().unwrap();
            contender.resolve(&id.method, &id.params, work).unwrap_err().to_string()
        };
        assert_eq!(
            why("x/m/simd", Work::Newlines),
            "x/m: no scan 'simd' for newlines here (there are: avx2, scalar)"
        );
        let nothing = "x/m: no discard here (it does: lines; newlines with avx2, scalar)";
        assert_eq!(why("x/m", Work::Discard), nothing);
        assert_eq!(why("x/m/avx2", Work::Discard), nothing);
        assert_eq!(
            why("x/m/avx2", Work::Lines),
            "x/m has no scans to choose from for lines: name it without '/avx2'"
        );
    }
}
