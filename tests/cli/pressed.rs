//! Tests of races under bounds on memory: `readlab race FILE --memory`. Those that make control groups
//! are in `ring2`, because only root, or a user with a delegated group, may make them.

use crate::home::{Home, QUICK};

const ONE_METHOD: &str = "--method rust/read/scalar";

#[test]
fn impossible_bounds_are_refused_in_a_line() {
    let home = Home::with_file("f", "a line\n".repeat(1 << 14));
    for (words, why) in [
        ("--memory 50%,50%", "--memory: 50% is given twice"),
        ("--memory 50% --http", "--memory: not with --http"),
        ("--memory 50% --setting swappiness", "--memory: not with --setting"),
        ("--state pressed", "--state pressed is about bounds on memory, and none is given"),
        ("--memory 50% --memory-shared", "--memory-shared is about the readers beside the first"),
    ] {
        home.race("f", format!("{ONE_METHOD} {words}")).refuses(why);
    }
    for (bound, why) in [
        ("half", "'half' bounds no memory: a size (256MiB), or a percentage"),
        ("0%", "'0%' bounds no memory"),
    ] {
        home.race("f", format!("--memory {bound}")).exits(2).tells(why);
    }
    home.readlab("race f g --memory 50%").refuses("--memory: not with several targets without --apart");
    home.readlab("tune f --memory 50%,25%").refuses("--memory: a search is under one bound");
    home.readlab("tune f --memory 50% --readers 2").refuses("--memory: not with --readers or --setting");
    home.readlab("fleet race f --memory 50%").exits(2).tells("--memory: the ranks of a fleet");
}

#[test]
fn without_a_group_in_which_groups_may_be_made_the_reason_and_a_remedy_are_given() {
    let home = Home::with_file("f", "a line\n".repeat(1 << 14));
    if let Some(said) = home.as_nobody(format!("race f {QUICK} {ONE_METHOD} --memory 50%")) {
        let said = said.exits(2);
        said.tells("--memory: no control group can bound memory here: ");
        let remedies = [
            "; root may (sudo)",
            "; in a group that is delegated to you it works: ",
            "; a container may if ",
            "; the group's owner can: ",
            "; the kernel's command line can ",
        ];
        assert!(remedies.iter().any(|remedy| said.err.contains(remedy)), "{said}");
    }
}

mod ring2 {
    use super::*;
    use crate::control_group::ControlGroup;
    use crate::fake::roster;
    use crate::home::{Trials, items};
    use crate::machine::{NOBODY, has_nobody, or_skip, skip};
    use crate::processes::{KilledOnDrop, happens_in_time, kill, send, start_until_sample};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use readlab_model::sample::{PressedProof, Sample};
    use readlab_model::trial::CacheState;
    use readlab_record::{Outcome, PROGRAM_FILES_BYTES_MAX, Record, TrialRecord};
    use readlab_system::memory::page_bytes;
    use readlab_system::memory_group::MemoryGroups;
    use readlab_system::process::{self, ProcessEntry};
    use rustix::process::Signal;
    use serde_json::Value;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::chown;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    const FILE_BYTES: usize = 64 << 20;

    /// A share in memory is at most so much above its bound and, in the steady state, so far from
    /// another.
    const TOLERANCE: f64 = 0.05;

    /// A share in memory is at most so much below its bound, in a group that only holds the file: the
    /// kernel evicts whole folios, of up to 2 MiB, and may evict more than it must.
    const SHORT_MAX: f64 = 0.1;

    fn fills(share: f64, bound: f64) -> bool {
        (-SHORT_MAX..=TOLERANCE).contains(&(share - bound.min(1.0)))
    }

    /// A home with a file of lines; `None` with a message if no group can bound memory here.
    fn home() -> Option<Home> {
        if let Err(error) = MemoryGroups::find() {
            skip(error);
            return None;
        }
        Some(Home::with_file("f", "a line\n".repeat(FILE_BYTES / 7)))
    }

    /// A gzip that is as long as its content, so that a part of it is a part of a large file.
    fn stored(content: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
        gzip.write_all(content.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    fn pressed(record: &Record) -> Vec<&TrialRecord> {
        record.trials.iter().filter(|it| it.trial.state == CacheState::Pressed).collect()
    }

    fn share_of(record: &Record, it: &TrialRecord) -> f64 {
        record.targets[it.trial.target].memory_bound.as_ref().unwrap().share()
    }

    /// The samples of a trial that is measured, with their proofs.
    #[track_caller]
    fn proofs(it: &TrialRecord) -> Vec<(Sample, PressedProof)> {
        assert_eq!(it.outcome, Some(Outcome::Measured), "{}: {:?}", it.trial.id, it.rejected_readings);
        let with_proof = |sample: Sample| {
            let proof = sample.pressed.unwrap();
            (sample, proof)
        };
        it.samples.iter().map(with_proof).collect()
    }

    /// The folders of control groups that a lab made.
    fn groups_of(lab: u32) -> Vec<PathBuf> {
        fn add_group_folders(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                        found.push(entry.path());
                    }
                    add_group_folders(&entry.path(), prefix, found);
                }
            }
        }
        let mut found = Vec::new();
        add_group_folders(Path::new("/sys/fs/cgroup"), &format!("readlab-{lab}-"), &mut found);
        found
    }

    #[test]
    fn each_bound_keeps_its_share_in_memory_between_the_cold_and_the_warm_end() {
        let Some(home) = home() else { return };
        let words = "--method rust/read/scalar --method rust/mmap/scalar --memory 25%,50%,200%";
        let said = home.race("f", format!("{words} --output run")).exits(0);
        for heading in ["cold · ", "warm · ", "pressed to 25% · ", "pressed to 200% · "] {
            said.shows(heading);
        }
        let record = home.record("run");
        let shares: Vec<Option<f64>> =
            record.targets.iter().map(|it| it.memory_bound.as_ref().map(|memory| memory.share())).collect();
        assert_eq!(shares.len(), 4);
        assert!(shares[0].is_none() && shares[3].is_some_and(|share| share > 1.99), "{shares:?}");
        let trials = pressed(&record);
        assert_eq!(
            trials.len(),
            3 * 3,
            "two methods and the usual command under three bounds, and no controls"
        );
        for it in trials {
            let (name, bound) = (record.trial_name(&it.trial), share_of(&record, it));
            assert_eq!(it.outcome, Some(Outcome::Measured), "{name}: {:?}", it.rejected_readings);
            for (sample, proof) in proofs(it) {
                let around = [sample.resident_before.unwrap(), sample.resident_after.unwrap()];
                for share in around {
                    assert!(fills(share, bound), "{name}: {share}");
                    assert!((share - proof.steady_share).abs() <= TOLERANCE, "{name}: {share}");
                }
                assert!(
                    proof.untimed_readings >= 1 && proof.elsewhere_share <= TOLERANCE,
                    "{name}: {proof:?}"
                );
                let read_again = sample.device_read_bytes.unwrap() > FILE_BYTES as u64 / 4;
                assert_eq!(read_again, bound < 1.0, "{name}: {:?}", sample.device_read_bytes);
                let refaulted = sample.refaults.unwrap() > PROGRAM_FILES_BYTES_MAX / page_bytes();
                assert_eq!(refaulted, bound < 1.0, "{name}: {:?}", sample.refaults);
            }
        }
        assert!(record.trials.iter().any(|it| record.trial_name(&it.trial) == "rust/mmap/scalar+memory=25%"));
    }

    #[test]
    fn past_the_page_cache_nothing_stays_and_commands_folders_and_archives_are_bounded_too() {
        let Some(home) = home() else { return };
        let words = "--method rust/direct/scalar -c 'wc -l {}' --memory 50% --state cold";
        home.race("f", format!("{words} --output run")).exits(0);
        let record = home.record("run");
        let of = |contender: &str| {
            pressed(&record).into_iter().find(|it| it.trial.id.to_string().starts_with(contender)).unwrap()
        };
        assert!(proofs(of("rust/direct")).iter().all(|(_, proof)| proof.steady_share == 0.0));
        let by_command = proofs(of("command/wc"));
        assert!(by_command.iter().all(|(_, proof)| fills(proof.steady_share, 0.5)), "{by_command:?}");
        for number in 0..8 {
            home.file(format!("folder/{number}"), "a line\n".repeat(FILE_BYTES / 7 / 8));
        }
        home.race("folder", format!("{ONE_METHOD} --memory 50% --state cold --output tree")).exits(0);
        let record = home.record("tree");
        let of_tree = pressed(&record)[0];
        assert!(proofs(of_tree).iter().all(|(_, proof)| fills(proof.steady_share, 0.5)));
        let archive = home.file("f.gz", stored(&home.read("f")));
        home.race("f.gz", "--method rust/gzip/memchr --memory 50% --state cold --output archive").exits(0);
        let record = home.record("archive");
        let decoding = pressed(&record).into_iter().filter(|it| it.trial.decoded_format.is_some());
        let of_method = decoding.filter(|it| it.trial.id.to_string().starts_with("rust/gzip"));
        let [it] = of_method.collect::<Vec<_>>()[..] else { panic!("{:?}", record.warnings) };
        assert_eq!(it.outcome, Some(Outcome::Measured), "{:?}", it.rejected_readings);
        let memory = record.targets[it.trial.target].memory_bound.as_ref().unwrap();
        assert_eq!(memory.working_set_bytes, fs::metadata(archive).unwrap().len(), "not of its content");
        let of_archive = proofs(it);
        assert!(of_archive.iter().all(|(_, proof)| fills(proof.steady_share, 0.5)), "{of_archive:?}");
    }

    /// The reads of blocks under one bound.
    #[derive(Debug)]
    struct BlockReads {
        hits: Option<f64>,
        reads_per_s: u64,
        p99_ns: u64,
    }

    impl BlockReads {
        /// Those of the only method in an export, under the bound of this share.
        fn under(json: &Value, share: f64) -> BlockReads {
            let points = items(&json["memory"][0]["curves"][0]["points"]);
            let has_share = |point: &&Value| {
                point["state"] == "pressed" && (point["share"].as_f64().unwrap() - share).abs() < 0.01
            };
            let point = points.iter().find(has_share).unwrap_or_else(|| panic!("no {share}: {points:?}"));
            let trial = json.trials().iter().find(|it| it["index"] == point["trial"]).unwrap();
            BlockReads {
                hits: point["hit_share"].as_f64(),
                reads_per_s: trial["reads_per_s"].as_u64().unwrap(),
                p99_ns: point["p99"]["ns"].as_u64().unwrap(),
            }
        }
    }

    #[test]
    fn places_under_a_bound_miss_the_share_of_their_blocks_that_does_not_fit() {
        let Some(home) = home() else { return };
        home.file("small", "a line\n".repeat(FILE_BYTES / 7 / 4));
        let hits_under_half = ["random", "zipf"].map(|pattern| {
            let words = "--block 4KiB --reads 10000 --method rust/places-pread/iterator --memory 50%,200%";
            let words = format!("--pattern {pattern} {words} --state cold --output {pattern}");
            let json = home.race_json("small", words).exits(0);
            let record = home.record(pattern);
            for it in pressed(&record) {
                let (name, share) = (record.trial_name(&it.trial), share_of(&record, it));
                for (sample, proof) in proofs(it) {
                    let missed = sample.device_read_bytes.unwrap() > PROGRAM_FILES_BYTES_MAX;
                    assert_eq!(missed, share < 1.0, "{pattern}, {name}: {proof:?}");
                    // Under the greater bound blocks that are read around may be in memory, too.
                    assert!(share > 1.0 || fills(proof.steady_share, share), "{pattern}, {name}: {proof:?}");
                }
            }
            let [half, twice] = [0.5, 2.0].map(|share| BlockReads::under(&json, share));
            assert!(twice.hits.is_some_and(|hits| hits >= 0.99), "{pattern}: {twice:?}");
            let is_slower = half.reads_per_s < twice.reads_per_s && half.p99_ns > twice.p99_ns;
            assert!(is_slower, "{pattern}: {half:?} {twice:?}");
            half.hits
        });
        // What the kernel reads around random blocks may be more than they are.
        let [random, zipf] = hits_under_half.map(Option::unwrap_or_default);
        assert!(random < zipf && (0.3..0.95).contains(&zipf), "few blocks are read often: {random} {zipf}");
    }

    #[test]
    fn readers_have_a_group_each_or_share_one() {
        let Some(home) = home() else { return };
        for (words, groups) in [("", 2_u64), ("--memory-shared", 1)] {
            let options = format!("{ONE_METHOD} --readers 1,2 --memory 40% --state cold {words}");
            let folder = format!("run{groups}");
            home.race("f", format!("{options} --output {folder}")).exits(0);
            let record = home.record(&folder);
            let of_two = pressed(&record).into_iter().find(|it| {
                let target = &record.targets[it.trial.target];
                target.reader_count == Some(2)
            });
            let it = of_two.unwrap();
            assert_eq!(it.outcome, Some(Outcome::Measured), "{:?}", it.rejected_readings);
            let cache = record.targets[it.trial.target].memory_bound.as_ref().unwrap().cache_bytes;
            for (_, proof) in proofs(it) {
                assert_eq!(proof.limit_bytes - proof.process_bytes, groups * cache, "{words}: {proof:?}");
            }
        }
    }

    #[test]
    fn the_process_of_each_reader_is_in_a_group_of_its_own_or_in_the_shared_one() {
        let Some(home) = home() else { return };
        for (words, is_shared) in [("", false), ("--memory-shared", true)] {
            let log = home.file("log", "");
            let note =
                format!("echo $$ $(grep -o 'readlab-[0-9].*' /proc/self/cgroup) >>'{}'", log.display());
            let newlines = FILE_BYTES / 7;
            let visit = format!("visit() {{ cat \"$target\" >/dev/null; newlines={newlines}; }}");
            let turn = format!("{visit}; {note}; answer");
            let roster = roster(&home, &[("noting", turn.as_str())]);
            let options = "--readers 2 --memory 40% --state pressed --method noting/read";
            // It claims too little time for what it reads: its groups matter, not its outcome.
            home.race("f", format!("--roster {roster} {options} {words}"));
            let log = home.read("log");
            let mut group_of = BTreeMap::new();
            // The separate reading whose calls are counted is in no group.
            for (process, group) in log.lines().filter_map(|line| line.split_once(' ')) {
                assert!(group.starts_with("readlab-"), "{words}: {log}");
                let earlier = group_of.insert(process, group);
                assert!(earlier.is_none_or(|earlier| earlier == group), "{words}: {log}");
            }
            assert_eq!(group_of.len(), 2, "{words}: {log}");
            let groups: BTreeSet<&str> = group_of.into_values().collect();
            assert_eq!(groups.len(), if is_shared { 1 } else { 2 }, "{words}: {log}");
        }
    }

    #[test]
    fn a_command_that_needs_more_than_was_measured_is_killed_and_the_lab_lives_on() {
        let Some(home) = home() else { return };
        let count = home.at("count");
        let count = count.display();
        // In a group of the lab, the first reading, from which the need is measured, is modest.
        // Later ones keep 512 MiB in memory.
        let greedy = "head -c 512M /dev/zero | tail -c 512M >/dev/null || exit 9";
        let script = format!(
            "#!/bin/sh\nif grep -q readlab- /proc/self/cgroup; then echo >>{count}; test $(wc -l <{count}) = 1 || {greedy}; fi\n\
             wc -l \"$1\"\n"
        );
        let greedy = home.program("greedy", &script);
        let words = format!("-c '{} {{}}' {ONE_METHOD} --memory 50% --state warm", greedy.display());
        let json = home.race_json("f", words);
        let record = home.record(&home.runs()[0]);
        let by_command = pressed(&record).into_iter().find(|it| it.trial.contender() == "command").unwrap();
        let Some(Outcome::Failed { reason }) = &by_command.outcome else {
            panic!("{:?}", by_command.outcome)
        };
        assert!(reason.starts_with("killed for memory (OOM): its control group may have "), "{reason}");
        let pressed_method = json.trials().iter().find(|it| {
            it["state"] == "pressed" && it["id"].as_str().is_some_and(|id| id.starts_with("rust/read"))
        });
        assert_eq!(pressed_method.unwrap()["outcome"], "measured");
    }

    #[test]
    fn a_foreign_reader_that_keeps_the_file_in_memory_is_found_and_named() {
        let Some(home) = home() else { return };
        let file = home.at("f");
        let script = "exec 7<\"$1\"; while :; do cat \"$1\" >/dev/null; done";
        let mut command = Command::new("sh");
        let command = command.args(["-c", script, "sh"]).arg(&file).stdout(Stdio::null());
        let reader = KilledOnDrop(command.spawn().unwrap());
        let name = format!("process {} (sh) has it open", reader.0.id());
        home.race("f", format!("{ONE_METHOD} --memory 30% --state cold"));
        drop(reader);
        let record = home.record(&home.runs()[0]);
        let reasons: Vec<&str> = pressed(&record)
            .into_iter()
            .flat_map(|it| {
                let outcome = it.outcome.as_ref().and_then(Outcome::reason);
                it.rejected_readings.iter().map(|(_, why)| why.as_str()).chain(outcome)
            })
            .collect();
        assert!(reasons.iter().any(|why| why.contains(&name)), "{reasons:?}");
    }

    #[test]
    fn a_contender_that_answers_without_reading_is_refused() {
        let Some(home) = home() else { return };
        let liar = format!("visit() {{ newlines={}; }}; answer", FILE_BYTES / 7);
        let roster = roster(&home, &[("liar", liar.as_str())]);
        home.race("f", format!("--roster {roster} --method liar/read --memory 50% --state cold"));
        let record = home.record(&home.runs()[0]);
        let reason = pressed(&record)[0].outcome.as_ref().and_then(Outcome::reason);
        assert!(reason.is_some_and(|why| why.ends_with("were not in memory")), "{reason:?}");
    }

    #[test]
    fn groups_are_removed_at_the_end_after_ctrl_c_and_after_a_kill() {
        let Some(home) = home() else { return };
        // The command is slow, so that the run lasts until it is ended.
        let words = format!(
            "-c 'sleep 0.1; wc -l {{}}' {ONE_METHOD} --memory 50% --state cold --runs 20 --budget 10m"
        );
        for signal in [Signal::INT, Signal::KILL] {
            let child = start_until_sample(&home, "race", &words);
            let lab = child.id();
            assert!(happens_in_time(|| !groups_of(lab).is_empty()), "the pressed state follows the cold one");
            if signal == Signal::INT {
                send(lab, signal);
                assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
                let why = "its bounds on memory are made only when it begins";
                home.readlab("race --resume run/record.jsonl").refuses(why);
            } else {
                kill(&home, child);
            }
            assert!(happens_in_time(|| groups_of(lab).is_empty()), "{signal:?}: {:?}", groups_of(lab));
            fs::remove_dir_all(home.at("run")).unwrap();
        }
    }

    /// A group of version 1 that is delegated to the user who owns no file; `None` with a message if it
    /// cannot be made.
    fn delegated_group() -> Option<ControlGroup> {
        if !has_nobody() {
            return None;
        }
        let root = Path::new("/sys/fs/cgroup/memory");
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = groups.lines().find_map(|line| line.split_once(":memory:")?.1.strip_prefix('/'));
        let own = own.map(|own| root.join(own)).filter(|own| own.exists());
        let Some(own) = own else {
            skip("no control group of version 1 bounds memory here");
            return None;
        };
        let group = or_skip(ControlGroup::make(&own))?;
        or_skip(group.delegate_to(NOBODY))?;
        Some(group)
    }

    #[test]
    fn a_user_with_a_delegated_group_bounds_memory_and_proves_it_of_own_files() {
        let Some(home) = home() else { return };
        let Some(group) = delegated_group() else { return };
        let own = home.file("own", home.read("f"));
        chown(own, Some(NOBODY), Some(NOBODY)).unwrap();
        let race = |file: &str| {
            let words = format!("{QUICK} {ONE_METHOD} --memory 50% --state cold --output tmp/of-{file}");
            home.as_nobody_after(&group.enter(), format!("race {file} {words}"))
        };
        let Some(said) = race("own") else { return };
        said.exits(0).shows("pressed to 50% · ");
        let record = home.record("tmp/of-own");
        assert!(!pressed(&record).is_empty());
        for it in pressed(&record) {
            let name = record.trial_name(&it.trial);
            assert_eq!(it.outcome, Some(Outcome::Measured), "{name}: {:?}", it.rejected_readings);
            assert!(proofs(it).iter().all(|(_, proof)| fills(proof.steady_share, 0.5)), "{name}: {it:?}");
        }
        assert!(group.groups().is_empty(), "{:?}", group.groups());
        // The kernel does not count the pages of a file for a user who may not write it.
        race("f").unwrap();
        let record = home.record("tmp/of-f");
        assert!(!pressed(&record).is_empty());
        for it in pressed(&record) {
            let Some(Outcome::Unavailable { reason }) = &it.outcome else { panic!("{:?}", it.outcome) };
            assert!(reason.ends_with("only for files that this user owns or may write"), "{reason}");
        }
        assert!(group.groups().is_empty(), "{:?}", group.groups());
    }

    #[test]
    fn a_suite_reads_with_the_read_ahead_that_it_asks_for_and_restores_what_it_found() {
        let Some(home) = home() else { return };
        let found = |folder: &str| {
            home.race("f", format!("{ONE_METHOD} --state warm --output {folder}")).exits(0);
            home.record(folder).targets.first().unwrap().read_ahead().map(|it| it.bytes)
        };
        let before = found("before");
        let suite = "name = \"own\"\nabout = \"\"\nmemory = [\"50%\"]\nread_ahead_bytes = 65536\nmax_runs = 2\n\
                     [[trial]]\ntrial = \"rust/read/scalar\"\n";
        home.file("own.toml", suite);
        home.readlab("suite own.toml f --no-progress --output run").exits(0);
        let facts = home.record("run").targets.first().unwrap().clone();
        if let Some(why) = facts.cautions.iter().find(|it| it.starts_with("The suite asks for a read-ahead"))
        {
            return skip(why);
        }
        assert_eq!(facts.read_ahead().map(|it| it.bytes), Some(64 << 10), "{:?}", facts.cautions);
        assert_eq!(found("after"), before);
    }

    #[test]
    fn a_file_in_memory_only_has_no_such_state() {
        let Some(home) = home() else { return };
        let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            return skip("no file system in memory");
        };
        fs::write(file.path(), "a line\n".repeat(1 << 16)).unwrap();
        home.race(file.path(), format!("{ONE_METHOD} --memory 50%"))
            .refuses("lives in memory and nowhere else");
    }

    #[test]
    fn a_search_under_a_bound_finds_the_fastest_settings_of_the_pressed_state() {
        let Some(home) = home() else { return };
        let options =
            "--method rust/read/scalar --space 'buffer=64KiB|1MiB' --memory 50% --budget 60s --no-progress";
        let said = home.readlab(format!("tune f {options} --output run")).exits(0);
        said.shows("pressed to 50% · ").hides("cold · ");
        let record = home.record("run");
        assert!(
            record
                .trials
                .iter()
                .filter(|it| it.is_measured())
                .all(|it| it.trial.state == CacheState::Pressed)
        );
    }

    #[test]
    fn a_bound_below_what_the_processes_need_is_told_and_the_lab_lives_on() {
        let Some(home) = home() else { return };
        let said = home.race("f", format!("{ONE_METHOD} --memory 64KiB --state cold --output run"));
        assert!(said.code.is_some_and(|code| code < 2), "{said}");
        let record = home.record("run");
        let is_told =
            |text: &&String| text.contains("the bound of 64KiB is smaller than its processes, which need ");
        let told: Vec<&String> = record.warnings.iter().filter(is_told).collect();
        assert!(told.iter().any(|text| text.starts_with("rust/read/scalar")), "{:?}", record.warnings);
        assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "each trial once: {told:?}");
        for it in pressed(&record) {
            match it.outcome.as_ref().unwrap() {
                Outcome::Failed { reason } => {
                    let of_bound = ["control group may have ", "under the bound of 64KiB"];
                    assert!(of_bound.iter().any(|words| reason.contains(words)), "{reason}");
                }
                other => assert_eq!(*other, Outcome::Measured),
            }
        }
        assert!(record.trials.iter().any(|it| it.trial.state == CacheState::Cold && it.is_measured()));
    }

    #[test]
    fn bounds_of_a_suite_that_cannot_be_made_are_unavailable_and_the_rest_is_measured() {
        let home = Home::with_file("f", "a line\n".repeat(1 << 14));
        let suite = "name = \"own\"\nabout = \"\"\nmemory = [\"25%\", \"50%\"]\nmax_runs = 2\n\
                     [[trial]]\ntrial = \"rust/read/scalar\"\n";
        home.file("own.toml", suite);
        let words = "suite own.toml f --no-progress --output run";
        let Some(said) = home.as_nobody(words) else { return };
        said.exits(0).shows("warm · ");
        let record = home.record("run");
        let trials = pressed(&record);
        assert!(trials.len() >= 2, "one for each bound");
        for it in trials {
            let reason = it.outcome.as_ref().and_then(Outcome::reason).unwrap_or_default();
            assert!(reason.starts_with("no control group can bound memory here: "), "{reason}");
        }
        for state in [CacheState::Cold, CacheState::Warm] {
            assert!(record.trials.iter().any(|it| it.trial.state == state && it.is_measured()), "{state}");
        }
        let asked_by_user = home.as_nobody(format!("{words}2 --memory 50%")).unwrap();
        asked_by_user.exits(2).tells("--memory: no control group can bound memory here: ");
    }

    #[test]
    fn groups_of_a_lab_that_was_killed_with_its_launcher_are_removed_by_the_next_run() {
        let Some(home) = home() else { return };
        let words = format!(
            "-c 'sleep 0.1; wc -l {{}}' {ONE_METHOD} --memory 50% --state cold --runs 20 --budget 10m"
        );
        let mut child = start_until_sample(&home, "race", &words);
        let lab = child.id();
        assert!(happens_in_time(|| !groups_of(lab).is_empty()), "the pressed state follows the cold one");
        let is_launcher = |it: &&ProcessEntry| it.parent == lab && it.name == "launcher";
        let launcher = process::all_processes().iter().find(is_launcher).unwrap().pid;
        // It would notice the end of the lab.
        send(launcher, Signal::STOP);
        send(lab, Signal::KILL);
        child.wait().unwrap();
        send(launcher, Signal::KILL);
        let is_empty = |group: &PathBuf| {
            fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|processes| processes.is_empty())
        };
        assert!(happens_in_time(|| groups_of(lab).iter().all(is_empty)), "its contenders end without it");
        fs::remove_dir_all(home.at("run")).unwrap();
        home.race("f", format!("{ONE_METHOD} --memory 50% --state cold")).exits(0);
        assert_eq!(groups_of(lab), Vec::<PathBuf>::new());
    }
}
