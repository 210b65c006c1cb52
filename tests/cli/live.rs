//! Tests of the terminal during a race: the ranking that grows, narrow terminals, other sizes, the
//! keys, and a clean screen however the race ends.

use crate::home::{Home, READLAB};
use crate::pseudo_terminal::{PseudoTerminal, command};
use readlab_record::EndReason;
use readlab_system::terminal::screen::{Screen, Surface};
use rustix::process::Signal;

/// The arguments of a race of two methods, so that a round is short.
const TWO_METHODS: &str = "--method rust/read/scalar --method rust/mmap/scalar --fills 1";

/// More readings than a race ever takes. The test ends the race.
const ENDLESS_RUNS: &str = "100000";

/// The last line on the terminal during a race.
const KEYS_LINE: &str = "q ends: what is decided stands";

/// A home with a file of lines.
fn home() -> Home {
    Home::with_file("lines.txt", "line\n".repeat(1 << 18))
}

/// The command line of a race that ends by itself after this number of readings in each state.
fn race(runs: &str) -> String {
    format!("'{READLAB}' race lines.txt {TWO_METHODS} --runs {runs} --budget 600s --output run")
}

/// Starts a command line on a terminal of the default size.
fn run_on_terminal(home: &Home, line: &str) -> PseudoTerminal {
    PseudoTerminal::start(command(home, line), 100, 40)
}

/// Asserts that the program exits successfully, and leaves a clean screen.
#[track_caller]
fn assert_ends(terminal: &mut PseudoTerminal) {
    assert_eq!(terminal.finish(), Some(0), "{}", String::from_utf8_lossy(&terminal.output));
    assert_clean(terminal);
}

/// Whether a ranking with rates is visible.
fn has_ranking(terminal: &PseudoTerminal) -> bool {
    let text = terminal.text();
    text.contains(KEYS_LINE) && text.contains("B/s") && text.contains("cold · newlines")
}

/// The number of the current round; 0 before the first.
fn round(terminal: &PseudoTerminal) -> u32 {
    let text = terminal.text();
    let number =
        text.split("· round ").nth(1).and_then(|rest| rest.split(|it: char| !it.is_ascii_digit()).next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Whether every trial was read once, so that a race that ends now misses none.
fn has_full_round(terminal: &PseudoTerminal) -> bool {
    has_ranking(terminal) && round(terminal) > 1
}

/// Asserts that the screen contains only the permanent output of the race, and that the terminal is
/// in the state that a shell expects.
fn assert_clean(terminal: &PseudoTerminal) {
    let text = terminal.text();
    assert!(!text.contains(KEYS_LINE) && !text.contains("ends after") && !text.contains("░"), "{text}");
    assert!(terminal.is_cursor_visible() && terminal.is_as_shells_expect(), "{text}");
}

fn end_of(home: &Home) -> Option<EndReason> {
    home.record("run").end.map(|(reason, _)| reason)
}

#[test]
fn the_rankings_of_both_states_grow_and_give_way_to_the_tables() {
    let home = home();
    let mut race = run_on_terminal(&home, &race("40"));
    race.wait_for("the reading of the file", |it| it.text().contains("once for the right answer"));
    race.wait_for("a ranking", has_ranking);
    assert!(end_of(&home).is_none(), "the race goes on");
    race.wait_for("both rankings", |it| has_ranking(it) && it.text().contains("warm · newlines"));
    let ranked = race.text();
    assert!(ranked.contains("rust/mmap/scalar") && ranked.contains("rust/read/scalar"), "{ranked}");
    assert!(!race.has_wrapped_line(), "{ranked}");
    assert_ends(&mut race);
    let text = race.text();
    assert!(text.contains("record: ") && text.contains("× reference"), "{text}");
}

#[test]
fn q_ends_a_race_as_its_budget_would() {
    let home = home();
    let mut race = run_on_terminal(&home, &race(ENDLESS_RUNS));
    race.wait_for("a ranking after a round", has_full_round);
    assert!(!race.is_as_shells_expect(), "keys arrive as they are pressed");
    race.press(b"x");
    race.press(b"q");
    assert_ends(&mut race);
    assert!(race.text().contains("record: "), "{}", race.text());
    let record = home.record("run");
    assert!(matches!(record.end, Some((EndReason::Budget, _))), "{:?}", record.end);
    assert!(record.trials.iter().any(|trial| trial.is_measured() && trial.outcome.is_some()));
    assert!(record.warnings.iter().any(|text| text.starts_with("the user ended")), "{:?}", record.warnings);
}

#[test]
fn a_race_that_is_stopped_leaves_a_clean_screen() {
    // When the process continues after a stop, two signals are pending, so it ends without its own
    // cleanup.
    const TWO_PENDING_SIGNALS: [Signal; 4] = [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT];
    for (keys, signals, code) in [
        (&b"\x03"[..], &[][..], 130),
        (b"", &[Signal::TERM], 143),
        (b"", &[Signal::HUP], 129),
        (b"", &TWO_PENDING_SIGNALS, 130),
    ] {
        let home = home();
        let mut race = run_on_terminal(&home, &race(ENDLESS_RUNS));
        race.wait_for("a ranking", has_ranking);
        race.press(keys);
        signals.iter().for_each(|signal| race.send(*signal));
        assert_eq!(race.finish(), Some(code), "{signals:?}");
        assert_clean(&race);
    }
}

#[test]
fn a_terminal_may_change_its_size_in_the_middle() {
    let home = home();
    let mut race = PseudoTerminal::start(command(&home, race(ENDLESS_RUNS)), 100, 30);
    race.wait_for("a ranking after a round", has_full_round);
    for (columns, rows) in [(45, 30), (45, 8), (120, 24), (60, 24), (30, 12)] {
        race.resize(columns, rows);
        let fits = |it: &PseudoTerminal| {
            let text = it.text();
            let is_once = |part: &&str| {
                let part: String = part.chars().take(usize::from(columns) / 3).collect();
                let lines = text.lines().map(|line| line.trim_start_matches([' ', '1', '2']));
                lines.filter(|line| line.starts_with(&part)).count() == 1
            };
            [KEYS_LINE, "rust/read/scalar", "cold · newlines"].iter().all(is_once) && !it.has_wrapped_line()
        };
        race.wait_for(&format!("one ranking in {columns} columns"), fits);
    }
    race.press(b"q");
    assert_ends(&mut race);
}

#[test]
fn a_dumb_terminal_gets_one_line_after_each_round_and_no_escapes() {
    for kind in ["dumb", ""] {
        let home = home();
        let mut race = command(&home, race("3"));
        race.env("TERM", kind);
        let mut race = PseudoTerminal::start(race, 150, 60);
        assert_eq!(race.finish(), Some(0), "{}", String::from_utf8_lossy(&race.output));
        let output = String::from_utf8_lossy(&race.output).into_owned();
        assert!(output.contains("readlab: cold, round 1: first "), "{output}");
        assert!(!output.contains("\x1b[?") && !output.contains("\x1b[K"), "{output:?}");
        assert!(kind != "dumb" || !output.contains('\x1b'), "{output:?}");
    }
}

#[test]
fn a_pipe_gets_one_line_after_each_round() {
    let lines = home().readlab(format!("race lines.txt {TWO_METHODS} --runs 3 --seed=7"));
    for state in ["cold", "warm"] {
        lines.tells(&format!("readlab: {state}, round 1: first "));
    }
    let has_speed = |line: &str| line.contains("B/s") || line.contains(", too far apart; ");
    assert!(lines.err.lines().all(|line| line.starts_with("readlab: ") && has_speed(line)), "{lines}");
    assert!(!lines.err.contains('\u{1b}') && lines.err.contains(" left"), "{lines}");
}

#[test]
fn a_panic_leaves_a_clean_screen() {
    let home = Home::new();
    let own = std::env::current_exe().unwrap();
    let words = "--ignored --exact cli::live::draws_and_panics --nocapture";
    let mut program = run_on_terminal(&home, &format!("'{}' {words}", own.display()));
    assert_eq!(program.finish(), Some(101), "{}", program.text());
    assert!(String::from_utf8_lossy(&program.output).contains("a line that is drawn"));
    assert!(program.text().contains("on purpose"), "{}", program.text());
    assert!(!program.text().contains("a line that is drawn"), "{}", program.text());
    assert_clean(&program);
}

#[test]
#[ignore = "a program for the test above"]
fn draws_and_panics() {
    let mut screen = Screen::of_stderr().unwrap();
    screen.draw(&["a line that is drawn".to_owned(), "another".to_owned()]);
    panic!("on purpose");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_race_that_the_keyboard_kills_leaves_a_clean_screen() {
        let home = home();
        let mut race = run_on_terminal(&home, &race(ENDLESS_RUNS));
        race.wait_for("a ranking", has_ranking);
        race.press(b"\x1c");
        assert_eq!(race.finish(), None, "by SIGQUIT");
        assert_clean(&race);
    }

    #[test]
    fn a_race_that_ctrl_z_stops_gives_the_terminal_back_until_it_goes_on() {
        let home = home();
        let script = "\"$@\"; echo stopped; read answer; fg > /dev/null; echo went on: $?";
        let mut shell = run_on_terminal(&home, &format!("bash -mc '{script}' bash {}", race(ENDLESS_RUNS)));
        shell.wait_for("a ranking after a round", has_full_round);
        shell.press(b"\x1a");
        shell.wait_for("the shell", |it| it.lines().iter().any(|line| line == "stopped"));
        assert_clean(&shell);
        shell.press(b"\n");
        shell.wait_for("the ranking again", has_ranking);
        shell.press(b"q");
        shell.finish();
        assert_clean(&shell);
        assert!(shell.text().contains("went on: 0"), "{}", shell.text());
        assert_eq!(end_of(&home), Some(EndReason::Budget));
    }

    #[test]
    fn without_keys_the_ranking_is_shown_and_the_terminal_is_left_as_it_is() {
        let home = home();
        let line = format!("sh -c 'exec \"$@\" < /dev/null' sh {}", race("6"));
        let mut race = run_on_terminal(&home, &line);
        race.wait_for("a ranking", |it| it.text().contains("cold · newlines"));
        assert!(race.is_as_shells_expect() && !race.text().contains(KEYS_LINE), "{}", race.text());
        assert_ends(&mut race);
    }

    #[test]
    fn tune_sweep_and_limits_show_their_progress_too() {
        let home = home();
        for (words, seen) in [
            ("tune lines.txt --space 'buffer=4KiB|64KiB' --method rust/read/scalar --budget 10s", "· search"),
            ("sweep . --sizes 1MiB,2MiB --repeat 3", "rust/direct@buffer=1MiB "),
            ("limits lines.txt --runs 5", "warm · newlines"),
        ] {
            let mut run = run_on_terminal(&home, &format!("'{READLAB}' {words}"));
            run.wait_for(&format!("{seen} of {words}"), |it| it.text().contains(seen));
            assert_ends(&mut run);
        }
    }
}
