//! The line after each round where nothing can be drawn: in pipes, files and on terminals that
//! cannot move their cursor.

use super::now::left;
use super::view::View;
use readlab_model::units::Nanos;

/// What is known after a round; `None` before the first.
pub(super) fn line(view: &View) -> Option<String> {
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
