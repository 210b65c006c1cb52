//! Makes any command line a contender of readlab. The command is timed from spawn to exit, and its
//! answer is read from its output.
//!
//! This contender is a process between the lab and the command. So the kernel accounts for the
//! command alone, and a command is measured and checked like any other method. All its methods are
//! command lines. One of them, `true`, is a control: a command that does nothing shows the cost of
//! starting one.

mod answer;
mod checker;
mod counted;
mod execution;
mod hiding;
mod output;
mod programs;
mod relay;
mod scheduling;
mod secrets;
mod template;

use checker::Checker;
use counted::CountedUnit;
use output::Output;
use readlab_protocol::serve::{self, Contender, Reader, Refusal, Request};
use readlab_protocol::{Cache, MethodLine, Reads, SampleLine, TurnRequest};
use secrets::Secrets;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use template::Template;

const CONTROL_METHOD: &str = "true {}";

/// Runs one session with the lab. `words` are the arguments after the contender's name.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    serve::main(&Commands, words)
}

/// The contender whose methods are command lines.
struct Commands;

struct Execution {
    words: Vec<OsString>,
    target: OsString,
    secrets: Secrets,
    work: String,
    counted: Option<CountedUnit>,
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
        let every_work = ["newlines", "lines", "sum", "discard", "names", "stat", "output"]
            .map(|work| (work.to_owned(), vec!["-".to_owned()]));
        let method = |name: &str, about: &str, cache| MethodLine {
            scans: BTreeMap::from(every_work.clone()),
            cache,
            reads: Reads::Both,
            // A command that does nothing suits a part as well as the whole target.
            parts: name == CONTROL_METHOD,
            tls: true,
            ..MethodLine::plain(name, about)
        };
        vec![
            method(CONTROL_METHOD, "a command that does nothing: the cost of starting one", Cache::None),
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
        let secrets = Secrets::from_session(request.target);
        let is_control = request.method == CONTROL_METHOD;
        // The control reads nothing, so it needs no real target.
        let target = if is_control { request.target.to_owned() } else { secrets.target(request.target)? };
        template::check_names(request.method, &target)
            .map_err(|error| secrets.without_secrets(Refusal::Failed(error.to_string())))?;
        let (words, work) = (template.command(&target), request.work.to_owned());
        Ok(Box::new(Execution { words, target, secrets, work, counted: template.counted(), is_control }))
    }
}

impl Reader for Execution {
    fn params(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        let samples = self.readings(request);
        samples.map_err(|refusal| self.secrets.without_secrets(refusal))
    }
}

impl Execution {
    fn readings(&self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.read_once()?;
        }
        (0..request.count).map(|_| self.read_once()).collect()
    }

    fn read_once(&self) -> Result<SampleLine, Refusal> {
        let mut output = self.output()?;
        let sample = execution::execute(&self.words, &self.secrets, &mut output)?;
        if self.is_control {
            return Ok(sample);
        }
        output.checked().map_err(Refusal::Failed)?;
        let hiding = self.secrets.hiding();
        answer::sample_with_answer(sample, &output, &self.work, self.counted, hiding).map_err(Refusal::Failed)
    }

    /// The consumer for the output of a reading.
    fn output(&self) -> Result<Output, Refusal> {
        if self.work != "output" {
            return Ok(Output::default());
        }
        let checker = Checker::from_environment(&self.target, &self.secrets).transpose();
        Ok(Output::as_answer(checker.map_err(Refusal::Failed)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://h/o?X-Amz-Signature=0123456789abcdef";

    /// The reason why a command for the secret URL has no answer.
    fn failure(line: &str) -> String {
        let shared = ("READLAB_COMMANDS_GET_CREDENTIALS", "1");
        let secrets = Secrets::with_variables("-", &[shared, ("READLAB_TARGET", URL)]);
        let target = secrets.target("-".as_ref()).unwrap();
        let words = Template::parse(line).unwrap().command(&target);
        let work = "newlines".to_owned();
        let mut execution = Execution { words, target, secrets, work, counted: None, is_control: false };
        execution.turn(TurnRequest { lead: 0, count: 1 }).unwrap_err().to_string()
    }

    #[test]
    fn a_failure_never_shows_the_query_of_a_secret_url() {
        let failed = failure("echo {}");
        assert!(failed.starts_with("no number in its output: \"https://h/o?…\"; "), "{failed}");
        assert!(failure("false {}").starts_with("false ended with exit code 1; "));
    }

    #[test]
    fn for_a_secret_url_a_command_is_unavailable_and_the_control_available() {
        let open = |method| {
            let target = "-".as_ref();
            let request = Request {
                method,
                scan: "-",
                work: "newlines",
                target,
                part: None,
                is_list: false,
                is_places: false,
                settings: Vec::new(),
            };
            Commands.open(&request).map(drop)
        };
        assert!(matches!(open("wc -l {}"), Err(Refusal::Unavailable(_))));
        assert_eq!(open(CONTROL_METHOD), Ok(()));
    }
}
