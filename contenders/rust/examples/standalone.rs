//! Reads a file N times in a plain loop and prints the nanoseconds of each reading: the same loop
//! that the lab measures, without the lab.
//!
//! Usage: `standalone METHOD SCAN WORK FILE N [name=value …]`

use readlab_rust::{Reading, heap};
use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    heap::return_large_blocks();
    match run(&std::env::args_os().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standalone: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[OsString]) -> Result<(), Box<dyn Error>> {
    let [method, scan, work, file, count, settings @ ..] = words else {
        return Err("usage: standalone METHOD SCAN WORK FILE N [name=value …]".into());
    };
    let settings: Vec<(&str, u64)> = settings.iter().map(setting).collect::<Result<_, _>>()?;
    let mut reading =
        Reading::new(text(method)?, text(scan)?, text(work)?.parse()?, file.as_ref(), settings)?;
    reading.prepare()?;
    let samples: Result<Vec<_>, _> = (0..text(count)?.parse::<u32>()?).map(|_| reading.sample()).collect();
    for sample in samples? {
        println!("{}", sample.wall_ns);
    }
    Ok(())
}

fn setting(word: &OsString) -> Result<(&str, u64), Box<dyn Error>> {
    let (name, value) = text(word)?.split_once('=').ok_or_else(|| format!("{word:?} is no name=integer"))?;
    Ok((name, value.parse()?))
}

fn text(word: &OsString) -> Result<&str, Box<dyn Error>> {
    word.to_str().ok_or_else(|| format!("{word:?} is no UTF-8").into())
}
