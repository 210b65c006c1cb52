//! Counts the objects of JSON-lines files: `cargo run --release --example json_lines -- FILE…`.
//!
//! A line may be cut between two pieces: the rest of a piece is kept until its line is complete.

use readlab_auto::Auto;
use std::error::Error;

/// Counts the objects in complete lines, and keeps the line whose end has not been read yet.
#[derive(Default)]
struct Objects {
    count: u64,
    unfinished: Vec<u8>,
}

impl Objects {
    fn take(&mut self, bytes: &[u8]) {
        let Some(end) = memchr::memrchr(b'\n', bytes) else {
            return self.unfinished.extend_from_slice(bytes);
        };
        let (whole, rest) = bytes.split_at(end);
        let mut lines = whole.split(|&byte| byte == b'\n');
        self.unfinished.extend_from_slice(lines.next().unwrap_or_default());
        self.count +=
            u64::from(is_object(&self.unfinished)) + lines.filter(|line| is_object(line)).count() as u64;
        self.unfinished.clear();
        self.unfinished.extend_from_slice(&rest[1..]);
    }

    fn finish(self) -> u64 {
        self.count + u64::from(is_object(&self.unfinished))
    }
}

/// Whether a line looks like an object. The content of the object is not checked.
fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && line.ends_with(b"}")
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let mut objects = Objects::default();
        Auto::open(&path)?.for_each(|_offset, bytes| objects.take(bytes))?;
        println!("{}\t{}", objects.finish(), path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_be_cut_anywhere() {
        let text = b"{\"a\":1}\n\n [1] \n{\"b\":{}}\r\n{}";
        for cut in 0..=text.len() {
            let mut objects = Objects::default();
            objects.take(&text[..cut]);
            objects.take(&text[cut..]);
            assert_eq!(objects.finish(), 3, "cut at {cut}");
        }
    }
}
