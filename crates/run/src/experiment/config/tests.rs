//! Tests of merging the user's options with a suite: which of them takes precedence.

use super::*;
use crate::experiment::options::SamplingOptions;
use clap::Args;
use readlab_record::LocationOptions;
use std::path::Path;

fn suite_with(head: &str) -> Suite {
    let text =
        format!("name = \"x\"\nabout = \"\"\n{head}\n[[trial]]\ntrial = \"rust/read\"\nwork = \"lines\"\n");
    Suite { own_file: Some("x.toml".into()), ..Suite::parse(Path::new("x.toml"), &text).unwrap() }
}

/// The options of a user who sets only sampling options.
fn options_with_sampling(sampling: SamplingOptions) -> UserOptions {
    UserOptions { sampling, ..UserOptions::default() }
}

fn refusal(kind: RunKind, head: &str, user: UserOptions) -> String {
    format!("{:#}", RunConfig::merge(kind, suite_with(head), user).unwrap_err())
}

fn merged_config(head: &str, user: UserOptions) -> RunConfig {
    RunConfig::merge(RunKind::Suite, suite_with(head), user).unwrap()
}

#[test]
fn the_suite_decides_what_the_user_leaves_open() {
    let head = "work = \"sum\"\nstate = \"warm\"\nmin_runs = 40\nmax_runs = 20\nmax_time = \"2s\"\nbudget = \"8m\"\nreference = \"rust/read\"";
    let config = merged_config(head, UserOptions::default());
    let rules = config.rules;
    assert_eq!((rules.min_readings, rules.max_readings), (20, 20));
    assert_eq!(rules.max_time, Nanos(2_000_000_000));
    assert_eq!(rules.budget, Budget::Advised(Nanos(480_000_000_000)));
    assert_eq!((config.work, config.states), (Some(Work::Sum), StateChoice::Warm));
    assert_eq!(config.reference, Some("rust/read".parse().unwrap()));
    assert_eq!((config.user.sampling.max_time, config.state_option), (None, None));
    assert!(config.entries.iter().any(|entry| entry.work == Some(Work::Lines)));
}

#[test]
fn an_option_of_the_user_takes_precedence_over_the_suite() {
    let head = "work = \"sum\"\nstate = \"warm\"\nmin_runs = 40\nmax_time = \"2s\"\nbudget = \"8m\"\nreference = \"rust/read\"";
    let second = Some(Nanos(1_000_000_000));
    let sampling = SamplingOptions {
        runs: Some(3),
        max_time: second,
        budget: second,
        state: Some(StateChoice::Cold),
        ..SamplingOptions::default()
    };
    let selection = SelectionOptions {
        work: Some(Work::Newlines),
        reference: Some("rust/mmap".to_owned()),
        ..SelectionOptions::default()
    };
    let config = merged_config(head, UserOptions { sampling, selection, ..UserOptions::default() });
    let rules = config.rules;
    assert_eq!((rules.min_readings, rules.max_readings), (3, 3));
    assert_eq!((Some(rules.max_time), config.user.sampling.max_time), (second, second));
    assert_eq!(rules.budget, Budget::Firm(Nanos(1_000_000_000)));
    assert_eq!((config.work, config.states), (Some(Work::Newlines), StateChoice::Cold));
    assert_eq!(config.state_option, Some("--state"));
    assert_eq!(config.reference, Some("rust/mmap".parse().unwrap()));
    assert!(config.entries.iter().all(|entry| entry.work.is_none()));
}

#[test]
fn documents_and_help_name_the_budget_of_the_suites_that_race_by_default() {
    let suites = [Some(Suite::race()), Some(Suite::commands())].into_iter();
    let suites = suites.chain([Work::Names, Work::Stat].map(Suite::for_name_work));
    let budgets: BTreeSet<String> = suites.map(|suite| suite.unwrap().budget.unwrap()).collect();
    assert_eq!(budgets.len(), 1, "{budgets:?}");
    let seconds = budgets.first().unwrap().parse::<Nanos>().unwrap().as_secs_f64();
    let help = SamplingOptions::augment_args(clap::Command::new("race")).render_long_help().to_string();
    let method = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../METHOD.md");
    for (text, words) in [
        (help, format!("[default: about {seconds} s for a race,")),
        (std::fs::read_to_string(method).unwrap(), format!("A race without `--budget` aims at {seconds} s,")),
    ] {
        let on_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(on_one_line.contains(&words), "no {words:?}");
    }
}

#[test]
fn the_user_s_number_of_readings_takes_precedence_over_the_suite_s() {
    let of = |head: &str, min_runs, max_runs| {
        let sampling = SamplingOptions { min_runs, max_runs, ..SamplingOptions::default() };
        let rules = merged_config(head, options_with_sampling(sampling)).rules;
        (rules.min_readings, rules.max_readings)
    };
    let head = "min_runs = 10\nmax_runs = 12";
    assert_eq!(of(head, None, None), (10, 12));
    assert_eq!(of(head, None, Some(5)), (5, 5));
    assert_eq!(of(head, None, Some(50)), (10, 50));
    assert_eq!(of(head, Some(20), None), (20, 20));
    assert_eq!(of(head, Some(20), Some(30)), (20, 30));
    assert_eq!(of("", None, None), (10, 100));
    assert_eq!(of("", Some(200), None), (200, 200));
}

#[test]
fn more_readings_at_least_than_at_most_are_refused() {
    let sampling = SamplingOptions { min_runs: Some(10), max_runs: Some(3), ..SamplingOptions::default() };
    let refused = refusal(RunKind::Suite, "", options_with_sampling(sampling));
    assert_eq!(refused, "--min-runs 10 is more than --max-runs 3");
}

#[test]
fn only_a_race_has_an_indifference_zone_and_none_with_a_number_of_readings() {
    let of = |head: &str, runs, min_runs| {
        let sampling = SamplingOptions { runs, min_runs, indifference: 0.05, ..SamplingOptions::default() };
        merged_config(head, options_with_sampling(sampling)).rules.indifference
    };
    let race = "focus = \"first\"";
    let none = [of("", None, None), of(race, Some(12), None), of(race, None, Some(12))];
    assert_eq!((of(race, None, None), none), (0.05, [0.0; 3]));
}

#[test]
fn trials_of_a_suite_file_count_as_named_unless_methods_are_named() {
    assert_eq!(
        merged_config("", UserOptions::default()).requested_names,
        [RequestedName::Trial("rust/read".to_owned())]
    );
    let selection = SelectionOptions {
        methods: vec!["rust/*".to_owned()],
        commands: vec![OwnCommand::without_rules("wc {}")],
        ..SelectionOptions::default()
    };
    let named = merged_config("", UserOptions { selection, ..UserOptions::default() }).requested_names;
    assert_eq!(
        named,
        [RequestedName::Command("wc {}".to_owned()), RequestedName::Method("rust/*".to_owned())]
    );
}

#[test]
fn a_malformed_time_or_reference_is_an_error_that_names_it() {
    let error =
        |head, selection| refusal(RunKind::Suite, head, UserOptions { selection, ..UserOptions::default() });
    assert!(error("max_time = \"soon\"", SelectionOptions::default()).starts_with("x: max_time: "));
    let selection = SelectionOptions { reference: Some("rust".to_owned()), ..SelectionOptions::default() };
    assert!(error("", selection).contains("'rust' is not a trial"));
}

#[test]
fn each_location_gets_the_advised_time_and_all_share_the_user_s() {
    let budget = |locations, budget| {
        let sampling = SamplingOptions { budget, ..SamplingOptions::default() };
        let user = UserOptions { locations, sampling, ..UserOptions::default() };
        merged_config("budget = \"8m\"", user).for_target_count(3).rules.budget
    };
    let (located, minute) = (Some(LocationOptions::default()), Nanos(60_000_000_000));
    assert_eq!(budget(located, None), Budget::Advised(Nanos(1_440_000_000_000)));
    assert_eq!(budget(None, None), Budget::Advised(Nanos(480_000_000_000)));
    assert_eq!(budget(located, Some(minute)), Budget::Firm(minute));
}

#[test]
fn bounds_on_memory_add_the_pressed_state_and_a_search_has_it_alone() {
    let user = |state| UserOptions {
        memory_bounds: MemoryBounds::new(vec!["50%".parse().unwrap()], false).unwrap(),
        sampling: SamplingOptions { state, ..SamplingOptions::default() },
        ..UserOptions::default()
    };
    let states = |kind, state| {
        let config = RunConfig::merge(kind, suite_with(""), user(state)).unwrap();
        config.provable_states()
    };
    let (cold, warm, pressed) = (CacheState::Cold, CacheState::Warm, CacheState::Pressed);
    assert_eq!(states(RunKind::Race, None), [cold, warm, pressed]);
    assert_eq!(states(RunKind::Tune, None), [pressed]);
    assert_eq!(states(RunKind::Tune, Some(StateChoice::Cold)), [cold, pressed]);
    assert_eq!(states(RunKind::Race, Some(StateChoice::Pressed)), [pressed]);
    let sampling = SamplingOptions { state: Some(StateChoice::Pressed), ..SamplingOptions::default() };
    let said = refusal(RunKind::Race, "", options_with_sampling(sampling));
    assert_eq!(said, "--state pressed is about bounds on memory, and none is given: --memory");
    let of_suite = merged_config("memory = [\"25%\", \"1MiB\"]", UserOptions::default());
    assert_eq!(of_suite.memory_bounds.bounds.len(), 2);
    assert!(of_suite.memory_bounds.is_optional, "cold and warm go on without the bounds of a suite");
    let by_user = merged_config("memory = [\"25%\"]", user(None));
    assert!(!by_user.memory_bounds.is_optional, "the user asks for them");
    let alone = "memory = [\"25%\"]\nstate = \"pressed\"";
    assert!(
        !merged_config(alone, UserOptions::default()).memory_bounds.is_optional,
        "nothing else is measured"
    );
    let twice = refusal(RunKind::Suite, "memory = [\"25%\", \"25%\"]", UserOptions::default());
    assert_eq!(twice, "--memory: 25% is given twice");
    let head = "memory = [\"25%\"]\nread_ahead_bytes = 65536";
    assert_eq!(merged_config(head, user(None)).memory_bounds.read_ahead_bytes, Some(64 << 10));
    let said = refusal(RunKind::Suite, "read_ahead_bytes = 65536", UserOptions::default());
    assert!(said.starts_with("read_ahead_bytes of the suite is for bounds on memory"), "{said}");
}
