//! A program that inherits the environment and all open descriptors of this process, because the
//! launcher of an MPI job may have passed something to this process through them. The lab exchanges
//! bytes with the program, with a deadline. Contenders are started by [`super::launcher`] and inherit
//! neither environment nor descriptors.

use super::CommandLine;
use crate::descriptor::becomes_readable;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// How long the program may take to end after it was asked to end.
const END_LIMIT: Duration = Duration::from_secs(10);

const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// A running program, killed when it is dropped.
#[derive(Debug)]
pub struct InheritingProgram {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl InheritingProgram {
    pub fn start(line: &CommandLine) -> io::Result<InheritingProgram> {
        let mut process = line.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (input, output) = input.zip(output).expect("both were asked for");
        Ok(InheritingProgram { process, input, output })
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.write_all(bytes)
    }

    /// Fills a buffer from the program's standard output. A user's request to stop does not end the
    /// wait.
    pub fn read(&mut self, mut into: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !into.is_empty() {
            if !becomes_readable(&self.output, deadline)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.output.read(into)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => into = &mut into[count..],
            }
        }
        Ok(())
    }

    /// Waits for a limited time until the program ends, after it was asked to.
    pub fn await_end(&mut self) {
        let end = Instant::now() + END_LIMIT;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }
}

impl Drop for InheritingProgram {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            // If the kill fails, the program has ended meanwhile.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> InheritingProgram {
        let args = vec!["-c".into(), script.into()];
        InheritingProgram::start(&CommandLine { program: "sh".into(), args, ..CommandLine::default() })
            .unwrap()
    }

    #[test]
    fn bytes_are_returned_and_a_timeout_differs_from_the_end_of_output() {
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
