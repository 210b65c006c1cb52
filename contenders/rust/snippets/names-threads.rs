use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::thread;

const THREADS: usize = 4; // = threads

/// The folders that wait for a thread, and the number of folders that wait or are being listed.
type FoldersLeft = (Vec<PathBuf>, usize);

/// Counts the names below a folder. Each thread lists one folder after the other until none is left.
/// Links are not followed.
pub fn total(folder: &Path) -> io::Result<u64> {
    let (left, changed) = (Mutex::new((vec![folder.to_owned()], 1)), Condvar::new());
    let work = || -> io::Result<u64> {
        let mut total = 0;
        while let Some(folder) = next_folder(&left, &changed) {
            let mut found = Vec::new();
            let added = count_folder(&folder, &mut found);
            let mut left = left.lock().expect("no thread panics");
            // After an error, the other threads end, too.
            left.1 = if added.is_ok() { (left.1 + found.len()).saturating_sub(1) } else { 0 };
            left.0.append(&mut found);
            changed.notify_all();
            drop(left);
            total += added?;
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    })
}

fn next_folder(left: &Mutex<FoldersLeft>, changed: &Condvar) -> Option<PathBuf> {
    let left = left.lock().expect("no thread panics");
    let mut left = changed.wait_while(left, |(waiting, open)| waiting.is_empty() && *open > 0).ok()?;
    if left.1 == 0 { None } else { left.0.pop() }
}

fn count_folder(folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        total += 1;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(total)
}
