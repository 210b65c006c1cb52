//! The page: the view model of a whole record, computed once for all formats.

use super::advice::Advice;
use super::answer;
use super::archives::ArchiveRatio;
use super::break_even::BreakEven;
use super::curve::Curve;
use super::file_cost;
use super::fleet::FleetView;
use super::headline::{self, Headline};
use super::how_measured::{self, MeasurementGap};
use super::inside::InspectedTrial;
use super::locations::LocationsView;
use super::memory::MemoryView;
use super::ranking::{Pieces, Ranking};
use super::readers::ReadersRow;
use super::scaling::{self, ScalingView};
use super::settings::{self, SettingsRow};
use super::sweep::SweepView;
use super::warning::{self, UnsteadyStarts, WarningGroup};
use super::words;
use readlab_analysis::compare::Center;
use readlab_analysis::file_cost::FileCost;
use readlab_analysis::verdict;
use readlab_claims::{self as claims, JudgedClaims};
use readlab_model::target::TargetFacts;
use readlab_model::target::hidden_cache::HiddenCache;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{EndReason, Limit, Record, Resumption, RunKind, TrialRecord};

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The verb of the run, such as `race`.
    pub verb: String,
    /// The command that repeats the run, quoted for a shell.
    pub command: String,
    pub start_time: String,
    pub machine: String,
    pub answer: String,
    /// The answer for each ranking, or for each series of a sweep.
    pub headlines: Vec<Headline>,
    /// The claims of publications, judged by this record; empty if no publication is about it.
    pub judged_claims: Vec<JudgedClaims>,
    /// The reference of the ratios, in one line; `None` if no ranked trial was measured.
    pub baseline: Option<String>,
    /// Whether tables list every row of a ranking. If not, one line with their number stands for
    /// the rows that tie with the first row of a rank. Tables of a suite list all rows, because a
    /// suite names its trials.
    pub lists_all: bool,
    /// Whether tables show medians with intervals, or means with standard deviations.
    pub center: Center,
    /// The titles of the targets, usually one line for each.
    pub target_titles: Vec<String>,
    /// One ranking for each target, archive, work and state; empty for a sweep, which has `sweep`.
    pub rankings: Vec<Ranking>,
    pub advice: Vec<Advice>,
    pub archives: Vec<ArchiveRatio>,
    /// The rates of a device below which an archive is read faster than its content.
    pub break_evens: Vec<BreakEven>,
    /// The locations from which the same content is read, each compared with the first.
    pub locations: LocationsView,
    /// The rates of methods over the values of a parameter, if the record has enough settings.
    pub curves: Vec<Curve>,
    pub inspected_trials: Vec<InspectedTrial>,
    pub sweep: Option<SweepView>,
    pub fleet: Option<FleetView>,
    pub scaling: Vec<ScalingView>,
    pub readers: Vec<ReadersRow>,
    /// Methods under bounds on memory: a view for each contest.
    pub memory_views: Vec<MemoryView>,
    /// Each trial under settings of the system that differ from those found at the start.
    pub settings: Vec<SettingsRow>,
    pub file_costs: Vec<FileCost>,
    pub contender_lines: Vec<String>,
    /// The options that the user set for commands that are run without a contender.
    pub command_options: Vec<String>,
    /// The version of readlab that made the record, with the seed.
    pub version_and_seed: String,
    /// Meters that could not be read.
    pub missing_meters: Vec<MeasurementGap>,
    pub rejected_readings: Vec<MeasurementGap>,
    /// Each kind of count, with how it was counted.
    pub counting_methods: Vec<(String, Vec<String>)>,
    pub limits: Vec<Limit>,
    /// Whether the record has limits and no ranked trial, or comes from `readlab limits`.
    pub is_limits_record: bool,
    /// Cautions about the numbers: those on targets first, then those on the run.
    pub cautions: Vec<String>,
    /// The cautions grouped by cause.
    pub warnings: Vec<WarningGroup>,
    /// Why the run ended, and after what time.
    pub end: String,
}

impl Page {
    /// Sentences on locations, fleets, readers and scaling, on bounds on memory, on settings of the
    /// system, and on the costs of files.
    pub(super) fn lines_beyond_rankings(&self) -> impl Iterator<Item = String> {
        let fleet = self.fleet.iter().flat_map(|view| &view.lines);
        let scaling = self.scaling.iter().flat_map(|view| &view.lines);
        let memory = self.memory_views.iter().flat_map(MemoryView::lines);
        let others = memory.chain(settings::lines(&self.settings));
        let others = others.chain(self.file_costs.iter().map(file_cost::cost_line));
        self.locations.lines().chain(fleet.chain(scaling).cloned()).chain(others)
    }

    pub fn from_record(record: &Record) -> Page {
        let header = &record.header;
        let sweep = SweepView::from_record(record);
        let limits = verdict::limits(record);
        let mut rankings = if sweep.is_some() { Vec::new() } else { Ranking::all(record, &limits) };
        // Groups of files by size are targets that are read only to compute the cost of a file.
        rankings.retain(|it| !record.targets.get(it.target).is_some_and(TargetFacts::is_size_group));
        let scaling = ScalingView::all(record);
        let grown = scaling::sentence(&scaling);
        let is_ranked = rankings.iter().any(|it| !it.rows.is_empty());
        let is_limits_record =
            !limits.is_empty() && sweep.is_none() && (header.kind == RunKind::Limits || !is_ranked);
        let answer = match &sweep {
            Some(view) => answer::sentence_of_sweep(view),
            None if is_limits_record => answer::sentence_of_limits(&limits),
            None => grown.unwrap_or_else(|| answer::sentence_of_rankings(&rankings)),
        };
        let advice = if is_limits_record { Vec::new() } else { Advice::all(record, &rankings) };
        let advised = |n: usize| advice.iter().find(|it| it.ranking_index == n);
        let headlines = match &sweep {
            Some(view) => headline::sweep_headlines(view),
            None => {
                rankings.iter().enumerate().filter_map(|(n, it)| it.advised_headline(advised(n))).collect()
            }
        };
        let end = end_line(record, &rankings);
        Page {
            verb: header.kind.to_string(),
            command: shell_words::join(&header.command),
            start_time: header.started.clone(),
            machine: machine_line(record),
            cautions: match &sweep {
                Some(view) => view.cautions.iter().cloned().chain(run_warnings(record)).collect(),
                None => cautions(record),
            },
            answer,
            judged_claims: claims::judge_built_in(record),
            baseline: answer::baseline_words(&rankings),
            lists_all: header.kind == RunKind::Suite,
            center: Center::Median,
            target_titles: how_measured::target_titles(record),
            headlines,
            warnings: WarningGroup::all(record, sweep.as_ref()),
            advice,
            archives: ArchiveRatio::all(record, &rankings),
            break_evens: BreakEven::all(&rankings),
            locations: LocationsView::from_record(record, &rankings),
            curves: rankings.iter().flat_map(Curve::all).collect(),
            memory_views: MemoryView::all(record, &rankings),
            rankings,
            inspected_trials: InspectedTrial::all(record),
            fleet: FleetView::from_record(record),
            scaling,
            readers: ReadersRow::all(record),
            settings: SettingsRow::all(record),
            file_costs: FileCost::all(record),
            sweep,
            contender_lines: how_measured::contender_lines(&record.contenders),
            command_options: how_measured::command_options(record),
            version_and_seed: how_measured::maker_words(header),
            missing_meters: how_measured::missing_meters(record),
            rejected_readings: how_measured::rejected_readings(record),
            counting_methods: how_measured::counting_methods(record),
            limits,
            is_limits_record,
            end,
        }
    }

    /// Whether the terminal and Markdown show code beside the advice: after a search, whose result
    /// is the code to write.
    pub fn shows_code(&self) -> bool {
        self.rankings.iter().any(|ranking| ranking.search.is_some())
    }
}

impl Ranking {
    /// The answer in one line: the fastest trial, its rate, and its ratio to the reference.
    pub fn headline(&self) -> String {
        let condition = self.full_condition();
        let Some(first) = self.rows.first() else { return format!("{condition}: nothing was measured") };
        let open = self.unranked_words();
        let best = if open.is_some() || self.is_best_median_slower() { "best median" } else { "fastest" };
        let figure = answer::rate_or_time_words(first);
        let mut line = format!("{best} {condition}: {}, {figure}", first.name);
        if self.is_led_by_reference() {
            line += ", the reference itself";
        }
        if let (Some(ratio), Some(reference)) = (&first.ratio_to_reference, &self.reference) {
            line += &format!(", {} × {}", words::ratio_words(*ratio), reference.name);
        }
        match (open, self.tied_count()) {
            (Some(open), _) => line += &format!("; {open}"),
            (None, 0) => {}
            (None, tied) => line += &format!("; tied with {tied} more"),
        }
        line
    }

    /// The reference and why it was chosen; `None` if no ranked trial was measured.
    pub fn reference_line(&self) -> Option<String> {
        let reference = self.reference.as_ref()?;
        Some(format!("reference: {} ({})", reference.name, reference.why.words()))
    }

    /// The size of the target, and for an archive the decoded size.
    pub fn size_words(&self) -> String {
        let mut words = match (self.size, self.content_bytes) {
            (None, _) => "size unknown".to_owned(),
            // A file that grows while it is read also has another size, but nothing is decoded.
            (Some(size), Some(out)) if self.archive.is_some() && out != size => {
                let ratio = words::factor(out.0 as f64 / size.0.max(1) as f64);
                format!("{size} in, {out} out ({ratio} to 1; rates are of bytes out)")
            }
            (Some(size), _) => size.to_string(),
        };
        if let Some(range) = self.range {
            words += &format!(" from byte {}", words::grouped(range.start_bytes));
        }
        words = match self.pieces {
            Some(pieces @ (Pieces::Files(_) | Pieces::Names(_))) => format!("{} of {words}", pieces.words()),
            Some(pieces @ (Pieces::Reads { .. } | Pieces::Ranges(_))) => {
                format!("{} ({words})", pieces.words())
            }
            None => words,
        };
        words.extend(self.readers_words.iter().map(|readers| format!(" by {readers}")));
        words.extend(self.settings.iter().map(|settings| format!(" under {settings}")));
        words
    }

    pub fn proof_line(&self) -> String {
        let proof = &self.proof;
        if self.state == CacheState::Unknown {
            return format!(
                "proof: the answers of {} samples; {}, so nothing is proven of where the bytes came from",
                proof.sample_count,
                self.transport.cache_unknown_words()
            );
        }
        let touched = match (&self.touch_counts, self.state) {
            (Some(touched), CacheState::Warm) if !self.work.finds_names() => format!("; {}", touched.words()),
            _ => String::new(),
        };
        let words = if self.work.finds_names() { proof.names_words() } else { proof.words(self.transport) };
        format!("proof: {words}{touched}")
    }

    /// What limits the fastest trial, in one line; `None` if no ranked trial was measured.
    pub fn verdict_line(&self) -> Option<String> {
        let first = self.rows.first()?;
        Some(format!("verdict: {}: {}", first.name, first.diagnosis.as_ref()?.sentence))
    }

    /// How much the fills differ over the trials, in one line; `None` if no trial has two fills.
    pub fn fills_line(&self) -> Option<String> {
        let spreads = || self.rows.iter().filter_map(|row| Some((row, row.fill_spread.as_ref()?)));
        let most = spreads().map(|(_, spread)| spread.fills.len()).max()?;
        let repeated = spreads().filter_map(|(row, spread)| Some((row, spread, spread.between_share?)));
        let Some((row, widest, share)) = repeated.max_by(|a, b| a.1.range.total_cmp(&b.1.range)) else {
            return Some(format!("fills: {most} of them, each read once by every trial"));
        };
        Some(format!(
            "fills: {} of them; their medians differ most for {}, by {}, {} of its variance lies between fills",
            widest.fills.len(),
            row.name,
            words::percent(widest.range),
            words::percent(share),
        ))
    }
}

fn cautions(record: &Record) -> Vec<String> {
    let of_target = |target: &TargetFacts| {
        let (path, cautions) = (target.path.clone(), target.cautions.clone());
        cautions.into_iter().map(move |caution| format!("{path}: {caution}"))
    };
    let of_targets = record.targets.iter().flat_map(of_target);
    let of_trials = record
        .trials
        .iter()
        .filter_map(unsteady_warmup_caution)
        .chain(record.trials.iter().flat_map(conduct_cautions));
    let of_run = record.resumptions.iter().map(resumption_words).chain(run_warnings(record));
    let estimated = warning::estimate_warning(record).map(|group| group.title());
    of_targets.chain(of_trials).chain(estimated).chain(of_run).collect()
}

/// The warnings of the run. Many similar warnings share one line.
fn run_warnings(record: &Record) -> impl Iterator<Item = String> {
    WarningGroup::from_texts(&record.warnings).into_iter().flat_map(WarningGroup::short_lines)
}

/// A caution if not every warm-up of a contender reached a steady state.
fn unsteady_warmup_caution(trial: &TrialRecord) -> Option<String> {
    let UnsteadyStarts { start_count: starts, never_steady_count: never, too_few_readings_count: few } =
        UnsteadyStarts::from_trial(trial)?;
    let why = match (never, few) {
        (_, 0) => format!("no steady state at {never} of {starts} starts"),
        (0, _) => format!("too few readings to tell a steady state at {few} of {starts} starts"),
        _ => format!("no steady state at {never} and too few readings to tell at {few} of {starts} starts"),
    };
    Some(format!("{} ({}): {why}", trial.trial.id, trial.trial.state))
}

/// Cautions about what a trial's contender did besides reading, with the mark that the row of the
/// trial has.
fn conduct_cautions(trial: &TrialRecord) -> impl Iterator<Item = String> {
    let name = format!("{} ({})", trial.trial.id, trial.trial.state);
    trial.remarks().into_iter().map(move |what| format!("{name}{}: {what}", words::CONDUCT_MARK))
}

fn machine_line(record: &Record) -> String {
    let machine = &record.header.machine;
    let mut facts = vec![machine.cpu_model.clone().unwrap_or_else(|| "unknown processor".to_owned())];
    facts.push(match machine.cpu_count {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    });
    facts.push(format!("{} memory", Bytes(machine.memory_bytes).binary_text()));
    facts.push(format!("{} {}", machine.system, machine.kernel).trim().to_owned());
    facts.extend(
        machine.hypervisor.as_ref().map(|name| format!("guest of {name}, so cold means cold in the guest")),
    );
    facts.extend(machine.governor.as_ref().map(|name| format!("governor {name}")));
    let seen = |target: &TargetFacts| target.hidden_cache.as_ref().and_then(HiddenCache::seen_sentence);
    facts.extend(record.targets.iter().filter_map(seen));
    facts.join(", ")
}

/// A sentence on an interruption of the run: its time, and the round with which the run was
/// resumed.
pub(super) fn resumption_words(it: &Resumption) -> String {
    let (after, round, state) = (Nanos(it.elapsed_ns), it.round.saturating_add(1), it.state);
    format!(
        "the run was cut short after {after} and resumed at {}, with round {round} of the {state} readings: what was read before \
         stands, and what was read since is of other processes and other fills",
        it.resumed_at
    )
}

/// If more rankings have a promise, the end line only counts them.
const PROMISES_NAMED_MAX: usize = 4;

/// Why and when the run ended, and for each ranking with one remaining trial the promise of the
/// indifference zone.
fn end_line(record: &Record, rankings: &[Ranking]) -> String {
    let Some((reason, wall_ns)) = record.end else {
        return "the run was cut short; what was measured until then is here".to_owned();
    };
    let why = match reason {
        EndReason::Settled => "every trial reached its precision or its limit",
        EndReason::Budget => "the time for the whole run was used up",
        EndReason::Interrupted => "it was interrupted; what was measured until then is here",
        EndReason::TargetChanged => record.target_change().unwrap_or("the target changed while it was read"),
        EndReason::CommandFailed => "a command that is run around readings failed",
        EndReason::RankLost => "a rank of the fleet ended or hung",
    };
    let promises: Vec<String> = rankings.iter().filter_map(Ranking::indifference_promise).collect();
    let promises: String = match promises.len() {
        0..=PROMISES_NAMED_MAX => promises.iter().map(|it| format!("; {it}")).collect(),
        many => format!(
            "; in {many} of {} rankings one trial is left, of those read the fastest or within the indifference zone",
            rankings.len()
        ),
    };
    format!("{why}, after {}{promises}", Nanos(wall_ns))
}
