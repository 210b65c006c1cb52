//! Tests of unusually mounted file systems: from a file without a loop device, with layers that are
//! elsewhere, or served by a program that does not answer. Root only.

use super::layers::lines;
use crate::home::{Home, ProgramOutput, QUICK, READLAB, Trials, Words, paths_in};
use crate::machine::or_skip;
use crate::mounted::{Undo, run, text};
use crate::processes::{
    KilledOnDrop, assert_no_process, assert_nothing_left, happens_in_time, processes_of_home, send,
    wait_for_a_sample,
};
use crate::repository;
use flate2::Compression;
use flate2::write::GzEncoder;
use readlab_measure::cache::{FILL_WITHOUT_EVICTION, STANDARD_FILL};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

mod ring2 {
    use super::*;

    /// Mounts a file without a loop device.
    const MOUNT: &str = "import ctypes, sys; image, point = (word.encode() for word in sys.argv[1:]); \
                         sys.exit(ctypes.CDLL(None).mount(image, point, b'erofs', 1, None) != 0)";

    #[test]
    fn a_file_system_that_is_mounted_from_a_file_is_cold_with_the_file() {
        for options in [&[][..], &["-zlz4"]] {
            let home = Home::new();
            let (image, [point, content]) =
                (home.at("image"), ["mounted", "content"].map(|it| home.folder(it)));
            fs::write(content.join("file"), lines()).unwrap();
            let made = run(&[&["mkfs.erofs"], options, &[text(&image), text(&content)]].concat());
            let mounted = made.and_then(|_| run(&["python3", "-c", MOUNT, text(&image), text(&point)]));
            if or_skip(mounted).is_none() {
                return;
            }
            let mut undo = Undo::default();
            undo.later(&["umount", text(&point)]);
            let json = home.race_json(point.join("file"), "--method rust/read/scalar").exits(0);
            for state in ["cold", "warm"] {
                assert_eq!(json.measured("rust/read/scalar", state).get("cold_above"), None, "{json}");
            }
            let from_device = &json.trial("rust/read/scalar", "cold")["samples"][0]["device_read_bytes"];
            assert!(from_device.as_u64() > Some(0), "{options:?}: {from_device}");
            let layers = json["targets"][0]["layers"].to_string();
            assert!(layers.contains(text(&image)) && layers.contains("evicted"), "{layers}");
        }
    }

    #[test]
    fn a_file_that_a_bind_mount_shows_again_comes_from_the_device_once() {
        let home = Home::new();
        let (folder, again) = (home.folder("tree/folder"), home.at("tree/again"));
        fs::write(folder.join("file"), lines()).unwrap();
        File::open(folder.join("file")).unwrap().sync_all().unwrap();
        let mut undo = Undo::default();
        if or_skip(undo.mount(&["--bind", text(&folder)], &again)).is_none() {
            return;
        }
        let json = home.race_json("tree", "--state cold --method rust/files-threads/scalar").exits(0);
        json.measured("rust/files-threads/scalar", "cold");
        let facts = &json["targets"][0]["tree"];
        assert_eq!((&facts["files"], &facts["repeated_bytes"]), (&2.into(), &lines().len().into()));
    }

    /// Mounts an overlay at the folder `mounted` of a home, with the file `a` in a layer on a device and
    /// the file `b` in a layer in memory; `None` with a message if that is impossible.
    fn mount_overlay_with_memory(home: &Home) -> Option<Undo> {
        let (lower, memory, point) = (home.folder("lower"), home.at("memory"), home.at("mounted"));
        fs::write(lower.join("a"), lines()).unwrap();
        File::open(lower.join("a")).unwrap().sync_all().unwrap();
        let mut undo = Undo::default();
        or_skip(undo.mount(&["-t", "tmpfs", "none"], &memory))?;
        let [upper, work] = ["memory/upper", "memory/work"].map(|name| home.folder(name));
        let folders = format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
        or_skip(undo.mount(&["-t", "overlay", "none", "-o", &folders], &point))?;
        fs::write(point.join("b"), lines()).unwrap();
        Some(undo)
    }

    #[test]
    fn the_layers_of_an_overlay_are_one_file_system() {
        let home = Home::new();
        let Some(_undo) = mount_overlay_with_memory(&home) else { return };
        let json = home.race_json("mounted", "--state warm --method rust/files-auto/memchr").exits(0);
        json.measured("rust/files-auto/memchr", "warm");
        assert_eq!(json["targets"][0]["tree"]["files"], 2);
    }

    #[test]
    fn a_file_that_an_overlay_shows_from_memory_is_never_cold_and_no_program_is_blamed() {
        let home = Home::new();
        let Some(_undo) = mount_overlay_with_memory(&home) else { return };
        for (target, method) in [("mounted/b", "rust/read/scalar"), ("mounted", "rust/files-threads/scalar")]
        {
            let words = format!("--method {method} --output {}", method.replace('/', "-"));
            let json = home.race_json(target, words).exits(0);
            let why = "mounted/b: cold is impossible on tmpfs: the file lives in memory and nowhere else";
            json.ended(method, "cold", "unavailable", why);
            json.measured(method, "warm");
            assert!(!json.said.err.contains("stay in the cache"), "{}", json.said);
            let record = home.read(format!("{}/record.jsonl", method.replace('/', "-")));
            assert!(record.contains(STANDARD_FILL) && !record.contains(FILL_WITHOUT_EVICTION), "{record}");
        }
    }

    /// Time limit for a run in which one program cannot be started.
    const START_LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn a_program_on_a_silent_file_system_delays_the_lab_no_longer_than_the_limit_of_a_start() {
        let home = Home::new();
        home.file("f", "line\n".repeat(1000));
        // The kernel looks up the program, opens it and reads its beginning.
        for unanswered in ["lookup", "open", "read"] {
            let point = home.at(unanswered);
            let Some(silent) = mount_silent(&point, unanswered) else { return };
            let words = format!("race f -c '{}/program {{}}' --state warm --budget 5s", text(&point));
            let said = run_within_limit(home.command(READLAB).args(words.words()), silent).exits(1);
            said.shows("no answer within 10s");
        }
        let point = home.folder("mounted");
        let Some(silent) = mount_silent(&point, "nothing") else { return };
        let began = Instant::now();
        let words = format!("race f -c '{}/program {{}}' --state warm --budget 5s", text(&point));
        let said = home.readlab(words).exits(1);
        said.shows("no answer within 10s");
        assert!(began.elapsed() < START_LIMIT, "{said}");
        // The program is looked up in this folder first.
        let path = format!("{}:{}", text(&point), std::env::var("PATH").unwrap());
        let began = Instant::now();
        let mut race = home.command(READLAB);
        let said = ProgramOutput::by(
            race.args("race f --method python/read --budget 5s".words()).env("PATH", &path),
        );
        assert!(began.elapsed() < START_LIMIT && said.code != Some(0), "{said}");
        said.tells("did not start within 10 s: the file system that has it");
        // The lab itself looks up the compiler of a contender, which may be built already.
        let mut race = home.command(READLAB);
        let said =
            run_within_limit(race.args("race f --method c/* --budget 5s".words()).env("PATH", &path), silent);
        assert!(said.code.is_some(), "{said}");
    }

    /// Runs all of these lines of readlab at the same time, with a path in place of `FILE`, and
    /// checks the output of each. All must end in time. If one has not, the program of the file
    /// system is ended first, so that all lines that wait for it end.
    fn assert_all_end(
        home: &Home,
        silent: SilentMount,
        file: &str,
        lines: &[&str],
        check: impl Fn(&str, ProgramOutput),
    ) {
        let (tell, told) = mpsc::channel();
        for line in lines {
            let mut command = home.command(READLAB);
            command.args(line.replace("FILE", file).words());
            let (line, tell) = ((*line).to_owned(), tell.clone());
            thread::spawn(move || tell.send((line, ProgramOutput::by(&mut command))));
        }
        for _ in lines {
            let Ok((line, said)) = told.recv_timeout(START_LIMIT) else {
                drop(silent);
                panic!("a lab has not ended");
            };
            check(&line, said);
        }
    }

    /// Tests each unanswered request with each kind of argument that names a file. The lab must
    /// end, too.
    #[test]
    fn a_name_whose_file_system_does_not_answer_is_refused_in_time() {
        let home = Home::with_file("plain", "line\n".repeat(1000));
        for unanswered in ["nothing", "lookup", "open", "read"] {
            let point = home.at(unanswered);
            let Some(silent) = mount_silent(&point, unanswered) else { return };
            let file = point.join("f");
            let lines = [
                "race FILE",
                "tune FILE",
                "limits FILE",
                "doctor FILE",
                "serve FILE",
                "suite newlines FILE",
                "race --files-from FILE",
                "race plain --roster FILE",
                "race plain --output FILE",
                "race plain --export-json FILE",
                "race plain --claims FILE",
                "race plain -c 'wc -l FILE'",
                "race plain -c 'dd if=FILE | cat'",
                "race --resume FILE",
                "sweep FILE",
                "report FILE",
                "report plain -o FILE",
                "compare plain FILE",
                "claims FILE",
            ];
            assert_all_end(&home, silent, text(&file), &lines, |line, said| {
                let why = format!("{}: its file system did not answer within 10 s\n", file.display());
                assert!(said.err.ends_with(&why) && said.err.lines().count() == 1, "{line}: {said}");
                assert!(said.code == Some(2) && said.out.is_empty(), "{unanswered}: {said}");
            });
        }
    }

    /// Tests names that are on no command line, and folders.
    #[test]
    fn a_name_in_a_list_or_a_record_whose_file_system_does_not_answer_is_refused_in_time() {
        let home = Home::new();
        let point = home.folder("point");
        let file = home.file("point/f", "line\n".repeat(1000));
        let words = "--state warm --method rust/read/scalar --runs 3 --output run --quiet";
        home.readlab(format!("race {} {words}", text(&file))).exits(0);
        let record = home.read("run/record.jsonl");
        let is_end = |line: &&str| !line.contains("\"end\"") && !line.contains("\"outcome\"");
        home.file("cut.jsonl", record.split_inclusive('\n').take_while(is_end).collect::<String>());
        home.file("list", format!("{}\n{}\n", text(&home.file("plain", "line\n")), text(&file)));
        for (unanswered, refused) in [
            ("read", ["race --files-from list", "race --resume cut.jsonl"]),
            ("entries", ["race point", "sweep point"]),
        ] {
            let Some(silent) = mount_silent(&point, unanswered) else { return };
            let never = ["report cut.jsonl -o cut.html", "compare cut.jsonl run"];
            assert_all_end(&home, silent, "", &[refused, never].concat(), |line, said| {
                let is_refused = said.code == Some(2)
                    && said.err.contains("point")
                    && said.err.contains("its file system did not answer within 10 s");
                assert!(is_refused || never.contains(&line), "{unanswered}: {said}");
            });
        }
    }

    #[test]
    fn a_file_whose_end_cannot_be_read_is_refused_in_time() {
        let home = Home::new();
        let point = home.at("end");
        let Some(program) = mount_silent(&point, "end") else { return };
        let only = "--state warm --method rust/read/scalar".words();
        let said = run_within_limit(
            home.command(READLAB).args(["race", text(&point.join("f"))]).args(only),
            program,
        );
        let why = "end/f: its file system did not answer within 10 s at byte ";
        assert!(said.code == Some(2) && said.err.contains(why), "{said}");
    }

    /// The lab has both files open, and each waits for an answer when it is closed.
    #[test]
    fn a_file_system_that_does_not_even_answer_to_closing_a_file_does_not_block_the_lab() {
        let home = Home::new();
        let point = home.at("rest");
        let Some(program) = mount_silent(&point, "rest") else { return };
        let only = "--state warm --method rust/read/scalar".words();
        let files = [point.join("f"), point.join("d/f")];
        let said = run_within_limit(home.command(READLAB).arg("race").args(files).args(only), program);
        let why = "its file system did not answer within 10 s";
        assert!(said.code == Some(2) && said.err.contains(why), "{said}");
        assert_nothing_left(&home, &[]);
        assert_no_process(&home);
    }

    #[test]
    fn a_file_system_below_a_folder_that_does_not_answer_is_refused_in_time() {
        let home = Home::new();
        for unanswered in ["nothing", "entries"] {
            let folder = home.at(format!("of {unanswered}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("a"), "line\n".repeat(1000)).unwrap();
            let Some(program) = mount_silent(&folder.join("deep/point"), unanswered) else { return };
            let said = run_within_limit(home.command(READLAB).args(["race", text(&folder)]), program);
            let why = "deep/point: its file system did not answer within 10 s\n";
            assert!(said.code == Some(2) && said.err.ends_with(why), "{unanswered}: {said}");
        }
    }

    /// Tests file systems that are reached only during the walk or the reading: a folder below the
    /// target, its files, or the target of a link.
    #[test]
    fn a_silent_file_system_below_the_target_is_named_in_time() {
        let home = Home::new();
        home.file("local/a", "line\n".repeat(1000));
        home.folder("linked");
        for (at, (unanswered, words, file)) in [
            ("below", "race POINT", "/d"),
            ("open", "race POINT", "/f"),
            ("read", "race POINT", "/f"),
            ("lookup", "race local --follow", "/link"),
            ("read", "race linked --follow", "/f"),
        ]
        .into_iter()
        .enumerate()
        {
            let point = home.at(format!("mounted{at}"));
            let Some(program) = mount_silent(&point, unanswered) else { return };
            for link in ["local/link", "linked/link"].map(|link| home.at(link)) {
                let _ = fs::remove_file(&link);
                symlink(point.join("f"), &link).unwrap();
            }
            let words = words.replace("POINT", text(&point));
            let said = run_within_limit(home.command(READLAB).args(words.words()), program);
            let why = format!("{file}: its file system did not answer within 10 s\n");
            assert!(said.code == Some(2) && said.err.ends_with(&why), "{unanswered}: {said}");
            assert_nothing_left(&home, &[]);
            assert_no_process(&home);
        }
        // A file of another file system than the others is left out, and not opened.
        let Some(program) = mount_silent(&home.at("mounted"), "open") else { return };
        fs::remove_file(home.at("local/link")).unwrap();
        symlink(home.at("mounted/f"), home.at("local/link")).unwrap();
        let words = format!("race local --follow --state warm --method rust/read/scalar {QUICK}");
        let said = run_within_limit(home.command(READLAB).args(words.words()), program);
        said.exits(0).shows("Left out: 1 file on another file system. The first is ");
    }

    /// Time limit for a run in which a reading and all later requests are not answered.
    const RUN_LIMIT: Duration = Duration::from_secs(180);

    /// The number of requests after which a file system ceases to answer: while the lab examines
    /// it, walks it, reads and decodes for the right answers, fills the cache, or while a contender
    /// reads.
    const ANSWERED_REQUESTS: [&str; 8] = ["2", "6", "12", "25", "50", "100", "200", "400"];

    #[test]
    fn a_file_system_that_ceases_to_answer_at_any_moment_does_not_block_the_lab() {
        let home = Home::new();
        let mut packed = GzEncoder::new(Vec::new(), Compression::none());
        packed.write_all("line\n".repeat(100_000).as_bytes()).unwrap();
        let packed = home.file("packed.gz", packed.finish().unwrap());
        let (tell, told) = mpsc::channel();
        let mut programs = Vec::new();
        for answers in ANSWERED_REQUESTS {
            for (target, words) in [
                ("f", "--method rust/gzip/memchr --method rust/read/memchr"),
                ("", "--method rust/files-auto/memchr"),
                ("f", "--pattern random --block 4096 --reads 50"),
            ] {
                let point = home.at(format!("point{}", programs.len()));
                let Some(program) = mount_silent_with(&point, &[answers, text(&packed)]) else { return };
                programs.push(program);
                let mut command = home.command(READLAB);
                command.arg("race").arg(point.join(target)).args(words.words());
                command.args("--runs 3 --budget 10s --quiet".words());
                let tell = tell.clone();
                thread::spawn(move || tell.send((answers, point, ProgramOutput::by(&mut command))));
            }
        }
        let mut named = 0;
        for _ in 0..programs.len() {
            let Ok((answers, point, said)) = told.recv_timeout(RUN_LIMIT) else {
                programs.clear();
                panic!("a lab has not ended");
            };
            // Later the lab may have measured everything, or a reading has failed.
            let is_named = said.err.contains("its file system did not answer within 10 s");
            assert!(said.code.is_some(), "{answers}: {said}");
            assert!(
                !is_named || said.code == Some(2) && said.err.contains(text(&point)),
                "{answers}: {said}"
            );
            assert!(is_named || answers.len() > 1, "{answers}: {said}");
            named += usize::from(is_named);
        }
        assert!(named > 2 * 3, "{named} of {}", programs.len());
        programs.clear();
        assert_nothing_left(&home, &[]);
        assert_no_process(&home);
    }

    /// Tests a lab with another process in front of it. Both end, whichever of them gets a signal
    /// or is killed.
    #[test]
    fn a_lab_that_waits_for_no_answer_ends_with_the_process_in_front_of_it() {
        let home = Home::new();
        for (at, (unanswered, signal, code)) in [
            // Here the file system answers, and the race continues.
            ("none", Signal::INT, Some(130)),
            ("none", Signal::KILL, None),
            ("below", Signal::INT, Some(130)),
            ("below", Signal::KILL, None),
        ]
        .into_iter()
        .enumerate()
        {
            let point = home.at(format!("mounted{at}"));
            let Some(program) = mount_silent(&point, unanswered) else { return };
            let mut lab = home.start(format!(
                "race {} --method rust/files-auto/memchr --runs 100000 --output run{at}",
                text(&point)
            ));
            match unanswered {
                "none" => wait_for_a_sample(&home.at(format!("run{at}/record.jsonl"))),
                _ => {
                    // The lab has the folder open and requests its names next.
                    let is_open = |pid: &u32| {
                        let open = paths_in(format!("/proc/{pid}/fd"));
                        open.iter().any(|fd| fs::read_link(fd).is_ok_and(|file| file == point.join("d")))
                    };
                    assert!(
                        happens_in_time(|| processes_of_home(&home).iter().any(is_open)),
                        "nobody walks the folder"
                    );
                }
            }
            send(lab.id(), signal);
            assert_eq!(lab.wait().unwrap().code(), code, "{unanswered}: {signal:?}");
            drop(program);
            assert_no_process(&home);
        }
    }

    /// The output of the lab beside a file system that does not answer, if the lab ends.
    fn run_within_limit(command: &mut Command, program: SilentMount) -> ProgramOutput {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            scope.spawn(move || tell.send(ProgramOutput::by(command)));
            let said = told.recv_timeout(START_LIMIT);
            // Ending the program ends everything that waits for it.
            drop(program);
            said.expect("the lab has not ended")
        })
    }

    /// A file system whose program (`silent.py`) does not answer, until it is dropped.
    type SilentMount = (KilledOnDrop, Undo);

    /// Mounts it; `None` with a message if that is impossible.
    fn mount_silent(point: &Path, unanswered: &str) -> Option<SilentMount> {
        mount_silent_with(point, &[unanswered])
    }

    /// Mounts it with all arguments of the program.
    fn mount_silent_with(point: &Path, words: &[&str]) -> Option<SilentMount> {
        fs::create_dir_all(point).unwrap();
        let mut program = Command::new("python3");
        program.arg(repository::path("tests/adversary/silent.py")).arg(point).args(words);
        let program = KilledOnDrop::ready(program.stdin(Stdio::piped()))?;
        let mut undo = Undo::default();
        undo.later(&["umount", "--lazy", text(point)]);
        Some((program, undo))
    }
}
