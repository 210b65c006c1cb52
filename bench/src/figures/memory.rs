//! Figure: a file of 2 GiB through every method of every contender in a control group of 256 MiB. A
//! method may fail with a reason if it needs more memory. A wrong number, or a lab that is killed
//! too, is an error.

use crate::outcomes;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab::record::Record;
use readlab::trial::CacheState;
use readlab::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const ABOUT: &str =
    "memory: 2 GiB through every method within 256 MiB; answers checked; needs root and control groups";

const FILE: Bytes = Bytes(2 << 30);
const LIMIT: Bytes = Bytes(256 << 20);
const ONCE: [&str; 12] =
    ["--method", "*", "--work", "discard", "--warmup", "0", "--runs", "1", "--fills", "1", "--budget", "20m"];
/// Where groups limit memory, and the file that does: the older hierarchy and the newer.
const PLACES: [(&str, &str); 2] =
    [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    Ok(vec![outcomes::row(format!("{FILE} within {LIMIT}"), race(programs, &file))])
}

fn race(programs: &Programs, file: &Path) -> anyhow::Result<Record> {
    let group = Group::with(LIMIT)?;
    let race = Race { name: "memory", trials: &[], file, state: Some(CacheState::Cold), options: &ONCE };
    let running = programs.start(&race)?;
    // At its very start: whatever it starts is born in the group.
    group.take(running.id())?;
    running.record()
}

/// A control group with a limit of memory; removed when dropped.
struct Group(PathBuf);

impl Group {
    fn with(limit: Bytes) -> anyhow::Result<Group> {
        let there = |(root, _): &&(&str, &str)| {
            let unified = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
            root.ends_with("memory") && Path::new(root).exists()
                || unified.is_ok_and(|controllers| controllers.contains("memory"))
        };
        let (root, file) = PLACES.iter().find(there).context("no control group limits memory here")?;
        let folder = Path::new(root).join(format!("readlab-bench-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let group = Group(folder);
        fs::write(group.0.join(file), limit.0.to_string()).with_context(|| group.0.display().to_string())?;
        Ok(group)
    }

    fn take(&self, process: u32) -> anyhow::Result<()> {
        let file = self.0.join("cgroup.procs");
        fs::write(&file, process.to_string()).with_context(|| file.display().to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}
