//! Tests of file systems that are mounted in unusual ways: from a file without a loop device, and
//! of layers that are elsewhere. Root only.

use super::home::{Home, READLAB, Said, trials};
use super::layers::{Undo, lines, run, text};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
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
            let [image, point, content] = ["image", "mounted", "content"].map(|name| home.at(name));
            fs::create_dir(&point).unwrap();
            fs::create_dir(&content).unwrap();
            fs::write(content.join("file"), lines()).unwrap();
            let made = run(&[&["mkfs.erofs"], options, &[&text(&image), &text(&content)]].concat());
            let mounted = made.and_then(|_| run(&["python3", "-c", MOUNT, &text(&image), &text(&point)]));
            if let Err(why) = mounted {
                return eprintln!("SKIPPED: {why}");
            }
            let _undo = Undo(vec![vec!["umount".to_owned(), text(&point)]]);
            let words = ["--method", "rust/read/scalar"];
            let (json, said) = home.race_json(&point.join("file"), &words);
            assert_eq!(said.code, Some(0), "{options:?}: {said}");
            for state in ["cold", "warm"] {
                let trial = trials(&json, "rust/read/scalar", state);
                assert_eq!(
                    (&trial["outcome"], trial.get("cold_above")),
                    (&"measured".into(), None),
                    "{trial}"
                );
            }
            let from_device = &trials(&json, "rust/read/scalar", "cold")["samples"][0]["device_read_bytes"];
            assert!(from_device.as_u64() > Some(0), "{options:?}: {from_device}");
            let layers = json["targets"][0]["layers"].to_string();
            assert!(layers.contains(&text(&image)) && layers.contains("evicted"), "{layers}");
        }
    }

    #[test]
    fn the_layers_of_an_overlay_are_one_file_system() {
        let home = Home::new();
        let [lower, memory, point] = ["lower", "memory", "mounted"].map(|name| home.at(name));
        [&lower, &memory, &point].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(lower.join("a"), lines()).unwrap();
        let mount = |words: &[&str]| run(&[&["mount", "-t"], words].concat());
        if let Err(why) = mount(&["tmpfs", "none", &text(&memory)]) {
            return eprintln!("SKIPPED: {why}");
        }
        let mut undo = Undo(vec![vec!["umount".to_owned(), text(&memory)]]);
        let [upper, work] = ["upper", "work"].map(|name| memory.join(name));
        [&upper, &work].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let folders = format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
        if let Err(why) = mount(&["overlay", "none", "-o", &folders, &text(&point)]) {
            return eprintln!("SKIPPED: {why}");
        }
        undo.0.push(vec!["umount".to_owned(), text(&point)]);
        fs::write(point.join("b"), lines()).unwrap();
        let (json, said) = home.race_json(&point, &["--state", "warm", "--method", "rust/files-auto/memchr"]);
        assert_eq!(said.code, Some(0), "{said}");
        assert_eq!(trials(&json, "rust/files-auto/memchr", "warm")["outcome"], "measured");
        assert_eq!(json["targets"][0]["tree"]["files"], 2);
    }

    /// Mounts a file system whose program answers nothing, as long as it runs; or whose program takes
    /// all requests and answers none for a name (`lookup`), none that opens a file (`open`), none
    /// that reads one (`read`) or that reads its end (`end`), or none for the names of a folder
    /// (`entries`).
    /// Whoever waits for what was taken cannot be killed.
    const SILENT: &str = r#"
import ctypes, os, struct, sys
fd = os.open('/dev/fuse', os.O_RDWR)
words = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
if ctypes.CDLL(None).mount(b'silent', sys.argv[1].encode(), b'fuse', 0, words):
    sys.exit(1)
print('mounted', flush=True)
if sys.argv[2] == 'nothing':
    sys.stdin.read()
LOOKUP, FORGET, GETATTR, OPEN, READ, INIT, READDIR, INTERRUPT, FORGETS = 1, 2, 3, 14, 15, 26, 28, 36, 42
kinds = {'lookup': LOOKUP, 'open': OPEN, 'read': READ, 'entries': READDIR}
unanswered = {FORGET, INTERRUPT, FORGETS, kinds.get(sys.argv[2])}
SIZE = 1 << 20
def status(node):
    kind = 0o40755 if node == 1 else 0o100644
    return struct.pack('<6Q10I', node, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, kind, 1, 0, 0, 0, 4096, 0)
answers = {
    INIT: lambda node: struct.pack('<IIIIHHIIHH8I', 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, *[0] * 8),
    LOOKUP: lambda node: struct.pack('<4QII', 2, 0, 60, 60, 0, 0) + status(2),
    GETATTR: lambda node: struct.pack('<QII', 60, 0, 0) + status(node),
}
while True:
    request = os.read(fd, 1 << 20)
    _, asked, number, node = struct.unpack_from('<IIQQ', request)
    if asked == READ:
        offset, size = struct.unpack_from('<QI', request, 48)
        answers[READ] = lambda node: b'\n' * min(size, SIZE - offset)
        if sys.argv[2] == 'end' and offset >= SIZE // 2:
            continue
    if asked not in unanswered:
        answer = answers.get(asked)
        answer = answer(node) if answer else b''
        error = 0 if asked in answers else -38
        os.write(fd, struct.pack('<IiQ', 16 + len(answer), error, number) + answer)
"#;

    /// The time that a run may take of which one program does not start.
    const LONGEST: Duration = Duration::from_secs(60);

    #[test]
    fn a_program_whose_file_system_does_not_answer_holds_the_lab_up_no_longer_than_a_start_may_take() {
        let home = Home::new();
        let point = home.at("mounted");
        let Some(_silent) = Silent::mount(&point, "nothing") else { return };
        let file = home.file("f", "line\n".repeat(1000));
        let command = format!("{}/program {{}}", text(&point));
        let began = Instant::now();
        let said = home.readlab(["race", &text(&file), "-c", &command, "--state", "warm", "--budget", "5s"]);
        assert!(began.elapsed() < LONGEST && said.code == Some(1), "{said}");
        assert!(said.out.contains("no answer within 10s"), "{said}");
        // It is looked for there first.
        let path = format!("{}:{}", text(&point), std::env::var("PATH").unwrap());
        let began = Instant::now();
        let only = ["--method", "python/read", "--budget", "5s"];
        let mut race = home.command(READLAB);
        let said = Said::by(race.args(["race", &text(&file)]).args(only).env("PATH", path));
        assert!(began.elapsed() < LONGEST && said.code != Some(0), "{said}");
        assert!(said.err.contains("did not start within 10 s: the file system that has it"), "{said}");
    }

    /// What is unanswered, and each way to name a file of it. The lab must have ended, too.
    #[test]
    fn a_name_whose_file_system_does_not_answer_is_refused_in_time() {
        let home = Home::new();
        home.file("plain", "line\n".repeat(1000));
        for unanswered in ["nothing", "lookup", "open", "read"] {
            let point = home.at(unanswered);
            let Some(silent) = Silent::mount(&point, unanswered) else { return };
            let file = text(&point.join("f"));
            let why = format!("{file}: its file system did not answer within 10 s");
            let cases = [
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
            let (tell, told) = mpsc::channel();
            for case in cases {
                let mut command = home.command(READLAB);
                command
                    .args(shell_words::split(case).unwrap().iter().map(|word| word.replace("FILE", &file)));
                let tell = tell.clone();
                thread::spawn(move || tell.send((case, Said::by(&mut command))));
            }
            for _ in cases {
                let Ok((case, said)) = told.recv_timeout(LONGEST) else {
                    // Then all that wait for it end.
                    drop(silent);
                    panic!("{unanswered}: a lab has not ended");
                };
                assert_eq!(said.code, Some(2), "{unanswered}: {case}: {said}");
                let is_told = said.err.ends_with(&format!("{why}\n")) && said.err.lines().count() == 1;
                assert!(is_told && said.out.is_empty(), "{unanswered}: {case}: {said}");
            }
        }
    }

    /// Names that are on no command line, and folders.
    #[test]
    fn a_name_in_a_list_or_a_record_whose_file_system_does_not_answer_is_refused_in_time() {
        let home = Home::new();
        let point = home.at("point");
        fs::create_dir(&point).unwrap();
        let file = point.join("f");
        fs::write(&file, "line\n".repeat(1000)).unwrap();
        let race = ["race", &text(&file), "--state", "warm", "--method", "rust/read/scalar", "--runs", "3"];
        let said = home.readlab([&race[..], &["--output", "run", "--quiet"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let record = fs::read_to_string(home.at("run/record.jsonl")).unwrap();
        let is_end = |line: &&str| !line.contains("\"end\"") && !line.contains("\"outcome\"");
        home.file(
            "cut.jsonl",
            record.lines().take_while(is_end).map(|line| format!("{line}\n")).collect::<String>(),
        );
        home.file("list", format!("{}\n{}\n", text(&home.file("plain", "line\n")), text(&file)));
        for (unanswered, cases) in [
            ("read", &["race --files-from list", "race --resume cut.jsonl"][..]),
            ("entries", &["race point", "sweep point"]),
        ] {
            let Some(silent) = Silent::mount(&point, unanswered) else { return };
            let (tell, told) = mpsc::channel();
            let never = ["report cut.jsonl -o cut.html", "compare cut.jsonl run"];
            for case in cases.iter().copied().chain(never) {
                let mut command = home.command(READLAB);
                command.args(case.split(' '));
                let tell = tell.clone();
                thread::spawn(move || tell.send((case, Said::by(&mut command))));
            }
            for _ in cases.iter().chain(&never) {
                let Ok((case, said)) = told.recv_timeout(LONGEST) else {
                    drop(silent);
                    panic!("{unanswered}: a lab has not ended");
                };
                let is_refused = said.code == Some(2)
                    && said.err.contains("point")
                    && said.err.contains("its file system did not answer within 10 s");
                assert!(is_refused || never.contains(&case), "{unanswered}: {case}: {said}");
            }
        }
    }

    #[test]
    fn a_file_of_which_the_end_is_not_read_is_refused_in_time() {
        let home = Home::new();
        let point = home.at("end");
        let Some(silent) = Silent::mount(&point, "end") else { return };
        let (tell, told) = mpsc::channel();
        let mut command = home.command(READLAB);
        let only = ["--state", "warm", "--method", "rust/read/scalar"];
        command.args(["race", &text(&point.join("f"))]).args(only);
        thread::spawn(move || tell.send(Said::by(&mut command)));
        let Ok(said) = told.recv_timeout(LONGEST) else {
            // Then all that wait for it end.
            drop(silent);
            panic!("the lab has not ended");
        };
        let why = "end/f: its file system did not answer within 10 s at byte ";
        assert!(said.code == Some(2) && said.err.contains(why), "{said}");
    }

    #[test]
    fn a_file_system_below_a_folder_that_does_not_answer_is_refused_in_time() {
        let home = Home::new();
        for unanswered in ["nothing", "entries"] {
            let folder = home.at(format!("of {unanswered}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("a"), "line\n".repeat(1000)).unwrap();
            let Some(silent) = Silent::mount(&folder.join("deep/point"), unanswered) else { return };
            let (tell, told) = mpsc::channel();
            let mut command = home.command(READLAB);
            command.args(["race", &text(&folder)]);
            thread::spawn(move || tell.send(Said::by(&mut command)));
            let Ok(said) = told.recv_timeout(LONGEST) else {
                // Then all that wait for it end.
                drop(silent);
                panic!("{unanswered}: the lab has not ended");
            };
            let why = "deep/point: its file system did not answer within 10 s\n";
            assert!(said.code == Some(2) && said.err.ends_with(why), "{unanswered}: {said}");
        }
    }

    /// A file system whose program answers nothing, until it is dropped.
    struct Silent {
        program: Child,
        _undo: Undo,
    }

    impl Silent {
        /// `None` with a message where it cannot be mounted.
        fn mount(point: &Path, unanswered: &str) -> Option<Silent> {
            fs::create_dir_all(point).unwrap();
            let mut mount = Command::new("python3");
            mount.args(["-c", SILENT, &text(point), unanswered]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut program = mount.spawn().unwrap();
            let mut said = String::new();
            BufReader::new(program.stdout.take().unwrap()).read_line(&mut said).unwrap();
            if said.trim() != "mounted" {
                program.wait().unwrap();
                eprintln!("SKIPPED: no FUSE");
                return None;
            }
            let undo = Undo(vec![vec!["umount".to_owned(), "--lazy".to_owned(), text(point)]]);
            Some(Silent { program, _undo: undo })
        }
    }

    impl Drop for Silent {
        fn drop(&mut self) {
            self.program.kill().unwrap();
            self.program.wait().unwrap();
        }
    }
}
