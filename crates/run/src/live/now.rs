//! What is done now in one line: the first line on a terminal with the round, how much of the run is done and
//! the time left; and the line after each round where nothing can be drawn, as in pipes and files.

use super::view::{Activity, Done, Now, StateNow, View};
use readlab_measure::interface::Step;
use readlab_model::trial::TrialIndex;
use readlab_model::units::Nanos;
use readlab_system::terminal::cells::{cut, cut_middle, width};

/// What stands between two parts of the line.
const BETWEEN: &str = " · ";

/// A name is not cut to fewer columns; the least important part is left out before.
const NAME_MIN: usize = 12;

struct Part {
    text: String,
    /// What is left out first has the lowest.
    worth: u8,
    /// Whether it is a name, which may be cut.
    is_name: bool,
}

pub(super) fn line(view: &View, columns: usize) -> String {
    let mut parts: Vec<Part> = parts(view).into_iter().filter(|part| !part.text.is_empty()).collect();
    loop {
        let excess = taken(&parts).saturating_sub(columns);
        if excess == 0 {
            return joined(&parts);
        }
        if let Some(name) =
            parts.iter_mut().find(|part| part.is_name && width(&part.text) >= excess + NAME_MIN)
        {
            name.text = cut_middle(&name.text, width(&name.text) - excess);
            continue;
        }
        if parts.len() < 2 {
            return cut(&joined(&parts), columns);
        }
        let least = (0..parts.len()).min_by_key(|&at| parts[at].worth);
        least.map(|at| parts.remove(at));
    }
}

fn joined(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(BETWEEN)
}

fn taken(parts: &[Part]) -> usize {
    width(&joined(parts))
}

fn parts(view: &View) -> Vec<Part> {
    let text = |worth, text: String| Part { text, worth, is_name: false };
    let step = match &view.now {
        Now::Activity(Activity { text: activity, done }) => {
            let done = done.map_or_else(String::new, share_of_activity);
            return vec![Part { text: activity.clone(), worth: 8, is_name: true }, text(9, done)];
        }
        Now::Step(step) => *step,
    };
    let Some(state) = view.state else { return Vec::new() };
    let ending = if view.is_ending { "ending" } else { "" };
    let name = trial_of(step).map_or("", |trial| view.name(trial)).to_owned();
    let mut parts = vec![
        text(8, ending.to_owned()),
        text(7, state.state.to_string()),
        text(6, doing(step, state)),
        text(2, place(step, state)),
        Part { text: name, worth: 5, is_name: true },
    ];
    if let Some(progress) = view.progress {
        parts.push(text(3, format!("{:.0} %", progress.share.clamp(0.0, 1.0) * 100.0)));
        parts.push(text(4, progress.left().map_or_else(String::new, left)));
    }
    parts
}

/// A server need not say how much it will send.
fn share_of_activity(done: Done) -> String {
    let Done { bytes, of } = done;
    if of.0 == 0 {
        return bytes.to_string();
    }
    format!("{:.0} % of {of}", (bytes.0 as f64 / of.0 as f64).min(1.0) * 100.0)
}

fn doing(step: Step, state: StateNow) -> String {
    match step {
        Step::State(_, trials) => format!("{trials} trials"),
        Step::Fill(fill) => format!("filling the cache, fill {}", fill + 1),
        Step::Start(_) => "starting".to_owned(),
        Step::Count(..) => "counting calls".to_owned(),
        Step::Inspect(_) => "inspecting".to_owned(),
        Step::Turn { round, .. } => format!("round {}", round + 1),
        Step::RoundOver(_) => format!("round {} done", state.round.unwrap_or(0) + 1),
    }
}

/// How far it is, where that is known.
fn place(step: Step, state: StateNow) -> String {
    match step {
        // Later rounds start some of the contenders again.
        Step::Start(_) if !state.has_round => {
            format!("{}/{}", state.started, state.trials.max(state.started))
        }
        Step::Turn { position, of, .. } => format!("{}/{of}", position + 1),
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

/// The time left, rounded to the second, and above a minute to five seconds.
pub(super) fn left(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round();
    let seconds = if seconds > 60.0 { (seconds / 5.0).round() * 5.0 } else { seconds };
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    if minutes > 0.0 { format!("{minutes} min {rest} s left") } else { format!("{rest} s left") }
}

/// What is known after a round; `None` before the first.
pub(super) fn after_round(view: &View) -> Option<String> {
    let state = view.state?;
    let mut text = format!("{}, round {}", state.state, state.round? + 1);
    let standings = view.current().map(|block| block.standings(1));
    if let Some(first) = standings.as_ref().and_then(|standings| standings.best.first()) {
        let speed = first.rate.map_or_else(|| first.time.to_string(), |rate| rate.to_string());
        let precision = first.precision.map_or_else(String::new, |share| format!(" ±{:.0} %", share * 100.0));
        text += &format!(": first {}, {speed}{precision}", first.name);
    }
    let time = view.progress.as_ref().and_then(|progress| progress.left());
    text += &time.map_or_else(String::new, |time: Nanos| format!("; {}", left(time)));
    Some(text)
}
