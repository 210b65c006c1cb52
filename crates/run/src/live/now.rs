//! The current step in one line: on a terminal the first line, with the round, the share of the run
//! that is done and the time left; and the line after each round where nothing can be drawn, for
//! example in pipes and files.

use super::view::{ActivityProgress, CurrentActivity, StateProgress, View};
use readlab_measure::interface::Step;
use readlab_model::trial::TrialIndex;
use readlab_model::units::Nanos;
use readlab_system::terminal::cells::{cut, cut_middle, width};

/// Separator of two parts of the line.
const SEPARATOR: &str = " · ";

/// A name is not cut to fewer columns than this; the least important part is left out instead.
const NAME_COLUMNS_MIN: usize = 12;

struct LinePart {
    text: String,
    /// Importance of the part; the least important part is left out first.
    importance: u8,
    is_name: bool,
}

pub(super) fn progress_line(view: &View, columns: usize) -> String {
    let mut parts: Vec<LinePart> =
        line_parts(view).into_iter().filter(|part| !part.text.is_empty()).collect();
    loop {
        let excess = width_of_parts(&parts).saturating_sub(columns);
        if excess == 0 {
            return join_parts(&parts);
        }
        if let Some(name) =
            parts.iter_mut().find(|part| part.is_name && width(&part.text) >= excess + NAME_COLUMNS_MIN)
        {
            name.text = cut_middle(&name.text, width(&name.text) - excess);
            continue;
        }
        if parts.len() < 2 {
            return cut(&join_parts(&parts), columns);
        }
        let least = (0..parts.len()).min_by_key(|&at| parts[at].importance);
        least.map(|at| parts.remove(at));
    }
}

fn join_parts(parts: &[LinePart]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(SEPARATOR)
}

fn width_of_parts(parts: &[LinePart]) -> usize {
    width(&join_parts(parts))
}

fn line_parts(view: &View) -> Vec<LinePart> {
    let text = |importance, text: String| LinePart { text, importance, is_name: false };
    let step = match &view.current_activity {
        CurrentActivity::Described { text: activity, progress } => {
            let done = progress.map_or_else(String::new, activity_progress_text);
            return vec![LinePart { text: activity.clone(), importance: 8, is_name: true }, text(9, done)];
        }
        CurrentActivity::Step(step) => *step,
    };
    let Some(state) = view.state else { return Vec::new() };
    let ending = if view.is_ending { "ending" } else { "" };
    let name = trial_of(step).map_or("", |trial| view.trial_name(trial)).to_owned();
    let mut parts = vec![
        text(8, ending.to_owned()),
        text(7, state.state.to_string()),
        text(6, step_text(step, state)),
        text(2, step_progress_text(step, state)),
        LinePart { text: name, importance: 5, is_name: true },
    ];
    if let Some(progress) = view.progress {
        parts.push(text(3, format!("{:.0} %", progress.share.clamp(0.0, 1.0) * 100.0)));
        parts.push(text(4, progress.time_left().map_or_else(String::new, time_left_text)));
    }
    parts
}

/// The share of an activity that is done, or the bytes so far if the total is unknown, which servers
/// need not declare.
fn activity_progress_text(progress: ActivityProgress) -> String {
    let ActivityProgress { done, total } = progress;
    if total.0 == 0 {
        return done.to_string();
    }
    format!("{:.0} % of {total}", (done.0 as f64 / total.0 as f64).min(1.0) * 100.0)
}

fn step_text(step: Step, state: StateProgress) -> String {
    match step {
        Step::State(_, trials) => format!("{trials} trials"),
        Step::Fill(fill) => format!("filling the cache, fill {}", fill + 1),
        Step::Start(_) => "starting".to_owned(),
        Step::Count(..) => "counting calls".to_owned(),
        Step::Inspect(_) => "inspecting".to_owned(),
        Step::Turn { round, .. } => format!("round {}", round + 1),
        Step::RoundOver(_) => format!("round {} done", state.last_round.unwrap_or(0) + 1),
    }
}

fn step_progress_text(step: Step, state: StateProgress) -> String {
    match step {
        // In later rounds only some contenders are started, so there is no total.
        Step::Start(_) if !state.has_full_round => {
            format!("{}/{}", state.started_count, state.trial_count.max(state.started_count))
        }
        Step::Turn { position, trial_count: of, .. } => format!("{}/{of}", position + 1),
        _ => String::new(),
    }
}

fn trial_of(step: Step) -> Option<TrialIndex> {
    match step {
        Step::Start(trial) | Step::Count(trial, _) | Step::Inspect(trial) | Step::Turn { trial, .. } => {
            Some(trial)
        }
        Step::State(..) | Step::Fill(_) | Step::RoundOver(_) => None,
    }
}

/// The time left, rounded to one second, or to five seconds above a minute.
pub(super) fn time_left_text(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round();
    let seconds = if seconds > 60.0 { (seconds / 5.0).round() * 5.0 } else { seconds };
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    if minutes > 0.0 { format!("{minutes} min {rest} s left") } else { format!("{rest} s left") }
}

/// The line after a round; `None` before the first round.
pub(super) fn line_after_round(view: &View) -> Option<String> {
    let state = view.state?;
    let mut text = format!("{}, round {}", state.state, state.last_round? + 1);
    let ranking = view.current_ranking();
    let standings = ranking.map(|block| block.standings(1));
    if let Some(first) = standings.as_ref().and_then(|standings| standings.best_rows.first()) {
        let of_target = ranking.map_or_else(String::new, |block| view.target_suffix(block.key));
        let speed = || first.rate.map_or_else(|| first.time.to_string(), |rate| rate.to_string());
        let precision =
            || first.precision().map_or_else(String::new, |_| format!(" {}", first.precision_words()));
        let speed = first.wide_speed_text().unwrap_or_else(|| speed() + &precision());
        let facts = ranking.and_then(|block| view.target(block.key));
        let conditions = facts.map(|facts| [facts.settings_words(), facts.memory_words()]);
        let name = conditions
            .into_iter()
            .flatten()
            .flatten()
            .fold(first.name.clone(), |name, words| format!("{name}+{words}"));
        text += &format!(": first {name}{of_target}, {speed}");
    }
    let time = view.progress.as_ref().and_then(|progress| progress.time_left());
    text += &time.map_or_else(String::new, |time: Nanos| format!("; {}", time_left_text(time)));
    Some(text)
}
