//! `readlab verify CONTENDER…`: tests contenders against PROTOCOL.md; every answer is compared with
//! readlab's own. Nothing is timed.

use anyhow::Context;
use clap::Args;
use globset::{Glob, GlobSet, GlobSetBuilder};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_model::units::Nanos;
use readlab_report::verification::{self, ContenderReport, Fault, MethodReport, Verdict};
use readlab_roster::build::Build;
use readlab_roster::discovery::Query;
use readlab_roster::session::SessionError;
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::interrupt;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use readlab_system::terminal::printable::printable;
use readlab_system::visit::processor_count;
use readlab_verify::Verification;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Exit code if an answer was wrong.
const EXIT_WRONG_ANSWER: u8 = 1;
/// Exit code if nothing was verified, or if a contender that was named could not be verified.
const EXIT_NOT_VERIFIED: u8 = 2;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Names of contenders in the roster; they are built if necessary
    #[arg(value_name = "CONTENDER", required_unless_present = "all")]
    pub names: Vec<String>,
    /// All contenders that run on this machine, as they were built
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// A roster file with more contenders; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
    /// Only methods whose name matches; may be repeated
    #[arg(long = "method", value_name = "GLOB")]
    pub methods: Vec<String>,
    /// How long a contender may take to answer
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub deadline: Nanos,
    /// How many sessions run at once [default: twice the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    interrupt::install_handlers().context("cannot listen for Ctrl-C")?;
    let roster = Roster::with_user_rosters(&args.rosters)?;
    let entries = chosen_entries(&roster, args)?;
    let globs = method_globs(&args.methods)?;
    let mut reports = Vec::new();
    for entry in entries {
        match verify_contender(entry, args, &globs) {
            Ok(report) => reports.push(report),
            Err(error) if is_interrupted(&error) => return Ok(ExitCode::from(interrupt::exit_code())),
            Err(error) => return Err(error.context(entry.name.clone())),
        }
    }
    if args.json {
        io::stdout().write_all(verification::json(&reports).as_bytes())?;
    }
    Ok(exit_code(args, &reports))
}

fn is_interrupted(error: &anyhow::Error) -> bool {
    let io =
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::Interrupted);
    io || interrupt::is_stop_requested()
}

fn chosen_entries<'a>(roster: &'a Roster, args: &VerifyArgs) -> anyhow::Result<Vec<&'a RosterEntry>> {
    if args.all {
        return Ok(roster.entries.iter().collect());
    }
    let entry =
        |name: &String| roster.entry(name).with_context(|| format!("no contender '{name}' in the roster"));
    args.names.iter().map(entry).collect()
}

fn method_globs(methods: &[String]) -> anyhow::Result<Option<GlobSet>> {
    if methods.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for method in methods {
        set.add(Glob::new(method).with_context(|| format!("--method '{method}'"))?);
    }
    Ok(Some(set.build()?))
}

/// Verifies one contender: builds it if it was named, asks for its methods, and tests them.
fn verify_contender(
    entry: &RosterEntry,
    args: &VerifyArgs,
    globs: &Option<GlobSet>,
) -> anyhow::Result<ContenderReport> {
    let deadline = Duration::from_nanos(args.deadline.0);
    let nothing = |reason: String| {
        let hint = entry.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        let report = ContenderReport {
            contender: entry.name.clone(),
            receipt: None,
            why_untested: Some(format!("{reason}{hint}")),
            methods: Vec::new(),
        };
        print_unless_json(
            args,
            &format!("{}: not verified: {}", entry.name, report.why_untested.as_deref().unwrap_or_default()),
        )?;
        Ok(report)
    };
    if !args.all {
        let building = || notice::show(format!("building {}", entry.name));
        if let Err(error) = entry.build_if_needed(building) {
            return nothing(error.to_string());
        }
    }
    let contender = match entry.query_within(deadline) {
        Ok(contender) => contender,
        Err(SessionError::Interrupted) => return Err(io::Error::from(io::ErrorKind::Interrupted).into()),
        Err(
            error @ (SessionError::Unavailable(_)
            | SessionError::NotBuilt(_)
            | SessionError::NotStarted { .. }),
        ) => return nothing(error.to_string()),
        Err(error) => return report_failed_contender(entry, args, &error),
    };
    let receipt = contender.receipt.clone();
    print_unless_json(args, &format!("{} {} · {}", receipt.contender, receipt.version, receipt.runtime))?;
    let mut scratch = make_scratch()?;
    let again = command_to_verify_again(&entry.name, args);
    let is_selected = |name: &str| globs.as_ref().is_none_or(|globs| globs.is_match(name));
    let verification = Verification {
        contender: &contender,
        is_selected: &is_selected,
        folder: scratch.path(),
        time_limit: deadline,
        repeat_command: &again,
        job_count: args.jobs.map_or(2 * processor_count(), usize::from),
    };
    let mut lines = Ok(());
    let methods = verification.run(|report| {
        if lines.is_ok() {
            lines = print_unless_json(args, &method_line(&entry.name, report));
        }
    })?;
    lines?;
    if methods.iter().any(|report| matches!(report.verdict, Verdict::Failed(_))) {
        scratch.keep();
        let folder = display_path(scratch.path());
        let remove = shell_words::join(["rm", "-r", &folder]);
        notice::show(format!("the files of {} are kept in {folder}; to remove them: {remove}", entry.name));
    }
    Ok(ContenderReport { contender: entry.name.clone(), receipt: Some(receipt), why_untested: None, methods })
}

/// Prints and returns the report of a contender that fails before its methods are known.
fn report_failed_contender(
    entry: &RosterEntry,
    args: &VerifyArgs,
    error: &SessionError,
) -> anyhow::Result<ContenderReport> {
    let command = entry.command()?;
    let fault = Fault {
        request: "methods".to_owned(),
        reason: error.to_string(),
        repeat_command: format!("{} methods", command.shell_line()),
    };
    let report = MethodReport::of_all_methods(Verdict::Failed(fault));
    print_unless_json(args, &method_line(&entry.name, &report))?;
    Ok(ContenderReport {
        contender: entry.name.clone(),
        receipt: None,
        why_untested: None,
        methods: vec![report],
    })
}

/// A scratch folder on the file system of the user's cache; a folder for temporary files may be in
/// memory, where direct reads are refused.
fn make_scratch() -> anyhow::Result<ScratchFolder> {
    let corpora = readlab_corpus::default_folder();
    let parent = corpora.ok().and_then(|folder| folder.parent().map(PathBuf::from));
    let parent = parent.unwrap_or_else(std::env::temp_dir);
    std::fs::create_dir_all(&parent).with_context(|| display_path(&parent))?;
    ScratchFolder::make(&parent, "verify").with_context(|| display_path(&parent))
}

/// A shell command line that verifies a contender again.
fn command_to_verify_again(name: &str, args: &VerifyArgs) -> String {
    let rosters = args.rosters.iter().flat_map(|roster| ["--roster".to_owned(), display_path(roster)]);
    shell_words::join(["readlab", "verify", name].map(str::to_owned).into_iter().chain(rosters))
}

/// Prints a line, unless the results are printed as JSON.
fn print_unless_json(args: &VerifyArgs, line: &str) -> io::Result<()> {
    if args.json { Ok(()) } else { writeln!(io::stdout(), "{line}") }
}

/// The line of a method; for a failure, also what was wrong and how to reproduce it.
fn method_line(contender: &str, report: &MethodReport) -> String {
    let name = printable(&format!("{contender}/{}", report.method));
    match &report.verdict {
        Verdict::Ok => {
            let left_out: String = report.left_out.iter().map(|it| format!("; not tested: {it}")).collect();
            format!(
                "{name:<40} ok      {} answers in {} sessions{}",
                report.answers,
                report.sessions,
                printable(&left_out)
            )
        }
        Verdict::Failed(Fault { request, reason, repeat_command: repeat }) => format!(
            "{name:<40} FAILED  {}: {}\n    to repeat it: {}",
            printable(request),
            printable(reason),
            printable(repeat)
        ),
        Verdict::Unavailable { reason } => format!("{name:<40} unavailable: {}", printable(reason)),
        Verdict::NotVerified { reason } => format!("{name:<40} not verified: {}", printable(reason)),
    }
}

/// The exit code: 1 if an answer was wrong; 2 if nothing was verified, or if a contender that was
/// named could not be verified.
fn exit_code(args: &VerifyArgs, reports: &[ContenderReport]) -> ExitCode {
    let methods = || reports.iter().flat_map(|report| &report.methods);
    if methods().any(|report| matches!(report.verdict, Verdict::Failed(_))) {
        return ExitCode::from(EXIT_WRONG_ANSWER);
    }
    let is_missing = !args.all && reports.iter().any(|report| report.why_untested.is_some());
    let of_methods = methods().filter(|report| !report.is_of_all_methods());
    if is_missing || of_methods.filter(|report| report.verdict == Verdict::Ok).count() == 0 {
        if !is_missing {
            notice::show("no method was verified");
        }
        return ExitCode::from(EXIT_NOT_VERIFIED);
    }
    ExitCode::SUCCESS
}
