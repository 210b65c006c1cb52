//! What `race`, `suite` and `sweep` share: from a selection and a file to a record that is saved, shown and exported.

use crate::cli::{Choosing, Giving, Measuring};
use crate::contender::roster::Roster;
use crate::corpus::oracle::{self, Truth};
use crate::folder::{REPORT, RunFolder};
use crate::interrupt;
use crate::machine::Machine;
use crate::measure::cache::{Eviction, PageCache};
use crate::measure::lineup::{self, Field, Selection};
use crate::measure::plan::{Plan, Rules};
use crate::measure::round;
use crate::measure::sampler::{Hired, Subject};
use crate::progress::Recorder;
use crate::record::{EndReason, Header, Line, Outcome, Record, SCHEMA, SCHEMA_VERSION};
use crate::report::{self, Page, Style};
use crate::suite::{Entry, Suite};
use crate::target::identity::Identity;
use crate::target::{Target, shown};
use crate::trial::{TrialId, Work};
use crate::units::Nanos;
use anyhow::Context;
use rustix::fs::{Access, access};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Some trial failed or was refused.
const EXIT_TRIAL: u8 = 1;

/// What the user asked for.
pub(super) struct Asked<'a> {
    pub(super) verb: &'static str,
    pub(super) suite: &'a Suite,
    pub(super) measuring: &'a Measuring,
    pub(super) choosing: &'a Choosing,
    pub(super) giving: &'a Giving,
}

/// Runs on each target in turn; the worst end is the exit code.
pub(super) fn each(asked: &Asked, targets: &[PathBuf]) -> anyhow::Result<ExitCode> {
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    let targets = targets.iter().map(|path| Target::examine(path)).collect::<Result<Vec<_>, _>>()?;
    let giving = asked.giving;
    let exports = [&giving.export_json, &giving.export_csv, &giving.export_markdown];
    exports.into_iter().flatten().try_for_each(|file| writable(file))?;
    let rules = asked.rules()?;
    let reference = asked.reference()?;
    let field = asked.field()?;
    if interrupt::requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    let mut code = 0;
    for target in targets {
        let record = one(asked, &field, target, (rules, reference.clone()))?;
        code = code.max(exit_code(&record));
        if code == interrupt::EXIT_CODE {
            break;
        }
    }
    Ok(ExitCode::from(code))
}

impl Asked<'_> {
    /// The user's rules, and where the user is silent, the suite's.
    fn rules(&self) -> anyhow::Result<Rules> {
        let mut rules = self.measuring.rules();
        if let (Some(max_runs), None) = (self.suite.max_runs, self.measuring.runs) {
            rules.max_runs = max_runs;
            rules.min_runs = rules.min_runs.min(max_runs);
        }
        if let Some(text) = &self.suite.max_time {
            rules.max_time =
                text.parse::<Nanos>().with_context(|| format!("{}: max_time", self.suite.name))?;
        }
        Ok(rules)
    }

    fn reference(&self) -> anyhow::Result<Option<TrialId>> {
        let named = self.choosing.reference.as_ref().or(self.suite.reference.as_ref());
        Ok(named.map(|name| name.parse()).transpose()?)
    }

    /// Everybody who is named and shows a receipt.
    fn field(&self) -> anyhow::Result<Field> {
        let roster = Roster::with(&self.choosing.rosters)?;
        let by_glob = !self.choosing.methods.is_empty();
        let by_suite =
            |name: &str| self.suite.entries.iter().any(|e| e.trial.starts_with(&format!("{name}/")));
        let by_roster = |name: &str| !Roster::built_in().entries.iter().any(|entry| entry.name == name);
        Ok(Field::gather(&roster, |name| by_glob || by_suite(name) || by_roster(name)))
    }

    fn selection(&self) -> Selection {
        let mut entries = self.suite.entries.clone();
        let commands = self.choosing.commands.iter();
        entries.extend(commands.map(|command| Entry { trial: format!("command/{command}"), label: None }));
        Selection { entries, globs: self.choosing.methods.clone(), params: self.choosing.params.clone() }
    }

    fn work(&self, truth: &Truth) -> Work {
        let by_content = if truth.text { Work::Newlines } else { Work::Sum };
        self.choosing.work.or(self.suite.work).unwrap_or(by_content)
    }
}

/// One target: examined, measured, recorded, shown.
fn one(
    asked: &Asked,
    field: &Field,
    mut target: Target,
    (rules, reference): (Rules, Option<TrialId>),
) -> anyhow::Result<Record> {
    let eviction = if asked.measuring.drop_caches { Eviction::OfSystem } else { Eviction::OfFile };
    let cache = PageCache::open(&target.path, eviction)?;
    let folder = RunFolder::make(asked.giving.output.as_deref())?;
    let mut recorder = Recorder::begin(&folder, progress_shown(asked.giving))?;
    recorder.note(format!("reading {} once for the right answer", target.facts.path));
    let prepared = prepare(asked, field, &mut target, rules).inspect_err(|_| folder.abandon());
    let (identity, truth, plan) = prepared?;
    let reference = reference.map(|reference| as_planned(reference, &plan));
    introduce(&mut recorder, field, (&target, &plan), header(asked.verb, rules.seed, reference))?;
    recorder.follow(&plan);
    let subject = Subject { target: &target, truth: &truth, identity, cache };
    round::run(&plan, &mut Hired::new(&plan, field, subject), &mut recorder)?;
    let path = recorder.finish();
    let record = Record::read(&path)?;
    show(asked.giving, &record, &path)?;
    Ok(record)
}

/// What is true of the target, and what will be measured on it.
fn prepare(
    asked: &Asked,
    field: &Field,
    target: &mut Target,
    rules: Rules,
) -> anyhow::Result<(Identity, Truth, Plan)> {
    let identity = Identity::of_path(&target.path).with_context(|| shown(&target.path))?;
    let truth = oracle::truth(&target.path).with_context(|| shown(&target.path))?;
    target.facts.answer = Some(truth.answer);
    target.facts.digest = Some(truth.digest.clone());
    let states = asked.measuring.state.unwrap_or(asked.suite.state).list();
    let plan = lineup::plan(field, &asked.selection(), (asked.work(&truth), &states), rules)?;
    Ok((identity, truth, plan))
}

/// The lines of a record that come before any measuring.
fn introduce(
    recorder: &mut Recorder,
    field: &Field,
    (target, plan): (&Target, &Plan),
    header: Header,
) -> anyhow::Result<()> {
    let mut lines = vec![Line::Header(Box::new(header))];
    lines.push(Line::Target { index: 0, facts: Box::new(target.facts.clone()) });
    lines.extend(
        field
            .absent()
            .iter()
            .map(|(name, reason)| Line::Warning { text: format!("{name} does not take part: {reason}") }),
    );
    let taking_part = |name: &str| plan.trials.iter().any(|planned| planned.trial.contender == name);
    for contender in field.contenders().iter().filter(|contender| taking_part(&contender.receipt.contender)) {
        lines.push(Line::Contender(contender.receipt.clone()));
    }
    for line in lines {
        crate::measure::round::Sink::append(recorder, line)?;
    }
    Ok(())
}

/// The first line of a record made now, on this machine, by this command.
pub(super) fn header(verb: &str, seed: u64, reference: Option<TrialId>) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab: env!("CARGO_PKG_VERSION").to_owned(),
        revision: env!("READLAB_REVISION").to_owned(),
        verb: verb.to_owned(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        reference,
        machine: Machine::probe(),
    }
}

/// The reference as the plan names it: with the scan and the settings that were decided.
fn as_planned(reference: TrialId, plan: &Plan) -> TrialId {
    let mut ids = plan.trials.iter().map(|planned| &planned.trial.id);
    ids.find(|id| **id == reference || id.method == reference.method).cloned().unwrap_or(reference)
}

pub(super) fn progress_shown(giving: &Giving) -> bool {
    !giving.quiet && !giving.no_progress
}

/// The page beside the record, the table on standard output, and the exports where they were asked for.
pub(super) fn show(giving: &Giving, record: &Record, path: &Path) -> anyhow::Result<()> {
    let page = Page::of(record);
    let beside = path.with_file_name(REPORT);
    std::fs::write(&beside, report::html(&page)).with_context(|| shown(&beside))?;
    let exports = [
        (&giving.export_json, report::json as fn(&Record) -> String),
        (&giving.export_csv, report::csv),
        (&giving.export_markdown, |record| report::markdown(&Page::of(record))),
    ];
    let mut given = exports.iter().filter_map(|(file, text)| Some((file.as_deref()?, text)));
    let exported =
        given.clone().try_for_each(|(file, text)| write(file, &text(record)).with_context(|| shown(file)));
    // A document on standard output is for a program: the table would spoil it.
    if giving.quiet || given.any(|(file, _)| file == Path::new("-")) {
        return exported;
    }
    // What was measured is shown even where an export could not be written.
    let style = Style { width: terminal_width(), color: giving.color.is_on() };
    let table = report::terminal(&page, style, Some(&shown(path)));
    exported.and(std::io::stdout().write_all(table.as_bytes()).map_err(Into::into))
}

/// Columns of the terminal that standard output is; where it is none, wide enough for every column.
fn terminal_width() -> u16 {
    const UNBOUNDED: u16 = 200;
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(UNBOUNDED, |size| size.ws_col.max(40))
}

/// Whether an export can be written when the race is over, asked before it begins.
fn writable(file: &Path) -> anyhow::Result<()> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let can = if file == Path::new("-") {
        return Ok(());
    } else if file.is_dir() {
        Err(std::io::ErrorKind::IsADirectory.into())
    } else if file.exists() {
        access(file, Access::WRITE_OK).map_err(std::io::Error::from)
    } else if folder.exists() && !folder.is_dir() {
        Err(std::io::ErrorKind::NotADirectory.into())
    } else {
        access(folder, Access::WRITE_OK).map_err(std::io::Error::from)
    };
    can.with_context(|| shown(file))
}

/// To a file, or with `-` to standard output.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if file == Path::new("-") {
        std::io::stdout().write_all(text.as_bytes())
    } else {
        std::fs::write(file, text)
    }
}

/// 0, or 1 when some trial failed or was refused, or 130 when the user stopped it.
pub(super) fn exit_code(record: &Record) -> u8 {
    let spoiled =
        |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Failed { .. } | Outcome::Refused { .. }));
    match record.end {
        Some((EndReason::Interrupted, _)) => interrupt::EXIT_CODE,
        _ if record.trials.iter().any(|trial| spoiled(&trial.outcome)) => EXIT_TRIAL,
        _ => 0,
    }
}
