//! What `race`, `suite`, `tune` and `limits` share: from a selection and a file to a record that is saved, shown and exported.

use super::found::{self, Found};
use crate::cli::{Choosing, Giving, Measuring};
use crate::contender::roster::Roster;
use crate::corpus::Form;
use crate::corpus::oracle::{self, Truth};
use crate::folder::{REPORT, RunFolder};
use crate::history::History;
use crate::interrupt;
use crate::limits;
use crate::machine::Machine;
use crate::measure::cache::Eviction;
use crate::measure::candidates::candidates;
use crate::measure::lineup::{self, Field, LineupError, Selection, Shape, View, Views};
use crate::measure::plan::{Budget, Plan, Rules};
use crate::measure::round;
use crate::measure::sampler::Hired;
use crate::measure::search::{self, Tuning};
use crate::measure::subject::Ground;
use crate::progress::Recorder;
use crate::record::{EndReason, Header, Line, Outcome, Record, SCHEMA, SCHEMA_VERSION};
use crate::report::{self, Page, Style};
use crate::server::Server;
use crate::space::Space;
use crate::suite::{Entry, Suite};
use crate::target::http::{self, Verb};
use crate::target::web::CACHE_UNKNOWN;
use crate::target::{Place, Target, TargetFacts, shown, url};
use crate::trial::{CacheState, Over, TrialId, Work};
use crate::units::Nanos;
use anyhow::{Context, bail};
use rustix::fs::{Access, access};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Some trial failed or was refused.
pub(super) const EXIT_TRIAL: u8 = 1;

/// What the user asked for.
pub(super) struct Asked<'a> {
    pub(super) verb: &'static str,
    pub(super) suite: &'a Suite,
    /// The space to search; `None` where every trial is measured.
    pub(super) space: Option<&'a Space>,
    pub(super) measuring: &'a Measuring,
    pub(super) choosing: &'a Choosing,
    pub(super) giving: &'a Giving,
}

/// What one run reads, the plain file first.
pub(super) type Goal = Vec<Wanted>;

/// One target as it was asked for.
pub(super) struct Wanted {
    /// A path or a URL.
    word: PathBuf,
    form: Form,
    over: Over,
}

impl Wanted {
    /// A path, or a URL, whose bytes are as they are.
    pub(super) fn plain(word: &Path, over: Over) -> Wanted {
        let over = if url::is_url(word.as_os_str()) { Over::Http } else { over };
        Wanted { word: word.to_owned(), form: None, over }
    }

    /// A file of some form.
    pub(super) fn form(form: Form, path: &Path) -> Wanted {
        Wanted { word: path.to_owned(), form, over: Over::File }
    }

    /// Finds everything out about it.
    fn examine(&self) -> anyhow::Result<(Shape, Target)> {
        let target = if url::is_url(self.word.as_os_str()) {
            let word = self.word.to_str().with_context(|| format!("{}: not a URL", shown(&self.word)))?;
            Target::ask(word.parse().map_err(crate::target::TargetError::from)?)?
        } else {
            Target::examine(&self.word)?
        };
        Ok((Shape { form: self.form, over: self.over }, target))
    }
}

/// Runs on each goal in turn; the worst end is the exit code.
pub(super) fn each(asked: &Asked, goals: &[Goal]) -> anyhow::Result<ExitCode> {
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    match in_turn(asked, goals) {
        // Whatever failed did so because the user wants to stop: asking a server, for instance.
        Err(_) if interrupt::requested() => Ok(ExitCode::from(interrupt::EXIT_CODE)),
        done => done,
    }
}

fn in_turn(asked: &Asked, goals: &[Goal]) -> anyhow::Result<ExitCode> {
    let examine = |goal: &Goal| goal.iter().map(Wanted::examine).collect();
    let goals = goals.iter().map(examine).collect::<anyhow::Result<Vec<Vec<(Shape, Target)>>>>()?;
    goals.iter().flatten().try_for_each(|(_, target)| asked.makes_no_state_of(&target.facts))?;
    let giving = asked.giving;
    let exports = [&giving.export_json, &giving.export_csv, &giving.export_markdown];
    exports.into_iter().flatten().try_for_each(|file| writable(file))?;
    if let Some(folder) = &giving.output {
        RunFolder::make(Some(folder))?.abandon();
    }
    if giving.save.is_some() && goals.len() > 1 {
        anyhow::bail!("--save names one record, and each of the {} targets gets one", goals.len());
    }
    let rules = asked.rules()?;
    let reference = asked.reference()?;
    let field = asked.field()?;
    if interrupt::requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    let mut code = 0;
    for targets in goals {
        let record = one(asked, &field, targets, (rules, reference.clone()))?;
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
        if let (Some(min_runs), None) = (self.suite.min_runs, self.measuring.runs) {
            rules.min_runs = min_runs;
        }
        if let (Some(max_runs), None) = (self.suite.max_runs, self.measuring.runs) {
            rules.max_runs = max_runs;
            rules.min_runs = rules.min_runs.min(max_runs);
        }
        let time =
            |text: &String, key| text.parse::<Nanos>().with_context(|| format!("{}: {key}", self.suite.name));
        if let (Some(text), None) = (&self.suite.max_time, self.measuring.max_time) {
            rules.max_time = time(text, "max_time")?;
        }
        if let (Some(text), None) = (&self.suite.budget, self.measuring.budget) {
            rules.budget = Budget::Advised(time(text, "budget")?);
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
        let by_glob = |name: &str| self.choosing.methods.iter().any(|glob| may_match(glob, name));
        let by_suite =
            |name: &str| self.suite.entries.iter().any(|e| e.trial.starts_with(&format!("{name}/")));
        let by_roster = |name: &str| !Roster::built_in().entries.iter().any(|entry| entry.name == name);
        let by_reference =
            |name: &str| self.choosing.reference.iter().any(|trial| trial.starts_with(&format!("{name}/")));
        // Globs are about methods: the controls and commands of the suite stay, and they need no building.
        let needs_no_building = |name: &str| roster.entry(name).is_none_or(|entry| entry.sources.is_none());
        let wanted = |name: &str| {
            by_roster(name)
                || by_reference(name)
                || if self.choosing.methods.is_empty() {
                    by_suite(name)
                } else {
                    by_glob(name) || needs_no_building(name)
                }
        };
        let about_to = |name: &str| {
            if !self.giving.quiet {
                anstream::eprintln!("readlab: building the contender {name}, this once");
            }
        };
        Ok(Field::gather_built(&roster, wanted, about_to))
    }

    /// What is searched, if anything is.
    fn candidates(&self, field: &Field, work: Work) -> Result<Vec<TrialId>, LineupError> {
        let searched = |space| candidates(field, &self.choosing.methods, (space, work));
        self.space.map_or(Ok(Vec::new()), searched)
    }

    fn selection(&self, views: Views, candidates: &[TrialId]) -> Selection {
        let mut entries = self.suite.entries.clone();
        if self.choosing.work.is_some() {
            entries.iter_mut().for_each(|entry| entry.work = None);
        }
        // A command of the user's reads the first target, whatever it is.
        let over = views
            .iter()
            .find(|(_, view)| view.target == 0)
            .map_or_else(Over::default, |(shape, _)| shape.over);
        let commands = self.choosing.commands.iter();
        entries.extend(commands.map(|command| Entry {
            trial: format!("command/{command}"),
            over,
            ..Entry::default()
        }));
        let mut globs = self.choosing.methods.clone();
        if self.space.is_some() {
            let reference = self.choosing.reference.iter().chain(&self.suite.reference).take(1).cloned();
            let searched = candidates.iter().map(TrialId::to_string);
            entries.extend(reference.chain(searched).map(|trial| Entry { trial, over, ..Entry::default() }));
            globs.clear();
        }
        // A race takes whoever can read the target; an experiment names those it is about.
        let (params, told) = (self.choosing.params.clone(), self.verb == "suite");
        Selection { entries, globs, params, views, told }
    }

    fn eviction(&self) -> Eviction {
        if self.measuring.drop_caches { Eviction::OfSystem } else { Eviction::OfFile }
    }

    /// Refuses a wish for a state that nobody here can make.
    fn makes_no_state_of(&self, target: &TargetFacts) -> anyhow::Result<()> {
        let wish = if self.measuring.drop_caches { Some("--drop-caches") } else { None };
        let wish = wish.or(self.measuring.state.map(|_| "--state"));
        match wish.filter(|_| target.is_foreign()) {
            Some(wish) => bail!("{}: {CACHE_UNKNOWN}, and it cannot be made: leave {wish} out", target.path),
            None => Ok(()),
        }
    }

    /// The states in which a target is read.
    fn states(&self, target: &TargetFacts) -> Vec<CacheState> {
        if target.is_foreign() {
            return vec![CacheState::Unknown];
        }
        self.measuring.state.unwrap_or(self.suite.state).list()
    }

    fn work(&self, is_text: bool) -> Work {
        let by_content = if is_text { Work::Newlines } else { Work::Sum };
        self.choosing.work.or(self.suite.work).unwrap_or(by_content)
    }
}

/// Whether a glob can match a method of this contender: its first part is asked alone.
fn may_match(glob: &str, contender: &str) -> bool {
    let Some((first, _)) = glob.split_once('/') else { return true };
    globset::Glob::new(first).is_ok_and(|glob| glob.compile_matcher().is_match(contender))
}

/// One target: examined, measured, recorded, shown.
fn one(
    asked: &Asked,
    field: &Field,
    targets: Vec<(Shape, Target)>,
    (rules, reference): (Rules, Option<TrialId>),
) -> anyhow::Result<Record> {
    let (shapes, mut targets): (Vec<Shape>, Vec<Target>) = targets.into_iter().unzip();
    let servers = serve(&shapes, &mut targets)?;
    let grounds = targets.iter().map(|target| Ground::of(target, asked.eviction()));
    let grounds = grounds.collect::<Result<Vec<_>, _>>()?;
    let folder = RunFolder::make(asked.giving.output.as_deref())?;
    let mut recorder = Recorder::begin(&folder, progress_shown(asked.giving))?;
    let prepared =
        prepare(asked, field, (&shapes, &mut targets), (rules, &recorder)).inspect_err(|_| folder.abandon());
    let Prepared { found, plan, candidates } = prepared?;
    let reference = reference.map(|reference| as_planned(reference, &plan));
    let tuning = asked.space.map(|_| Tuning::of(plan.clone(), &candidates, reference.as_ref()));
    let plan = tuning.as_ref().map_or(&plan, |tuning| &tuning.plan);
    introduce(&mut recorder, field, (&targets, plan), header(asked.verb, rules.seed, reference))?;
    recorder.follow(plan);
    let subjects = targets.iter().zip(&found).zip(grounds).enumerate();
    let subjects =
        subjects.map(|(index, ((target, found), ground))| found.subject((index, target), ground)).collect();
    let mut hired = Hired::new(plan, field, subjects);
    match &tuning {
        Some(tuning) => search::run(tuning, &mut hired, &mut recorder)?,
        None => round::run(plan, &mut hired, &mut recorder)?,
    };
    drop(hired);
    drop(servers);
    if let (true, Some(file)) =
        (asked.verb == "limits" && !interrupt::requested(), targets.first().and_then(Target::file))
    {
        beside_fio(&mut recorder, file)?;
    }
    let path = recorder.finish();
    let record = Record::read(&path)?;
    show(asked.giving, &record, &path)?;
    Ok(record)
}

/// What must be known before anything is measured.
struct Prepared {
    found: Vec<Found>,
    plan: Plan,
    candidates: Vec<TrialId>,
}

/// A server for each file that contenders ask for over http.
fn serve(shapes: &[Shape], targets: &mut [Target]) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for (shape, target) in shapes.iter().zip(targets) {
        if let (Place::File(file), Over::Http) = (&target.place, shape.over) {
            let server = Server::start(file)?;
            target.serve(server.url.clone());
            servers.push(server);
        }
    }
    Ok(servers)
}

/// What is true of the targets, and what will be measured on them.
fn prepare(
    asked: &Asked,
    field: &Field,
    (shapes, targets): (&[Shape], &mut [Target]),
    (rules, recorder): (Rules, &Recorder),
) -> anyhow::Result<Prepared> {
    let (mut all, mut views) = (Vec::<Found>::new(), Views::new());
    for (index, (target, &shape)) in targets.iter_mut().zip(shapes).enumerate() {
        recorder.note(format!("reading {} once for the right answer", target.facts.path));
        let truth = truth(target)?;
        target.facts.digest = Some(truth.digest.clone());
        target.facts.answer = Some(truth.answer);
        // Archives are made of the first target: what comes out of them is known from it, by no decoder.
        let decoded = shape.form.and_then(|archive| Some((archive, all.first()?.truth.clone())));
        let work = asked.work(decoded.as_ref().map_or(truth.text, |(_, decoded)| decoded.text));
        views.insert(shape, View { target: index, work, broken: None });
        target.facts.decoded = decoded.as_ref().map(|(archive, truth)| found::facts(*archive, truth));
        all.push(Found { truth, decoded: decoded.map(|(_, truth)| truth) });
    }
    let states = targets.first().map_or_else(Vec::new, |target| asked.states(&target.facts));
    let candidates =
        shapes.first().map_or(Ok(Vec::new()), |plain| asked.candidates(field, views[plain].work))?;
    let plan =
        |views: &Views| lineup::plan(field, &asked.selection(views.clone(), &candidates), &states, rules);
    if let (Some(Shape { form: None, over: Over::File }), [target, ..], [found, ..]) =
        (shapes.first(), targets, &mut all[..])
        && let Some(archive) = found.truth.archive
    {
        let shape = Shape { form: Some(archive), over: Over::File };
        views.insert(shape, View { target: 0, work: asked.work(true), broken: None });
        if plan(&views)?.trials.iter().any(|planned| planned.trial.decodes.is_some()) {
            recorder.note(format!("decoding {} once for the right answer", target.facts.path));
            let content = found.decode(target, archive);
            let work = asked.work(content.as_ref().map_or(true, |content| content.text));
            views.insert(shape, View { target: 0, work, broken: content.err() });
        }
    }
    let plan = plan(&views)?;
    Ok(Prepared { found: all, plan, candidates })
}

/// What is true of a file, or of what a server gives; that gives its size too, which servers need not tell.
fn truth(target: &mut Target) -> anyhow::Result<Truth> {
    let Place::Web { url, .. } = &target.place else {
        let file = target.file().expect("what is not behind a foreign server is a file");
        return oracle::truth(file).with_context(|| shown(file));
    };
    let opened = || http::ask(Verb::Get, url).map_err(std::io::Error::other);
    let found = oracle::truth_of(opened).with_context(|| url.to_string())?;
    target.facts.size_bytes = found.answer.bytes.unwrap_or(0);
    Ok(found)
}

/// What fio gets from the same device at the points where ours are best; that it is not there is said, and no more.
fn beside_fio(recorder: &mut Recorder, file: &Path) -> anyhow::Result<()> {
    for point in [(128 << 10, 16), (1 << 20, 8)] {
        recorder.note("fio reads the device".to_owned());
        let line = match limits::fio(file, 0, point) {
            Ok(limit) => Line::Limit(Box::new(limit)),
            Err(error) => Line::Warning { text: format!("no limit by fio: {error}") },
        };
        let failed = matches!(line, Line::Warning { .. });
        crate::measure::world::Sink::append(recorder, line)?;
        if failed {
            break;
        }
    }
    Ok(())
}

/// The lines of a record that come before any measuring.
fn introduce(
    recorder: &mut Recorder,
    field: &Field,
    (targets, plan): (&[Target], &Plan),
    header: Header,
) -> anyhow::Result<()> {
    let mut lines = vec![Line::Header(Box::new(header))];
    let facts =
        |(index, target): (usize, &Target)| Line::Target { index, facts: Box::new(target.facts.clone()) };
    lines.extend(targets.iter().enumerate().map(facts));
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
        crate::measure::world::Sink::append(recorder, line)?;
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
    if let Some(name) = &giving.save {
        History::of_user()?.save(name, path)?;
    }
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
    let mut table = report::terminal(&page, style, Some(&shown(path)));
    if giving.percentiles {
        table += &report::percentiles(&page);
    }
    exported.and(std::io::stdout().write_all(table.as_bytes()).map_err(Into::into))
}

/// Columns of the terminal that standard output is; where it is none, wide enough for every column.
pub(super) fn terminal_width() -> u16 {
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
pub(super) fn write(file: &Path, text: &str) -> std::io::Result<()> {
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
