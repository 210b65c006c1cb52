//! How pages report weak evidence: estimated residency, unproven readings, commands that may have
//! read only a part, and windows below the resolution of a clock.

use super::*;
use readlab_analysis::compare::{Measure, Side};
use readlab_model::sample::{DeliveryMeter, Meter, TurnSeen};
use readlab_model::target::TargetKind;
use readlab_model::target::device::Device;
use readlab_model::target::extents::Extents;
use readlab_model::target::tree::TreeFacts;
use readlab_model::trial::Work;

#[test]
fn sampled_residency_is_called_an_estimate_and_a_reading_of_a_hole_is_unproven() {
    let mut record = record();
    announce(&mut record, 0, "rust/read", CacheState::Cold);
    let rounds = (0..).zip([(1.0, SIZE), (0.5, SIZE), (0.5, 0), (0.0, 0)]);
    let read = rounds.map(|(round, (after, device))| Sample {
        device_read_bytes: Some(device),
        resident_before: Some(0.0),
        resident_after: Some(after),
        resident_is_estimate: round > 0,
        ..reading(0, round, 1_000_000)
    });
    add_readings(&mut record, 0, read);
    let page = Page::from_record(&record);
    let line = page.rankings[0].proof_line();
    assert!(
        line.starts_with(
            "proof: residency known for 4 of 4 samples (estimated for 3, from sampled pages), 0 rejected"
        ),
        "{line}"
    );
    let end = "; 1 left less than the file in the cache: device bytes alone prove them; 2 left less than the file in the cache \
               and took nothing from the device: that they read it is unproven";
    assert!(line.ends_with(end), "{line}");
    assert!(terminal_text(&record).contains(&line) && markdown(&page).contains(&line));
    let caution = "how much of the file was in the page cache is an estimate, from sampled pages: 3 readings";
    assert_eq!(page.cautions, [caution]);
    assert_eq!(crate::cautions(&record), [caution]);
    assert!(crate::html(&page).contains("is an estimate, from sampled pages"));
    let document = document(&record);
    let proof = &document["proofs"][0];
    let counted = ["residency_estimated", "by_device_bytes_alone", "unproven"];
    assert_eq!(counted.map(|name| proof[name].as_u64().unwrap()), [3, 1, 2]);
    assert_eq!(document["trials"][0]["samples"][3]["resident_is_estimate"], true);
    let table = csv(&record);
    let last_of_each = table.lines().map(|line| line.rsplit_once(',').unwrap().1);
    assert_eq!(last_of_each.collect::<Vec<_>>(), ["resident_is_estimate", "false", "true", "true", "true"]);
}

#[test]
fn a_command_that_may_have_read_a_part_has_no_rate() {
    let mut record = record();
    record.targets[TargetIndex::new(0)].extents = Some(Extents::default());
    let (head, gzip) = ("command/head -n 10", "command/gzip -c");
    let (warm, cold) = (CacheState::Warm, CacheState::Cold);
    let trials = [(head, warm, 1.0), (gzip, warm, 1.0), (head, cold, 0.5), (gzip, cold, 1.0)];
    for (index, (name, state, after)) in trials.into_iter().enumerate() {
        announce(&mut record, index, name, state).work = Work::Output;
        let delivered = Some(DeliveryMeter::Calls);
        let read = |round| Sample {
            device_read_bytes: Some(if state == cold { SIZE } else { 0 }),
            resident_after: Some(after),
            turn: TurnSeen { delivered, wall_ns: Some(3_000_000), ..TurnSeen::default() },
            ..reading(index, round, 2_000_000)
        };
        add_readings(&mut record, index, (0..6).map(read));
    }
    let page = Page::from_record(&record);
    for ranking in &page.rankings {
        let rates: Vec<_> = ranking.rows.iter().map(|row| row.throughput.map(|rate| rate.0)).collect();
        assert_eq!(rates, [None, Some(5e11)]);
    }
    // In a chart of rates, a row without a rate has no bar.
    let charts = crate::svg_files(&page).into_iter().filter(|(name, _)| name.starts_with("ranking"));
    let bars: Vec<usize> = charts.map(|(_, text)| text.matches("class=\"bar\"").count()).collect();
    assert_eq!(bars, [1, 1]);
    assert_eq!(terminal_text(&record).matches("500 GB/s").count(), 2, "{}", terminal_text(&record));
    let document = document(&record);
    let of = |trial: usize, name: &str| document["trials"][trial][name].clone();
    assert!(of(0, "throughput_bytes_per_s").is_null() && of(0, "bytes_in").is_null());
    assert!(of(0, "missing")["bytes_in"].as_str().unwrap().contains("may have read a part"));
    assert_eq!(of(1, "bytes_in"), SIZE);
    let rates: Vec<bool> = Side::of_record(&record, "a", "a")
        .cases
        .iter()
        .map(|it| it.figures.contains_key(&Measure::Rate))
        .collect();
    assert_eq!(rates, [false, true, false, true]);
}

#[test]
fn a_command_that_reads_a_part_has_a_share_and_a_rate_of_its_bytes() {
    let mut record = record();
    let facts = &mut record.targets[TargetIndex::new(0)];
    facts.extents = Some(Extents::default());
    facts.device = Some(Device { read_ahead_bytes: Some(128 << 10), ..Device::default() });
    let part_bytes = SIZE / 4;
    let states = [(CacheState::Cold, part_bytes, 0.25), (CacheState::Warm, 0, 1.0)];
    for (index, (state, device_bytes, after)) in states.into_iter().enumerate() {
        announce(&mut record, index, "command/head -c 250M", state).work = Work::Part;
        let read = |round| Sample {
            device_read_bytes: Some(device_bytes),
            resident_after: Some(after),
            ..reading(index, round, 2_000_000)
        };
        add_readings(&mut record, index, (0..6).map(read));
    }
    for ranking in &Page::from_record(&record).rankings {
        let row = &ranking.rows[0];
        assert_eq!((row.share_read, row.throughput.map(|rate| rate.0)), (Some(0.25), Some(1.25e11)));
    }
    let shown = terminal_text(&record);
    assert!(shown.contains("reads") && shown.matches("25.0 %").count() >= 2, "{shown}");
    assert!(!shown.contains("explanation: a cold reading asks for"), "{shown}");
    let document = document(&record);
    for trial in [0_usize, 1] {
        let trial = &document["trials"][trial];
        assert_eq!((&trial["share_read"], &trial["bytes_in"]), (&0.25.into(), &part_bytes.into()), "{trial}");
    }
}

#[test]
fn controls_that_count_newlines_stand_beside_commands_that_count_nothing() {
    let mut record = record();
    announce(&mut record, 0, "command/head -n 10", CacheState::Warm).work = Work::Part;
    announce(&mut record, 1, "command/true", CacheState::Warm).cache = Cache::None;
    for index in [0, 1] {
        add_readings(&mut record, index, (0..6).map(|round| reading(index, round, 2_000_000)));
    }
    let page = Page::from_record(&record);
    let [ranking] = &page.rankings[..] else { panic!("one ranking: {:?}", page.rankings.len()) };
    assert_eq!((ranking.work, ranking.rows.len(), ranking.controls.len()), (Work::Part, 1, 1));
    // A record of controls alone keeps its ranking.
    record.trials[TrialIndex::new(0)].trial.cache = Cache::None;
    assert_eq!(Page::from_record(&record).rankings.len(), 2);
}

#[test]
fn names_have_a_rate_of_names_and_none_of_bytes() {
    let mut record = record();
    let facts = &mut record.targets[TargetIndex::new(0)];
    facts.kind = TargetKind::Tree(TreeFacts { files: 900, ..TreeFacts::default() });
    facts.answer = Some(Answer { names: Some(1_000), ..Answer::default() });
    announce(&mut record, 0, "rust/names-readdir", CacheState::Warm).work = Work::Names;
    let read = |round| Sample {
        resident_before: Some(1.0),
        resident_after: Some(1.0),
        device_read_bytes: Some(0),
        ..reading(0, round, 1_000_000)
    };
    add_readings(&mut record, 0, (0..6).map(read));
    let page = Page::from_record(&record);
    let row = &page.rankings[0].rows[0];
    assert_eq!((row.throughput, row.pieces_per_s), (None, Some(1e6)));
    assert!(page.rankings[0].proof_line().starts_with("proof: names looked up (256 at most) for 6 of 6"));
    let shown = terminal_text(&record);
    assert!(shown.contains("names/s") && shown.contains("1\u{202f}000 names of"), "{shown}");
    let document = document(&record);
    let trial = &document["trials"][0];
    assert_eq!((&trial["names"], &trial["names_per_s"]), (&1_000.into(), &1_000_000.into()), "{trial}");
    assert!(trial.get("files_per_s").is_none() && trial["bytes_in"].is_null(), "{trial}");
    assert!(trial["missing"]["bytes_in"].as_str().unwrap().contains("no byte of a file"), "{trial}");
}

#[test]
fn a_reading_of_microseconds_keeps_no_processors_busy_and_has_no_parts() {
    let mut record = Record::new(header());
    record.add(testing::target_line_of_size(0, 1));
    announce(&mut record, 0, "rust/read", CacheState::Warm);
    let (cpu_user_ns, cpu_system_ns) = (Some(1_000), Some(3_000));
    let read = |round| Sample { cpu_user_ns, cpu_system_ns, ..reading(0, round, 2_900) };
    add_readings(&mut record, 0, (0..6).map(read));
    let row = &Page::from_record(&record).rankings[0].rows[0];
    let diagnosis = row.diagnosis.as_ref().unwrap();
    assert!(!row.summaries.contains_key(&Meter::CpuSystemNs) && row.cpu_time.is_none());
    assert!(
        row.missing_reasons["cpu_user_ns"].contains("fewer than 40 of them"),
        "{:?}",
        row.missing_reasons
    );
    assert_eq!((row.busy_processors, diagnosis.parts), (None, None));
    let compared = &Side::of_record(&record, "a", "a").cases[0].figures;
    assert!(compared.contains_key(&Measure::Wall) && !compared.contains_key(&Measure::Cpu));
    let why = "what stops it is not known: no CPU times: its clock counts CPU time in steps of 1.00 µs, and a window of 2.90 µs \
               has fewer than 40 of them";
    assert_eq!(diagnosis.sentence, why);
}
