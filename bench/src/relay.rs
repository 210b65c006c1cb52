//! The program `readlab-relay`, between the lab and a contender. After each of the lab's turns it
//! requests one more reading, so that two readings of one process are next to each other. The
//! figure `languages` starts it from a roster.
//!
//! Usage: `readlab-relay NOTES CONTENDER PROGRAM [ARGUMENT…]`, followed by the lab's arguments. All
//! messages are passed on unchanged, except the contender's name, which becomes the roster's. NOTES
//! gets a line for each pair: the wall times in nanoseconds by the contender's own clock, the lab's
//! first.

use anyhow::{Context, bail};
use readlab_protocol::Message;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

/// The lab's name of a contender behind this program.
const NAME: &str = "relayed";
/// Between the end of a turn and the next, so that both find the processor as idle.
const PAUSE: Duration = Duration::from_millis(20);
const BY_HAND: &str = "go 0 1";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("readlab-relay: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> anyhow::Result<()> {
    let [notes, contender, program, words @ ..] = words else {
        bail!("usage: readlab-relay NOTES CONTENDER PROGRAM [ARGUMENT…]");
    };
    let mut command = Command::new(program);
    let mut child =
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context(program.clone())?;
    if let Some(relay) = Relay::connect(&mut child, contender)? {
        relay.take_turns(notes)?;
    }
    let status = child.wait().context("waiting for the contender")?;
    anyhow::ensure!(status.success(), "the contender ended with {status}");
    Ok(())
}

/// The two ends of a contender's conversation.
struct Relay {
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Relay {
    /// The conversation until turns are taken; nothing where it ends without any.
    fn connect(child: &mut Child, contender: &str) -> anyhow::Result<Option<Relay>> {
        let to = child.stdin.take().context("it was piped")?;
        let mut from = BufReader::new(child.stdout.take().context("it was piped")?).lines();
        let (theirs, ours) = (format!("\"contender\":\"{contender}\""), format!("\"contender\":\"{NAME}\""));
        while let Some(line) = from.next().transpose()? {
            println!("{}", line.replacen(&theirs, &ours, 1));
            if matches!(Message::parse(&line)?, Message::Ready { .. }) {
                return Ok(Some(Relay { to, from }));
            }
        }
        Ok(None)
    }

    /// Relays the lab's turns, each followed by a turn of its own, until the lab has no more or the
    /// contender ends.
    fn take_turns(mut self, notes: &str) -> anyhow::Result<()> {
        for line in io::stdin().lines() {
            let Some(lab_ns) = self.turn(&line?, true)? else { break };
            thread::sleep(PAUSE);
            let Some(own_ns) = self.turn(BY_HAND, false)? else { break };
            let mut file = File::options().create(true).append(true).open(notes).context(notes.to_owned())?;
            writeln!(file, "{lab_ns} {own_ns}").context(notes.to_owned())?;
            thread::sleep(PAUSE);
        }
        drop(self.to);
        for line in self.from {
            println!("{}", line?);
        }
        Ok(())
    }

    /// One turn; the wall time of its last reading, or nothing if the contender has ended.
    fn turn(&mut self, request: &str, passed_on: bool) -> anyhow::Result<Option<u64>> {
        writeln!(self.to, "{request}").context("the contender's input")?;
        let mut wall_ns = None;
        while let Some(line) = self.from.next().transpose()? {
            if passed_on {
                println!("{line}");
            }
            match Message::parse(&line)? {
                Message::Sample(sample) => wall_ns = Some(sample.wall_ns),
                Message::Done { .. } => return Ok(wall_ns),
                _ => {}
            }
        }
        Ok(None)
    }
}
