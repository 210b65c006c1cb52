//! Any command line as a contender of readlab: timed from spawn to exit, its answer read from its
//! output.
//!
//! This contender is a process between the lab and the command. So the kernel accounts for the
//! command alone, and a command is measured and checked like any other method. Its methods are all
//! command lines; one of them, `true`, is a control: a command that does nothing shows what
//! starting one costs.

mod answer;
mod checker;
mod counted;
mod execution;
mod output;
mod programs;
mod scheduling;
mod template;

use checker::Checker;
use counted::Counted;
use output::Output;
use readlab_protocol::serve::{self, Contender, Reader, Refusal, Request};
use readlab_protocol::{Cache, MethodLine, Reads, SampleLine, TurnRequest};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use template::Template;

/// The method that is a control.
const NOTHING: &str = "true {}";

/// Runs one session with the lab. `words` are the arguments after the contender's name.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    serve::main(&Commands, words)
}

/// The contender.
struct Commands;

/// One command on one target.
struct Execution {
    words: Vec<OsString>,
    target: OsString,
    work: String,
    counted: Option<Counted>,
    is_control: bool,
}

impl Contender for Commands {
    fn name(&self) -> &'static str {
        "command"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        "fork and exec, output drained through a pipe; /bin/sh only for lines that need it".to_owned()
    }

    fn methods(&self) -> Vec<MethodLine> {
        let every_work = ["newlines", "lines", "sum", "discard", "output"]
            .map(|work| (work.to_owned(), vec!["-".to_owned()]));
        let method = |name: &str, about: &str, cache| MethodLine {
            method: name.to_owned(),
            scans: BTreeMap::from(every_work.clone()),
            params: Vec::new(),
            about: about.to_owned(),
            cache,
            reads: Reads::Both,
            decodes: Vec::new(),
            // A command that does nothing is as good for a part as for the whole.
            parts: name == NOTHING,
            tls: true,
            unavailable: None,
        };
        vec![
            method(NOTHING, "a command that does nothing: the cost of starting one", Cache::None),
            method(
                "*",
                "any command line with {} for the path or URL; the first number it prints is its answer",
                Cache::Through,
            ),
        ]
    }

    fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
        if let Some((name, _)) = request.settings.first() {
            return Err(Refusal::Failed(format!("a command has no setting '{name}'")));
        }
        let template = Template::parse(request.method).map_err(|error| Refusal::Failed(error.to_string()))?;
        if let Some(reason) = programs::missing(template.programs()) {
            return Err(Refusal::Unavailable(reason));
        }
        let (words, work) = (template.command(request.target), request.work.to_owned());
        let target = request.target.to_owned();
        let (counted, is_control) = (template.counted(), request.method == NOTHING);
        Ok(Box::new(Execution { words, target, work, counted, is_control }))
    }
}

impl Reader for Execution {
    fn params(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.once()?;
        }
        (0..request.count).map(|_| self.once()).collect()
    }
}

impl Execution {
    fn once(&self) -> Result<SampleLine, Refusal> {
        let mut output = self.output()?;
        let sample = execution::execute(&self.words, &mut output)?;
        if self.is_control {
            return Ok(sample);
        }
        output.checked().map_err(Refusal::Failed)?;
        answer::answered(sample, &output, &self.work, self.counted).map_err(Refusal::Failed)
    }

    /// What takes the output of a reading.
    fn output(&self) -> Result<Output, Refusal> {
        if self.work != "output" {
            return Ok(Output::default());
        }
        let checker = Checker::of_environment(&self.target).transpose();
        Ok(Output::as_answer(checker.map_err(Refusal::Failed)?))
    }
}
