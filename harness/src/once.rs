//! Runs a benchmark under `cargo test`: each reader reads the file once, and readers with the same
//! work must give the same answer.

use crate::options::Options;
use crate::{DeclaredReader, Harness, UsageError, Work};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Reads the file once by each reader. Returns 1 if a reader fails or its answer differs.
pub(crate) fn check(harness: &Harness, options: &Options) -> Result<ExitCode, UsageError> {
    let file = harness.readable()?;
    let mut answers = BTreeMap::<Work, (&DeclaredReader, u64)>::new();
    let mut all_agree = true;
    for declared in harness.matching(options.filter.as_deref())? {
        let line = match (declared.read)(&file) {
            Err(cause) => format!("failed: {cause}"),
            Ok(answer) => match *answers.entry(declared.work).or_insert((declared, answer)) {
                (_, first) if first == answer => {
                    println!("{}/{}: {answer} {}", harness.name, declared.name, declared.work);
                    continue;
                }
                (other, first) => {
                    format!("answers {answer} {}; {} answers {first}", declared.work, other.name)
                }
            },
        };
        eprintln!("{}/{}: {line}", harness.name, declared.name);
        all_agree = false;
    }
    Ok(if all_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
