//! Tests of when the view is drawn: never during a turn, and only for a small share of the time.

use super::super::display::LiveDisplay;
use super::{WARM, sample_line, target_line};
use readlab_measure::interface::{RunProgress, Step};
use readlab_model::trial::TrialIndex;
use readlab_protocol::Cache;
use readlab_record::testing::trial_line;
use readlab_system::terminal::screen::Surface;
use readlab_system::tty::TerminalSize;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The simulated state of a terminal, and what was drawn on it.
#[derive(Debug)]
struct TerminalScript {
    now: Instant,
    draw_time: Duration,
    columns: u16,
    keys: Vec<u8>,
    is_drawn: bool,
    /// Number of full drawings.
    full_drawing_count: usize,
    /// Number of drawings of the first line alone.
    first_line_count: usize,
    lines: Vec<String>,
}

#[derive(Debug, Clone)]
struct ScriptedSurface(Rc<RefCell<TerminalScript>>);

impl Surface for ScriptedSurface {
    fn size(&self) -> TerminalSize {
        TerminalSize { columns: self.0.borrow().columns, rows: 24 }
    }

    fn receives_keys(&self) -> bool {
        true
    }

    fn pressed_keys(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.borrow_mut().keys)
    }

    fn is_drawn(&self) -> bool {
        self.0.borrow().is_drawn
    }

    fn draw(&mut self, lines: &[String]) {
        let mut script = self.0.borrow_mut();
        let draw_time = script.draw_time;
        script.now += draw_time;
        (script.is_drawn, script.full_drawing_count, script.lines) =
            (true, script.full_drawing_count + 1, lines.to_vec());
    }

    fn draw_first_line(&mut self, line: &str) {
        let mut script = self.0.borrow_mut();
        script.first_line_count += 1;
        script.lines[0] = line.to_owned();
    }

    fn restore_terminal(&mut self) {
        self.0.borrow_mut().is_drawn = false;
    }

    fn now(&self) -> Instant {
        self.0.borrow().now
    }
}

struct ScriptedDisplay {
    display: LiveDisplay,
    script: Rc<RefCell<TerminalScript>>,
}

impl ScriptedDisplay {
    fn new(draw_time: Duration) -> ScriptedDisplay {
        let script = TerminalScript {
            now: Instant::now(),
            draw_time,
            columns: 80,
            keys: Vec::new(),
            is_drawn: false,
            full_drawing_count: 0,
            first_line_count: 0,
            lines: Vec::new(),
        };
        let script = Rc::new(RefCell::new(script));
        ScriptedDisplay { display: LiveDisplay::on_surface(ScriptedSurface(Rc::clone(&script))), script }
    }

    /// The numbers of full drawings and of drawings of the first line alone.
    fn drawing_counts(&self) -> (usize, usize) {
        let script = self.script.borrow();
        (script.full_drawing_count, script.first_line_count)
    }

    /// Shows a state with this number of rounds of two trials, whose turns take this time each.
    fn run(&mut self, rounds: u32, turn_time: Duration) {
        self.display.add_line(&target_line(0, "f"));
        self.display.announce_step(Step::State(WARM, 2));
        for (index, name) in ["rust/mmap", "rust/read"].into_iter().enumerate() {
            self.display.add_line(&trial_line(index, name, WARM, Cache::Through));
        }
        for round in 0..rounds {
            for (position, trial) in [(0, 0), (1, 1)] {
                self.display.announce_step(Step::Turn {
                    trial: TrialIndex::new(trial),
                    round,
                    position,
                    trial_count: 2,
                });
                let before = self.drawing_counts();
                self.script.borrow_mut().now += turn_time;
                self.display.add_line(&sample_line(trial, round, 5));
                assert_eq!(self.drawing_counts(), before, "something was drawn during a turn");
            }
            self.display.announce_step(Step::RoundOver(RunProgress { share: 0.5, elapsed_ns: 1 }));
        }
    }
}

#[test]
fn rankings_are_drawn_after_rounds_and_the_first_line_before_turns() {
    let mut scene = ScriptedDisplay::new(Duration::ZERO);
    scene.run(7, Duration::from_secs(1));
    let drawn = scene.drawing_counts();
    assert_eq!(drawn, (1 + 1 + 7, 13), "one for the state, one in the first round, one a round; one a turn");
    let lines = scene.script.borrow().lines.join("\n");
    assert!(lines.starts_with("warm · round 7 done") && lines.contains("rust/mmap"), "{lines}");
}

#[test]
fn a_drawing_that_takes_long_is_made_seldom() {
    let mut scene = ScriptedDisplay::new(Duration::from_millis(10));
    scene.run(1_000, Duration::from_millis(5));
    let (frames, first_lines) = scene.drawing_counts();
    // In ten seconds of turns, ten milliseconds of every two seconds are for drawing.
    assert!((5..=7).contains(&frames), "{frames}");
    assert!(first_lines <= 505, "at most one in 20 ms: {first_lines}");
}

#[test]
fn everything_is_drawn_if_the_last_drawing_is_gone_or_the_size_changed() {
    let mut scene = ScriptedDisplay::new(Duration::ZERO);
    scene.run(1, Duration::from_secs(1));
    let turn = |scene: &mut ScriptedDisplay| {
        scene.script.borrow_mut().now += Duration::from_secs(1);
        let before = scene.drawing_counts();
        scene.display.announce_step(Step::Turn {
            trial: TrialIndex::new(0),
            round: 1,
            position: 0,
            trial_count: 2,
        });
        let after = scene.drawing_counts();
        (after.0 - before.0, after.1 - before.1)
    };
    assert_eq!(turn(&mut scene), (0, 1));
    scene.script.borrow_mut().is_drawn = false;
    assert_eq!(turn(&mut scene), (1, 0), "a notice was in its place");
    scene.script.borrow_mut().columns = 40;
    assert_eq!(turn(&mut scene), (1, 0), "the terminal became narrower");
    assert!(scene.script.borrow().lines.iter().all(|line| line.chars().count() < 40));
    assert_eq!(turn(&mut scene), (0, 1));
}

#[test]
fn only_the_ending_key_ends_a_run() {
    let mut scene = ScriptedDisplay::new(Duration::ZERO);
    scene.run(1, Duration::from_secs(1));
    scene.script.borrow_mut().keys = b"xyz\n\x1b[A".to_vec();
    assert!(!scene.display.wants_end());
    scene.script.borrow_mut().keys = b"aq".to_vec();
    assert!(scene.display.wants_end() && scene.display.wants_end(), "it stays so");
}
