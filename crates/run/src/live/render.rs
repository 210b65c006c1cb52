//! The lines that show a run on a terminal: the current step, the growing rankings, warnings, and
//! the keys. The functions are pure: the same view on the same terminal gives the same lines, and
//! no line is wider than the terminal.

use super::block::{RankingBlock, RowFigures, Standings};
use super::now;
use super::view::View;
use anstyle::Effects;
use readlab_model::trial::Transport;
use readlab_model::units::Bytes;
use readlab_report::LiveColumn;
use readlab_system::terminal::cells::{cut, cut_distinctly, left_aligned, right_aligned};
use readlab_system::terminal::printable::printable;
use readlab_system::tty::TerminalSize;

const RANKING_ROWS_MAX: usize = 10;

const NAME_COLUMNS_MAX: usize = 72;

/// Largest number of warnings that are shown; the others are counted.
const WARNINGS_MAX: usize = 2;

/// Size and abilities of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct TerminalFacts {
    pub(super) size: TerminalSize,
    pub(super) has_styles: bool,
    pub(super) has_keys: bool,
}

impl TerminalFacts {
    /// Number of columns that are used. A line that fills the last column would leave the cursor
    /// behind it.
    fn columns(self) -> usize {
        usize::from(self.size.columns).saturating_sub(1).max(1)
    }

    /// Number of lines that are used; one more would scroll the first line away.
    fn rows(self) -> usize {
        usize::from(self.size.rows).saturating_sub(1).max(1)
    }

    fn styled(self, text: &str, effects: Effects) -> String {
        let style = anstyle::Style::new().effects(effects);
        if self.has_styles && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

pub(super) fn view_lines(view: &View, terminal: TerminalFacts) -> Vec<String> {
    let mut lines = vec![first_line(view, terminal)];
    let mut below = warning_lines(view, terminal);
    below.extend(keys_hint(view, terminal));
    let room = terminal.rows().saturating_sub(lines.len() + below.len());
    lines.extend(lines_of_rankings(view, terminal, room));
    lines.extend(below);
    lines.truncate(terminal.rows());
    lines
}

/// The line with the current step.
pub(super) fn first_line(view: &View, terminal: TerminalFacts) -> String {
    terminal.styled(&now::progress_line(view, terminal.columns()), Effects::BOLD)
}

fn warning_lines(view: &View, terminal: TerminalFacts) -> Vec<String> {
    let hidden = view.warnings.len().saturating_sub(WARNINGS_MAX);
    let last = view.warnings.iter().skip(hidden);
    let mut lines: Vec<String> =
        last.map(|text| cut(&format!("warning: {text}"), terminal.columns())).collect();
    if hidden > 0 {
        lines.insert(0, cut(&format!("earlier warnings: {hidden}"), terminal.columns()));
    }
    lines
}

fn keys_hint(view: &View, terminal: TerminalFacts) -> Option<String> {
    let text = if view.is_ending { "ends after this turn" } else { "q ends: what is decided stands" };
    let line = || terminal.styled(&cut(text, terminal.columns()), Effects::DIMMED);
    (terminal.has_keys && view.state.is_some()).then(line)
}

/// The lines of the rankings that fit. The ranking that grows gets room for its rows before
/// finished rankings.
fn lines_of_rankings(view: &View, terminal: TerminalFacts, room: usize) -> Vec<String> {
    let (mut lines, mut room) = (Vec::new(), room);
    for block in view.begun_rankings().into_iter().rev() {
        let mut ranking = lines_of_ranking(view, block, terminal, room);
        room -= ranking.len();
        ranking.append(&mut lines);
        lines = ranking;
    }
    lines
}

/// The title and the rows of a ranking, in at most `room` lines; empty if there is no room for a
/// row.
fn lines_of_ranking(view: &View, block: &RankingBlock, terminal: TerminalFacts, room: usize) -> Vec<String> {
    let Some(most) = room.checked_sub(1).filter(|rows| *rows > 0) else { return Vec::new() };
    let standings = block.standings(most.min(RANKING_ROWS_MAX));
    let title = ranking_title(view, block, &standings);
    let is_known =
        |it: &&LiveColumn| standings.best_rows.iter().any(|row| row.meter_medians.contains_key(&it.meter));
    let meters = view.meter_columns.iter().filter(is_known).copied();
    let columns = ColumnWidths::new(terminal.columns(), meters);
    let scale = BarScale::for_figures(&standings.best_rows, columns.bar);
    let mut lines = vec![terminal.styled(&cut(&title, terminal.columns()), Effects::UNDERLINE)];
    let names: Vec<&str> = standings.best_rows.iter().map(|figures| figures.name.as_str()).collect();
    let names = cut_distinctly(&names, columns.name);
    for (place, (figures, name)) in (1..).zip(standings.best_rows.iter().zip(&names)) {
        let text = cut(&columns.row_text(place, name, figures, &scale), terminal.columns());
        lines.push(terminal.styled(&text, if place == 1 { Effects::BOLD } else { Effects::new() }));
    }
    lines
}

/// A title such as `warm · newlines · 268 MB · my.log · 10 of 33`.
fn ranking_title(view: &View, block: &RankingBlock, standings: &Standings) -> String {
    let mut words = vec![block.key.state.to_string(), block.key.work.to_string()];
    if let Some(facts) = view.target(block.key) {
        words.push(Bytes(facts.size_bytes).to_string());
        words.extend(view.target_name(block.key).map(|name| printable(&name)));
        words.extend((facts.transport() == Transport::Http).then(|| "over HTTP".to_owned()));
        words.extend(facts.memory_words());
        words.extend(facts.settings_words());
    }
    words.extend(block.key.decoded_archive.map(|archive| format!("decoded {archive}")));
    words.extend(standings.is_of_search.then(|| "search".to_owned()));
    if standings.measured_count > standings.best_rows.len() {
        words.push(format!("{} of {}", standings.best_rows.len(), standings.measured_count));
    }
    words.extend(
        (standings.not_measured_count > 0).then(|| format!("{} not measured", standings.not_measured_count)),
    );
    words.join(" · ")
}

/// The widths of the columns in characters; 0 for columns that are left out. A space separates
/// columns.
#[derive(Debug, Clone)]
struct ColumnWidths {
    place: usize,
    name: usize,
    time: usize,
    precision: usize,
    rate: usize,
    meters: Vec<LiveColumn>,
    bar: usize,
}

impl ColumnWidths {
    /// The columns for a width of `all` characters; a narrower terminal has fewer columns.
    fn new(all: usize, meters: impl Iterator<Item = LiveColumn>) -> ColumnWidths {
        let width_if = |wide_enough: usize, width: usize| if all >= wide_enough { width } else { 0 };
        let mut columns = ColumnWidths {
            place: width_if(30, 2),
            name: 0,
            time: width_if(90, 8),
            precision: width_if(38, 9),
            rate: 9,
            meters: meters.filter(|it| all >= it.room.terminal_width_min).collect(),
            bar: width_if(50, (all / 4).min(40)),
        };
        let others = [columns.place, columns.time, columns.precision, columns.rate, columns.bar];
        let others = others.into_iter().chain(columns.meters.iter().map(|it| it.room.width));
        let taken: usize = others.filter(|width| *width > 0).map(|width| width + 1).sum();
        columns.name = all.saturating_sub(taken).min(NAME_COLUMNS_MAX);
        columns
    }

    /// Formats a row. Without an interval the row has no place, because the order may be chance.
    fn row_text(&self, place: usize, name: &str, figures: &RowFigures, scale: &BarScale) -> String {
        let place = figures.interval_ns.map_or_else(String::new, |_| place.to_string());
        let cells =
            [(self.place, right_aligned(&place, self.place)), (self.name, left_aligned(name, self.name))];
        let cells = cells.into_iter().chain(self.number_cells(figures));
        let metered = self.meters.iter().map(|it| {
            let text =
                figures.meter_medians.get(&it.meter).map_or_else(String::new, |median| it.text(*median));
            (it.room.width, right_aligned(&text, it.room.width))
        });
        let cells = cells.chain(metered).chain([(self.bar, scale.bar_text(figures))]);
        let shown = cells.filter(|(width, _)| *width > 0).map(|(_, text)| text);
        shown.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }

    /// The cells of the time, its precision and the rate, with their widths. As in the tables, the
    /// ends of a wide interval replace the number and its precision.
    fn number_cells(&self, figures: &RowFigures) -> Vec<(usize, String)> {
        let cell = |width: usize, text: &str| (width, right_aligned(text, width));
        let (has_time, time) = (self.time > 0, figures.time.to_string());
        let speed = match figures.rate {
            Some(rate) => rate.to_string(),
            None if has_time => String::new(),
            None => time.clone(),
        };
        let ends = if has_time { figures.wide_time_text() } else { figures.wide_speed_text() };
        match ends.filter(|_| self.precision > 0) {
            Some(ends) if has_time => {
                vec![cell(self.time + 1 + self.precision, &ends), cell(self.rate, &speed)]
            }
            Some(ends) => vec![cell(self.precision + 1 + self.rate, &ends)],
            None => vec![
                cell(self.time, &time),
                cell(self.precision, &figures.precision_words()),
                cell(self.rate, &speed),
            ],
        }
    }
}

/// The scale of the bars: from 0 to the highest upper end of an interval, but at most to one and a
/// half times the highest speed.
struct BarScale {
    width_cells: usize,
    max_speed: f64,
}

impl BarScale {
    fn for_figures(best: &[RowFigures], width_cells: usize) -> BarScale {
        let fastest = best.iter().map(RowFigures::speed).fold(0.0, f64::max);
        let highest = best.iter().map(|it| speed_interval(it)[1]).fold(fastest, f64::max);
        // An interval without an upper end would make all other bars too small to see.
        BarScale { width_cells, max_speed: highest.min(fastest * 1.5) }
    }

    /// A bar is full up to the lower end of the interval and light up to its upper end, so the
    /// light part shrinks with further readings. Without an interval the whole bar is light.
    fn bar_text(&self, figures: &RowFigures) -> String {
        let [low, high] = speed_interval(figures).map(|speed| self.cells_of(speed));
        format!("{}{}", "█".repeat(low), "░".repeat(high.saturating_sub(low)))
    }

    /// Length of a bar up to this speed, in cells.
    fn cells_of(&self, speed: f64) -> usize {
        let share = if self.max_speed > 0.0 { (speed / self.max_speed).clamp(0.0, 1.0) } else { 0.0 };
        (share * self.width_cells as f64).round() as usize
    }
}

/// The slowest and the fastest speed of the interval.
fn speed_interval(figures: &RowFigures) -> [f64; 2] {
    let speed = figures.speed();
    match figures.precision() {
        None => [0.0, speed],
        Some(share) => [speed / (1.0 + share), if share < 1.0 { speed / (1.0 - share) } else { f64::MAX }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::Interval;
    use readlab_model::units::{Nanos, Throughput};
    use std::collections::BTreeMap;

    fn figures(rate: f64, precision: Option<f64>) -> RowFigures {
        let time = Nanos::from_secs_f64(1e9 / rate);
        let interval_ns = precision.map(|share| {
            let [low, high] = [1.0 - share, 1.0 + share].map(|times| time.0 as f64 * times);
            Interval { low, high }
        });
        let (name, rate, meter_medians) = (String::new(), Some(Throughput(rate)), BTreeMap::new());
        RowFigures { name, time, interval_ns, reading_count: 3, rate, meter_medians }
    }

    #[test]
    fn a_wide_interval_is_shown_by_its_ends_and_one_reading_says_so() {
        let row = |columns: usize, figures: &RowFigures| {
            let scale = BarScale { width_cells: 0, max_speed: 1e9 };
            let text = ColumnWidths::new(columns, std::iter::empty()).row_text(1, "a", figures, &scale);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let narrow = figures(1e9, Some(0.12));
        assert_eq!(row(48, &narrow), "1 a ±12 % 1.00 GB/s");
        assert_eq!(row(100, &narrow), "1 a 1.00 s ±12 % 1.00 GB/s");
        let wide = figures(1e9, Some(0.9));
        assert_eq!(row(48, &wide), "1 a 1 to 10 GB/s");
        assert_eq!(row(100, &wide), "1 a 0.1 to 1.9 s 1.00 GB/s");
        assert_eq!(row(30, &wide), "1 a 1.00 GB/s", "no room for a precision");
        let one = RowFigures { reading_count: 1, ..figures(1e9, None) };
        assert_eq!(row(48, &one), "a 1 reading 1.00 GB/s");
        assert_eq!(row(48, &figures(1e9, None)), "a – 1.00 GB/s");
    }

    #[test]
    fn the_light_part_of_a_bar_shrinks_with_its_interval() {
        let bar = |precision| {
            let all = [figures(1e9, Some(0.0)), figures(5e8, precision)];
            BarScale::for_figures(&all, 20).bar_text(&all[1])
        };
        assert_eq!(bar(None), "░░░░░░░░░░");
        assert_eq!(bar(Some(3.0)), "██".to_owned() + &"░".repeat(18));
        assert_eq!(bar(Some(0.25)), "████████░░░░░");
        assert_eq!(bar(Some(0.0)), "██████████");
    }

    #[test]
    fn an_interval_without_an_upper_end_leaves_room_for_the_others() {
        let all = [figures(1e9, Some(1.5)), figures(5e8, Some(0.0))];
        let scale = BarScale::for_figures(&all, 30);
        assert_eq!(scale.bar_text(&all[0]).chars().count(), 30);
        assert_eq!(scale.bar_text(&all[1]), "█".repeat(10));
        assert_eq!(BarScale::for_figures(&[], 30).cells_of(1.0), 0);
    }
}
