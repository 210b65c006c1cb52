//! A program that inherits everything from this process, its environment and open descriptors
//! among it, and is spoken to in bytes with a deadline: what a launcher gave to this process by
//! them, the program is to have. Contenders are started by [`super::launcher`] and get neither.

use super::CommandLine;
use crate::descriptor::is_readable;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(10);

const LOOK: Duration = Duration::from_millis(5);

/// A running program, killed when it is dropped.
#[derive(Debug)]
pub struct Inheriting {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Inheriting {
    pub fn start(line: &CommandLine) -> io::Result<Inheriting> {
        let mut process = line.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (input, output) = input.zip(output).expect("both were asked for");
        Ok(Inheriting { process, input, output })
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.write_all(bytes)
    }

    /// Fills a buffer from its standard output. A wish of the user to stop does not end it.
    pub fn read(&mut self, mut into: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !into.is_empty() {
            if !is_readable(&self.output, deadline)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.output.read(into)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => into = &mut into[count..],
            }
        }
        Ok(())
    }

    /// Waits a while for its end, after it was told to end.
    pub fn await_end(&mut self) {
        let end = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Inheriting {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            // It has ended meanwhile if it cannot be killed.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Inheriting {
        let args = vec!["-c".into(), script.into()];
        Inheriting::start(&CommandLine { program: "sh".into(), args, ..CommandLine::default() }).unwrap()
    }

    #[test]
    fn bytes_come_back_and_silence_and_an_end_are_told_apart() {
        let mut cat = shell("exec cat");
        cat.write(b"hello").unwrap();
        let (mut into, later) = ([0; 5], Instant::now() + Duration::from_secs(20));
        cat.read(&mut into, later).unwrap();
        assert_eq!(&into, b"hello");
        assert_eq!(cat.read(&mut into, Instant::now()).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let mut ends = shell("printf he");
        assert_eq!(ends.read(&mut into, later).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        ends.await_end();
    }
}
