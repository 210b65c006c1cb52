//! Draws what is known of a run, between readings only: whole rankings when a round is over or
//! something else begins, and before a turn the first line alone. No thread wakes while a reading
//! is timed.

use super::now;
use super::render::{self, TerminalStyle};
use super::view::{Activity, Done, Now, View};
use readlab_measure::interface::Step;
use readlab_measure::plan::Plan;
use readlab_model::units::Bytes;
use readlab_record::{Line, Record};
use readlab_system::interrupt;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::printable;
use readlab_system::terminal::screen::Screen;
use readlab_system::tty::Size;
use std::cell::{RefCell, RefMut};
use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The keys that end a run.
const ENDING_KEYS: [u8; 2] = [b'q', b'Q'];

/// What a run shows while it measures; all copies are one.
#[derive(Debug, Clone)]
pub struct Live(Rc<RefCell<Display>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Nothing,
    /// The ranking as it grows, or one line after each round.
    Progress {
        /// Whether text on standard error may be bold or dim.
        has_styles: bool,
    },
}

/// A terminal to draw on, as a real one or as one of a test.
pub(super) trait Surface {
    fn size(&self) -> Size;
    fn has_keys(&self) -> bool;
    fn pressed_keys(&mut self) -> Vec<u8>;
    /// Whether what was drawn last is still there.
    fn is_drawn(&self) -> bool;
    fn draw(&mut self, lines: &[String]);
    fn draw_first(&mut self, line: &str);
    fn give_back(&mut self);
    fn now(&self) -> Instant;
}

enum Output {
    Nowhere,
    /// One line after each round, on standard error; rounds that take no time share one.
    Plain,
    Surface(Box<dyn Surface>),
}

/// The view of one run, and where it is drawn.
#[derive(Debug)]
pub(crate) struct Display {
    view: View,
    output: Output,
    has_styles: bool,
    /// The size for which the lines on the terminal were made.
    drawn_for: Option<Size>,
    rankings: Pace,
    first_line: Pace,
}

impl Live {
    /// Begins to show what is done: on the terminal, if standard error is one.
    pub fn begin(shown: Shown) -> Live {
        let Shown::Progress { has_styles } = shown else { return Live::on(Output::Nowhere, false) };
        match Screen::of_stderr() {
            Some(screen) => Live::on(Output::Surface(Box::new(screen)), has_styles),
            None => Live::on(Output::Plain, false),
        }
    }

    fn on(output: Output, has_styles: bool) -> Live {
        Live(Rc::new(RefCell::new(Display::on(output, has_styles))))
    }

    /// What is shown, until the end of the statement.
    pub(crate) fn display(&self) -> RefMut<'_, Display> {
        self.0.borrow_mut()
    }
}

impl Display {
    fn on(output: Output, has_styles: bool) -> Display {
        let (rankings, first_line) = (Pace::default(), Pace::default());
        Display { view: View::new(), output, has_styles, drawn_for: None, rankings, first_line }
    }

    #[cfg(test)]
    pub(super) fn on_surface(surface: impl Surface + 'static) -> Display {
        Display::on(Output::Surface(Box::new(surface)), false)
    }

    pub(crate) fn begin_run(&mut self) {
        self.view = View::new();
    }

    pub(crate) fn expect(&mut self, plan: &Plan) {
        self.view.expect(plan);
    }

    pub(crate) fn recall(&mut self, record: &Record) {
        self.view.recall(record);
    }

    /// Shows what is done before or after the measuring.
    pub(crate) fn activity(&mut self, text: &str) {
        self.view.now = Now::Activity(Activity { text: printable(text), done: None });
        self.draw();
    }

    /// Shows how much of it is done.
    pub(crate) fn activity_done(&mut self, bytes: u64, of: u64) {
        let (bytes, of) = (Bytes(bytes), Bytes(of));
        if let Now::Activity(activity) = &mut self.view.now {
            // Waiting for a server counts from 0.
            let bytes = activity.done.map_or(bytes, |done| done.bytes.max(bytes));
            activity.done = Some(Done { bytes, of });
            self.draw_first();
        }
    }

    /// Takes one more line of the record; draws nothing.
    pub(crate) fn take(&mut self, line: &Line) {
        if !matches!(self.output, Output::Nowhere) {
            self.view.take(line);
        }
    }

    pub(crate) fn about_to(&mut self, step: Step) {
        let has_round = self.view.state.is_some_and(|state| state.has_round);
        self.view.about_to(step);
        if matches!(step, Step::RoundOver(_)) && !has_round {
            // The first ranking of a state waits for nothing.
            self.rankings = Pace::default();
        }
        match (&self.output, step) {
            (Output::Plain, Step::RoundOver(_)) => self.write_line(),
            (_, Step::State(..)) => self.draw(),
            (_, Step::RoundOver(_) | Step::Count(..)) => self.draw_when_due(),
            // Nobody waits for a whole round to see the first numbers.
            (_, Step::Turn { .. }) if !has_round => self.draw_when_due(),
            _ => self.draw_first(),
        }
    }

    /// Whether the user has pressed the key that ends the run.
    pub(crate) fn wants_end(&mut self) -> bool {
        let Output::Surface(surface) = &mut self.output else { return false };
        self.view.is_ending |= surface.pressed_keys().iter().any(|key| ENDING_KEYS.contains(key));
        self.view.is_ending
    }

    /// Removes what was drawn, and gives the terminal back until something is drawn again.
    pub(crate) fn clear(&mut self) {
        if let Output::Surface(surface) = &mut self.output {
            surface.give_back();
        }
    }

    /// Writes the line after a round, if it is due.
    fn write_line(&mut self) {
        let begun = Instant::now();
        if self.rankings.is_due(begun) {
            now::after_round(&self.view).iter().for_each(notice::show);
            self.rankings.drawn(begun, Instant::now());
        }
    }

    /// Draws everything if that is due, else the first line.
    fn draw_when_due(&mut self) {
        let Output::Surface(surface) = &self.output else { return };
        if self.rankings.is_due(surface.now()) { self.draw() } else { self.draw_first() }
    }

    fn draw(&mut self) {
        let Output::Surface(surface) = &mut self.output else { return };
        if interrupt::requested() {
            return;
        }
        let begun = surface.now();
        let look = look(&**surface, self.has_styles);
        surface.draw(&render::lines(&self.view, look));
        self.drawn_for = Some(look.size);
        self.rankings.drawn(begun, surface.now());
    }

    /// Draws the first line, if it is due; everything, if the other lines are not there as they
    /// were.
    fn draw_first(&mut self) {
        let Output::Surface(surface) = &mut self.output else { return };
        let begun = surface.now();
        if !self.first_line.is_due(begun) || interrupt::requested() {
            return;
        }
        let look = look(&**surface, self.has_styles);
        if self.drawn_for != Some(look.size) || !surface.is_drawn() {
            return self.draw();
        }
        surface.draw_first(&render::first_line(&self.view, look));
        self.first_line.drawn(begun, surface.now());
    }
}

/// What can be shown now.
fn look(surface: &dyn Surface, has_styles: bool) -> TerminalStyle {
    TerminalStyle { size: surface.size(), has_styles, has_keys: surface.has_keys() }
}

impl Surface for Screen {
    fn size(&self) -> Size {
        Screen::size(self)
    }

    fn has_keys(&self) -> bool {
        Screen::has_keys(self)
    }

    fn pressed_keys(&mut self) -> Vec<u8> {
        Screen::pressed_keys(self)
    }

    fn is_drawn(&self) -> bool {
        Screen::is_drawn(self)
    }

    fn draw(&mut self, lines: &[String]) {
        Screen::draw(self, lines);
    }

    fn draw_first(&mut self, line: &str) {
        Screen::draw_first(self, line);
    }

    fn give_back(&mut self) {
        Screen::give_back(self);
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

impl Debug for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Output::Nowhere => "Nowhere",
            Output::Plain => "Plain",
            Output::Surface(_) => "Surface",
        })
    }
}

/// Between two drawings there are so many times the time of the first: 0.5 % of one processor.
const REST: u32 = 200;

/// The shortest time between two drawings: a person sees no more, and the terminal has work too.
const REST_MIN: Duration = Duration::from_millis(20);

/// When the next drawing is due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
}

impl Pace {
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    pub(super) fn drawn(&mut self, begun: Instant, ended: Instant) {
        let rest = ended.saturating_duration_since(begun).saturating_mul(REST);
        self.due = Some(ended + rest.max(REST_MIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_slowly_is_drawn_seldom() {
        let begun = Instant::now();
        let after = |ms| begun + Duration::from_millis(ms);
        let mut pace = Pace::default();
        assert!(pace.is_due(begun));
        pace.drawn(begun, begun);
        assert!(!pace.is_due(after(19)) && pace.is_due(after(20)));
        pace.drawn(begun, after(10));
        assert!(!pace.is_due(after(2_009)) && pace.is_due(after(2_010)), "ten of two thousand");
    }
}
