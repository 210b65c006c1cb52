//! Parts of a file: the first pages, the rest, the end and what is behind it.

use super::check::{Check, ReadWords, TURN, after_a_turn, visits};
use super::stage::{Case, Stage, text};
use readlab_protocol::{MethodLine, Part};
use readlab_roster::session::Session;
use readlab_system::memory::page_bytes;
use readlab_targets::corpus::oracle;
use std::fs;
use std::io;
use std::sync::Arc;

/// Each part and each visit at least once.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let visits = visits(method);
    let cases = cases(stage)?;
    let count = if visits.is_empty() { 0 } else { visits.len().max(cases.len()) };
    let checks = (0..count).map(|at| {
        let visit = &visits[at % visits.len()];
        let (part, case) = cases[at % cases.len()].clone();
        let words = ReadWords::new(method, visit).on(case.path.as_os_str()).with(part.words());
        let (method, work) = (method.clone(), visit.work);
        Check::new(move |stage| {
            let read = after_a_turn(stage, &words, &method, work, &case).and_then(Session::exit);
            read.map(|()| TURN.count).map_err(|error| words.fault(stage, &case.name, error))
        })
    });
    Ok(checks.collect())
}

/// Parts of a file of sixteen pages and a byte, each with its right answer.
fn cases(stage: &Stage) -> io::Result<Vec<(Part, Arc<Case>)>> {
    let page = usize::try_from(page_bytes()).map_err(io::Error::other)?;
    let content = text(16 * page as u64 + 1);
    let name = "sixteen-pages-and-a-byte";
    let path = stage.new_folder()?.join(name);
    fs::write(&path, &content)?;
    let within = |bytes: usize| bytes.min(content.len());
    let case = |(start, length): (usize, usize)| {
        let read = &content[within(start)..within(start + length)];
        let truth = oracle::truth_of(|| Ok(read), &|_| Ok(()))?;
        let part = Part { start_bytes: start as u64, length_bytes: length as u64 };
        Ok((part, Arc::new(Case { name: name.to_owned(), path: path.clone(), truth })))
    };
    let parts = [
        (0, 2 * page),
        (2 * page, 14 * page + 1),
        (15 * page, page),
        (15 * page, 25 * page),
        (32 * page, page),
        (page, 0),
    ];
    parts.into_iter().map(case).collect()
}
