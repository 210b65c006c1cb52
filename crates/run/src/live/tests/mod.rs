//! Tests of the drawn text: views are made from lines and steps, and compared with the expected
//! text. [`drawing`] tests when views are drawn.

mod drawing;

use super::now;
use super::render::{TerminalFacts, view_lines};
use super::view::View;
use readlab_measure::interface::{RunProgress, Step};
use readlab_model::sample::Sample;
use readlab_model::target::memory::MemoryFacts;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, TrialIndex, Work};
use readlab_protocol::Cache;
use readlab_record::testing::{self, header, trial_line};
use readlab_record::{Header, Line, Outcome, RunKind, Trial};
use readlab_system::terminal::cells::width;
use readlab_system::tty::TerminalSize;

const COLD: CacheState = CacheState::Cold;
const WARM: CacheState = CacheState::Warm;

/// The trials of each state, and the time of their readings in milliseconds.
const TRIALS: [(&str, u64); 5] = [
    ("rust/io_uring/avx512-pages@buffer=128KiB,depth=16,registered=1", 50),
    ("rust/io_uring/avx512-pages@buffer=1MiB,depth=16,registered=1", 60),
    ("rust/mmap/avx2", 40),
    ("command/wc -l \u{1b}[31m{}", 100),
    ("rust/null", 1),
];

fn target_line(index: usize, path: &str) -> Line {
    let facts = TargetFacts { path: path.into(), size_bytes: 1_000_000_000, ..TargetFacts::default() };
    testing::target_line(index, facts)
}

fn sample_line(trial: usize, round: u32, wall_ms: u64) -> Line {
    let (trial, wall_ns) = (TrialIndex::new(trial), wall_ms * 1_000_000);
    Line::Sample(Box::new(Sample { trial, round, fill: round, wall_ns, ..Sample::default() }))
}

/// The line of a trial that reads through the page cache; `change` edits the trial.
fn changed_trial_line(index: usize, name: &str, state: CacheState, change: impl FnOnce(&mut Trial)) -> Line {
    let mut line = trial_line(index, name, state, Cache::Through);
    let Line::Trial(trial) = &mut line else { unreachable!() };
    change(trial);
    line
}

/// A race in the middle of its warm rounds, after ten cold and three warm rounds.
fn race_view() -> View {
    let mut view = View::new();
    view.add_line(&Line::Header(Box::new(header())));
    view.add_line(&target_line(0, "/data/a\u{1b}b.txt"));
    for (begin, state, rounds) in [(0, COLD, 10), (TRIALS.len(), WARM, 3)] {
        view.announce_step(Step::State(state, TRIALS.len()));
        for (index, (name, _)) in (begin..).zip(TRIALS) {
            let cache = if name == "rust/null" { Cache::None } else { Cache::Through };
            view.announce_step(Step::Start(TrialIndex::new(index)));
            view.add_line(&trial_line(index, name, state, cache));
        }
        for round in 0..rounds {
            for (index, (_, wall_ms)) in (begin..).zip(TRIALS) {
                view.announce_step(Step::Turn {
                    trial: TrialIndex::new(index),
                    round,
                    position: 0,
                    trial_count: 5,
                });
                view.add_line(&sample_line(index, round, wall_ms));
            }
            let share = f64::from(round + 1) / 20.0 + if state == WARM { 0.5 } else { 0.0 };
            view.announce_step(Step::RoundOver(RunProgress { share, elapsed_ns: 120_000_000_000 }));
        }
    }
    view.add_line(&Line::Warning { text: "another readlab measures\nhere".into() });
    view.announce_step(Step::Turn {
        trial: TrialIndex::new(TRIALS.len() + 2),
        round: 3,
        position: 1,
        trial_count: 5,
    });
    view
}

fn terminal_facts(columns: u16, rows: u16) -> TerminalFacts {
    TerminalFacts { size: TerminalSize { columns, rows }, has_styles: false, has_keys: true }
}

fn screen_text(view: &View, columns: u16, rows: u16) -> String {
    view_lines(view, terminal_facts(columns, rows)).join("\n")
}

#[test]
fn a_race_on_terminals_of_four_widths() {
    for columns in [20, 40, 80, 200] {
        insta::assert_snapshot!(format!("race_in_{columns}_columns"), screen_text(&race_view(), columns, 24));
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_and_there_are_not_more_than_it_has() {
    let mut views = vec![View::new(), race_view()];
    for step in [
        Step::State(WARM, 35),
        Step::Fill(2),
        Step::Start(TrialIndex::new(3)),
        Step::Inspect(TrialIndex::new(2)),
    ] {
        let mut view = race_view();
        view.announce_step(step);
        views.push(view);
    }
    let widths = (1..24).chain([29, 30, 31, 37, 38, 39, 49, 50, 51, 89, 90, 91, 200]);
    for (columns, rows) in widths.flat_map(|columns| [1, 2, 3, 5, 8, 13, 24].map(|rows| (columns, rows))) {
        for view in &views {
            let lines = view_lines(view, terminal_facts(columns, rows));
            assert!(lines.len() <= usize::from(rows), "{columns} x {rows}: {lines:#?}");
            let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
            assert!(widest <= usize::from(columns), "{columns} x {rows}: {lines:#?}");
            assert!(!lines.iter().any(|line| line.contains(char::is_control)), "{lines:#?}");
        }
    }
}

#[test]
fn on_few_lines_the_state_that_is_measured_comes_first() {
    let lines = screen_text(&race_view(), 80, 12);
    assert!(lines.contains("warm · newlines") && lines.contains("rust/mmap/avx2"), "{lines}");
    let cold = lines.lines().skip_while(|line| !line.starts_with("cold · newlines"));
    assert_eq!(cold.take_while(|line| !line.starts_with("warm")).count(), 3, "{lines}");
    assert!(!screen_text(&race_view(), 80, 8).contains("cold · newlines"));
}

#[test]
fn styles_change_no_text() {
    let plain = view_lines(&race_view(), terminal_facts(80, 24));
    let styled = view_lines(&race_view(), TerminalFacts { has_styles: true, ..terminal_facts(80, 24) });
    let stripped: Vec<String> =
        styled.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    assert_eq!(stripped, plain);
    assert_ne!(styled, plain);
}

#[test]
fn a_trial_that_is_refused_leaves_the_ranking_and_is_counted() {
    let mut view = race_view();
    let refused = Outcome::Refused { reason: "it lied".into() };
    view.add_line(&Line::Outcome { trial: TrialIndex::new(TRIALS.len() + 2), outcome: refused });
    let lines = screen_text(&view, 200, 24);
    assert!(lines.contains("warm · newlines · 1.00 GB · a\\u{1b}b.txt · 1 not measured"), "{lines}");
    assert_eq!(lines.matches("rust/mmap/avx2 ").count(), 2, "in the first line and among the cold: {lines}");
}

#[test]
fn readings_of_a_search_are_shown_until_there_are_reported_readings() {
    let mut view = View::new();
    view.add_line(&target_line(0, "f"));
    view.announce_step(Step::State(WARM, 2));
    for (index, name) in ["rust/mmap", "rust/read"].into_iter().enumerate() {
        view.add_line(&trial_line(index, name, WARM, Cache::Through));
        let of_rung =
            Sample { trial: TrialIndex::new(index), rung: Some(0), wall_ns: 1_000_000, ..Sample::default() };
        view.add_line(&Line::Sample(Box::new(of_rung)));
    }
    let searching = screen_text(&view, 80, 24);
    assert!(searching.contains("· search") && searching.contains("rust/mmap"), "{searching}");
    view.add_line(&sample_line(1, 1, 7));
    let measuring = screen_text(&view, 80, 24);
    assert!(!measuring.contains("search") && !measuring.contains("rust/mmap"), "{measuring}");
}

#[test]
fn a_live_column_is_shown_if_there_is_room() {
    let mut view = View::new();
    view.announce_step(Step::State(WARM, 1));
    view.add_line(&trial_line(0, "rust/mmap", WARM, Cache::Through));
    for (round, counted) in [(0, 1 << 20), (1, 3 << 20), (2, 2 << 20)] {
        let Line::Sample(sample) = sample_line(0, round, 7) else { unreachable!() };
        view.add_line(&Line::Sample(Box::new(Sample { peak_rss_bytes: Some(counted), ..*sample })));
    }
    let shows = |columns| screen_text(&view, columns, 24).contains("2.00 MiB peak memory");
    assert!(shows(170) && !shows(120), "{}", screen_text(&view, 170, 24));
}

#[test]
fn methods_of_a_sweep_are_compared_over_all_files() {
    let mut view = View::new();
    view.add_line(&Line::Header(Box::new(Header { kind: RunKind::Sweep, ..header() })));
    view.announce_step(Step::State(COLD, 4));
    for (index, name) in ["rust/read", "rust/mmap", "rust/mmap", "rust/read"].into_iter().enumerate() {
        view.add_line(&target_line(index, &format!("file {index}")));
        view.add_line(&changed_trial_line(index, name, COLD, |trial| trial.target = TargetIndex::new(index)));
        view.add_line(&sample_line(index, 0, if name == "rust/mmap" { 500 } else { 250 }));
    }
    let lines = screen_text(&view, 80, 24);
    let rows: Vec<&str> = lines.lines().filter(|line| line.contains("GB/s")).collect();
    assert_eq!(rows.len(), 2, "{lines}");
    assert!(rows[0].contains("rust/read") && rows[0].contains("4.00 GB/s"), "{lines}");
    assert!(rows[1].contains("rust/mmap") && rows[1].contains("2.00 GB/s"), "{lines}");
}

#[test]
fn a_command_that_may_read_a_part_has_no_rate() {
    for kind in [RunKind::Race, RunKind::Sweep] {
        let mut view = View::new();
        view.add_line(&Line::Header(Box::new(Header { kind, ..header() })));
        view.add_line(&target_line(0, "f"));
        view.announce_step(Step::State(COLD, 1));
        view.add_line(&changed_trial_line(0, "command/head {}", COLD, |trial| trial.work = Work::Output));
        view.add_line(&sample_line(0, 0, 250));
        let lines = screen_text(&view, 80, 24);
        assert!(lines.contains("command/head") && !lines.contains("B/s"), "{lines}");
    }
}

#[test]
fn controls_are_ranked_if_there_are_no_other_trials() {
    let of_controls = |ranks_controls| {
        let mut view = View::new();
        view.ranks_controls = ranks_controls;
        view.announce_step(Step::State(WARM, 1));
        view.add_line(&trial_line(0, "rust/null", WARM, Cache::None));
        view.add_line(&sample_line(0, 0, 3));
        screen_text(&view, 80, 24).contains("rust/null")
    };
    assert!(of_controls(true) && !of_controls(false));
}

#[test]
fn before_the_first_round_the_line_counts_the_starts() {
    let mut view = View::new();
    view.announce_step(Step::State(COLD, 35));
    view.announce_step(Step::Start(TrialIndex::new(0)));
    view.announce_step(Step::Start(TrialIndex::new(1)));
    assert_eq!(screen_text(&view, 80, 24).lines().next().unwrap(), "cold · starting · 2/35");
}

#[test]
fn the_line_after_a_round_names_the_first_with_its_rate_and_the_time_left() {
    assert_eq!(now::line_after_round(&View::new()), None);
    assert_eq!(
        now::line_after_round(&race_view()).unwrap(),
        "warm, round 4: first rust/mmap/avx2, 25.0 GB/s ±0 %; 1 min 5 s left"
    );
    let mut view = race_view();
    view.add_line(&target_line(1, "/other/b.txt"));
    let line = now::line_after_round(&view).unwrap();
    assert!(
        line.starts_with("warm, round 4: first rust/mmap/avx2 (") && line.contains("b.txt), 25.0"),
        "{line}"
    );
}

#[test]
fn the_line_after_a_round_names_the_bound_of_its_ranking() {
    let mut view = View::new();
    view.add_line(&Line::Header(Box::new(header())));
    view.add_line(&target_line(0, "/data/a"));
    let bound = "50%".parse().unwrap();
    let memory = MemoryFacts { bound, cache_bytes: 50, working_set_bytes: 100, is_shared: false };
    let facts = TargetFacts { path: "/data/a".into(), memory_bound: Some(memory), ..TargetFacts::default() };
    view.add_line(&testing::target_line(1, TargetFacts { size_bytes: 100, ..facts }));
    view.announce_step(Step::State(CacheState::Pressed, 1));
    view.add_line(&changed_trial_line(0, "rust/read", CacheState::Pressed, |trial| {
        trial.target = TargetIndex::new(1)
    }));
    view.announce_step(Step::Turn { trial: TrialIndex::new(0), round: 0, position: 0, trial_count: 1 });
    view.add_line(&sample_line(0, 0, 10));
    let said = now::line_after_round(&view).unwrap();
    assert!(said.starts_with("pressed, round 1: first rust/read+memory=50%, "), "{said}");
}
