//! Draws the view of a run, only between readings: all rankings when a cache state begins or a round
//! is over, and before most other steps only the first line. Drawings that took long are made less
//! often. No thread wakes up while a reading is timed.

use super::now;
use super::render::{self, TerminalFacts};
use super::view::{ActivityProgress, CurrentActivity, View};
use readlab_measure::interface::Step;
use readlab_measure::plan::Plan;
use readlab_model::units::Bytes;
use readlab_record::{Line, Record};
use readlab_system::interrupt;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::printable;
use readlab_system::terminal::screen::{Screen, Surface};
use readlab_system::tty::TerminalSize;
use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The keys that end a run.
const ENDING_KEYS: [u8; 2] = [b'q', b'Q'];

/// The live view of a run; all clones share one display.
#[derive(Debug, Clone)]
pub struct LiveView(Rc<RefCell<LiveDisplay>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownProgress {
    Nothing,
    /// The growing rankings, or lines about rounds.
    Progress {
        /// Whether text on standard error may be bold or dim.
        has_styles: bool,
    },
}

#[derive(Debug)]
enum DisplayOutput {
    Nowhere,
    /// Lines about rounds, on standard error; rounds that take little time share a line.
    Plain,
    Surface(Box<dyn Surface>),
}

/// The view of one run, and the output on which it is drawn.
#[derive(Debug)]
pub(crate) struct LiveDisplay {
    view: View,
    output: DisplayOutput,
    has_styles: bool,
    /// The terminal size for which the drawn lines were made; `None` if nothing was drawn yet.
    drawn_size: Option<TerminalSize>,
    /// The pace of drawing everything, or of writing lines after rounds.
    full_pace: DrawingPace,
    /// The pace of drawing the first line alone.
    first_line_pace: DrawingPace,
}

impl LiveView {
    /// Begins to show the run: on the terminal, if standard error is one.
    pub fn begin(shown: ShownProgress) -> LiveView {
        let ShownProgress::Progress { has_styles } = shown else {
            return LiveView::with_output(DisplayOutput::Nowhere, false);
        };
        match Screen::of_stderr() {
            Some(screen) => LiveView::with_output(DisplayOutput::Surface(Box::new(screen)), has_styles),
            None => LiveView::with_output(DisplayOutput::Plain, false),
        }
    }

    fn with_output(output: DisplayOutput, has_styles: bool) -> LiveView {
        LiveView(Rc::new(RefCell::new(LiveDisplay::with_output(output, has_styles))))
    }

    /// The display. The borrow must end before the next one, as it does at the end of a statement.
    pub(crate) fn display(&self) -> RefMut<'_, LiveDisplay> {
        self.0.borrow_mut()
    }
}

impl LiveDisplay {
    fn with_output(output: DisplayOutput, has_styles: bool) -> LiveDisplay {
        LiveDisplay {
            view: View::new(),
            output,
            has_styles,
            drawn_size: None,
            full_pace: DrawingPace::default(),
            first_line_pace: DrawingPace::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn on_surface(surface: impl Surface + 'static) -> LiveDisplay {
        LiveDisplay::with_output(DisplayOutput::Surface(Box::new(surface)), false)
    }

    pub(crate) fn begin_run(&mut self) {
        self.view = View::new();
    }

    pub(crate) fn expect_trials(&mut self, plan: &Plan) {
        self.view.expect_trials(plan);
    }

    pub(crate) fn add_record(&mut self, record: &Record) {
        self.view.add_record(record);
    }

    pub(crate) fn show_activity(&mut self, text: &str) {
        self.view.current_activity = CurrentActivity::Described { text: printable(text), progress: None };
        self.draw();
    }

    /// Shows how many bytes of the activity are done; `total_bytes` is 0 if it is unknown.
    pub(crate) fn show_activity_progress(&mut self, done_bytes: u64, total_bytes: u64) {
        let (done, total) = (Bytes(done_bytes), Bytes(total_bytes));
        if let CurrentActivity::Described { progress, .. } = &mut self.view.current_activity {
            // The shown bytes never decrease, although the count is 0 again while a server is
            // awaited.
            let done = progress.map_or(done, |earlier| earlier.done.max(done));
            *progress = Some(ActivityProgress { done, total });
            self.draw_first_line();
        }
    }

    /// Adds one more line of the record to the view; draws nothing.
    pub(crate) fn add_line(&mut self, line: &Line) {
        if !matches!(self.output, DisplayOutput::Nowhere) {
            self.view.add_line(line);
        }
    }

    pub(crate) fn announce_step(&mut self, step: Step) {
        let has_full_round = self.view.state.is_some_and(|state| state.has_full_round);
        self.view.announce_step(step);
        if matches!(step, Step::RoundOver(_)) && !has_full_round {
            // The first ranking of a state is drawn at once.
            self.full_pace = DrawingPace::default();
        }
        match (&self.output, step) {
            (DisplayOutput::Plain, Step::RoundOver(_)) => self.write_line_after_round(),
            (_, Step::State(..)) => self.draw(),
            (_, Step::RoundOver(_) | Step::Count(..)) => self.draw_when_due(),
            // Before the first round is over, rankings are drawn during it, so that numbers appear
            // early.
            (_, Step::Turn { .. }) if !has_full_round => self.draw_when_due(),
            _ => self.draw_first_line(),
        }
    }

    /// Whether the user has pressed the key that ends the run.
    pub(crate) fn wants_end(&mut self) -> bool {
        let DisplayOutput::Surface(surface) = &self.output else { return false };
        self.view.is_ending |= surface.pressed_keys().iter().any(|key| ENDING_KEYS.contains(key));
        self.view.is_ending
    }

    /// Removes the drawing, and restores the terminal until the next drawing.
    pub(crate) fn clear(&mut self) {
        if let DisplayOutput::Surface(surface) = &mut self.output {
            surface.restore_terminal();
        }
    }

    /// Writes the line after a round, if it is due.
    fn write_line_after_round(&mut self) {
        let begun = Instant::now();
        if self.full_pace.is_due(begun) {
            now::line_after_round(&self.view).iter().for_each(notice::show);
            self.full_pace.record_drawing(begun, Instant::now());
        }
    }

    /// Draws everything if that is due, otherwise only the first line.
    fn draw_when_due(&mut self) {
        let DisplayOutput::Surface(surface) = &self.output else { return };
        if self.full_pace.is_due(surface.now()) { self.draw() } else { self.draw_first_line() }
    }

    fn draw(&mut self) {
        let DisplayOutput::Surface(surface) = &mut self.output else { return };
        if interrupt::is_stop_requested() {
            return;
        }
        let begun = surface.now();
        let terminal = terminal_facts(&**surface, self.has_styles);
        surface.draw(&render::view_lines(&self.view, terminal));
        self.drawn_size = Some(terminal.size);
        self.full_pace.record_drawing(begun, surface.now());
    }

    /// Draws the first line, if it is due. Draws everything if the terminal no longer shows the
    /// other lines as they were drawn.
    fn draw_first_line(&mut self) {
        let DisplayOutput::Surface(surface) = &mut self.output else { return };
        let begun = surface.now();
        if !self.first_line_pace.is_due(begun) || interrupt::is_stop_requested() {
            return;
        }
        let terminal = terminal_facts(&**surface, self.has_styles);
        if self.drawn_size != Some(terminal.size) || !surface.is_drawn() {
            return self.draw();
        }
        surface.draw_first_line(&render::first_line(&self.view, terminal));
        self.first_line_pace.record_drawing(begun, surface.now());
    }
}

/// The size and abilities of the terminal now.
fn terminal_facts(surface: &dyn Surface, has_styles: bool) -> TerminalFacts {
    TerminalFacts { size: surface.size(), has_styles, has_keys: surface.receives_keys() }
}

/// Ratio of the pause after a drawing to the time of the drawing, so that drawing takes 0.5 % of
/// one processor.
const PAUSE_FACTOR: u32 = 200;

/// Shortest pause between two drawings: people cannot see more of them, and the terminal needs time.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// Time at which the next drawing is due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DrawingPace {
    /// `None` if the next drawing is due at once.
    due_at: Option<Instant>,
}

impl DrawingPace {
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due_at.is_none_or(|due| now >= due)
    }

    pub(super) fn record_drawing(&mut self, begun: Instant, ended: Instant) {
        let rest = ended.saturating_duration_since(begun).saturating_mul(PAUSE_FACTOR);
        self.due_at = Some(ended + rest.max(PAUSE_MIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_drawings_are_made_seldom() {
        let begun = Instant::now();
        let after = |ms| begun + Duration::from_millis(ms);
        let mut pace = DrawingPace::default();
        assert!(pace.is_due(begun));
        pace.record_drawing(begun, begun);
        assert!(!pace.is_due(after(19)) && pace.is_due(after(20)));
        pace.record_drawing(begun, after(10));
        assert!(!pace.is_due(after(2_009)) && pace.is_due(after(2_010)), "ten of two thousand");
    }
}
