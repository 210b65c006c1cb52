//! What the checks of one contender share: its command, the files with their true answers, and
//! slots (paths at which one file after another is read).

use super::check::ReadWords;
use super::locked;
use super::places::PlacesFiles;
use super::servers::{self, Servers};
use super::several::Trees;
use readlab_corpus::oracle::{self, Truth};
use readlab_measure::holders::Processes;
use readlab_roster::methods::Contender;
use readlab_roster::session::{Session, SessionError};
use readlab_system::process::{mapped_files, open_files};
use readlab_system::program::CommandLine;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A name that contains all characters with a special meaning in shells, URLs or text.
pub(super) const AWKWARD_NAME: &str = "a 'b' \"c\"\\ \n$(d) %41 ä";

/// A name with special characters that is not UTF-8.
pub(super) fn non_utf8_name() -> OsString {
    OsString::from_vec(b"a 'b' \xff\xfe".to_vec())
}

/// A target and its true answer.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub name: String,
    pub path: PathBuf,
    pub truth: Truth,
    /// Number of bytes that the listed blocks cover, overlaps counted once; `None` if the case is
    /// not a list of blocks.
    pub useful_bytes: Option<u64>,
}

impl Case {
    /// A case that is named after its file.
    pub(super) fn at(path: PathBuf, truth: Truth) -> Case {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Case { name, path, truth, useful_bytes: None }
    }

    /// A case for an existing file.
    pub(super) fn read(path: PathBuf) -> io::Result<Case> {
        let truth = oracle::truth_of_file(&path)?;
        Ok(Case::at(path, truth))
    }
}

pub(super) struct Stage<'a> {
    pub contender: &'a Contender,
    folder: &'a Path,
    pub time_limit: Duration,
    slot_count: AtomicU32,
    /// For each buffer size, three files: one byte shorter, exactly as long, and one byte longer.
    texts_by_buffer_bytes: Mutex<BTreeMap<u64, Arc<[Case; 3]>>>,
    /// The trees for methods that read lists and folders.
    pub trees: MadeOnce<Trees>,
    /// The lists for methods that read places.
    pub places: MadeOnce<PlacesFiles>,
    /// The shell command that verifies this contender again.
    repeat_command: &'a str,
    /// The servers, if a method reads from servers.
    pub servers: Option<Servers>,
    /// What is not tested of each method, and why.
    left_out: Mutex<BTreeMap<String, BTreeSet<String>>>,
    pub text_cases: Vec<Case>,
    /// Files with bytes of every value.
    pub byte_cases: Vec<Case>,
    /// A text so large that reading it takes longer than the exchange of messages in a turn.
    pub large_text: Case,
    /// A text under the name with special characters.
    pub awkwardly_named: Case,
    /// A text under the name that is not UTF-8.
    pub non_utf8_named: Case,
}

/// A value that is created when the first method needs it.
pub(super) struct MadeOnce<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for MadeOnce<T> {
    fn default() -> MadeOnce<T> {
        MadeOnce(Mutex::new(None))
    }
}

impl<T> MadeOnce<T> {
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> io::Result<T>) -> io::Result<Arc<T>> {
        let mut made = locked(&self.0);
        Ok(match made.take() {
            Some(made_before) => made.insert(made_before).clone(),
            None => made.insert(Arc::new(make()?)).clone(),
        })
    }
}

/// A path at which one file after another is read.
pub(super) struct FileSlot {
    pub path: PathBuf,
    folder: PathBuf,
}

impl<'a> Stage<'a> {
    pub(super) fn make(
        contender: &'a Contender,
        folder: &'a Path,
        deadline: Duration,
        again: &'a str,
    ) -> io::Result<Stage<'a>> {
        let write = |name: &OsStr, content: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, content)?;
            Case::read(path)
        };
        let all = |files: Vec<(String, Vec<u8>)>| -> io::Result<Vec<Case>> {
            files.iter().map(|(name, content)| write(OsStr::new(name), content)).collect()
        };
        let (text, bytes) = (all(text_files())?, all(byte_files())?);
        Ok(Stage {
            text_cases: text,
            byte_cases: bytes,
            large_text: write(
                OsStr::new("4MiB-of-lines"),
                &b"a line of thirty-two characters\n".repeat(1 << 17),
            )?,
            awkwardly_named: write(OsStr::new(AWKWARD_NAME), b"one\ntwo")?,
            non_utf8_named: write(&non_utf8_name(), b"one\ntwo")?,
            contender,
            folder,
            time_limit: deadline,
            slot_count: AtomicU32::new(0),
            texts_by_buffer_bytes: Mutex::default(),
            trees: MadeOnce::default(),
            places: MadeOnce::default(),
            repeat_command: again,
            servers: contender
                .methods
                .iter()
                .any(servers::reads_from_servers)
                .then(|| Servers::start(folder))
                .transpose()?,
            left_out: Mutex::default(),
        })
    }

    /// A shell command that verifies this method again.
    pub(super) fn verify_again_command(&self, method: &str) -> String {
        format!("{} --method {}", self.repeat_command, shell_words::quote(method))
    }

    /// Records what of a method is not tested.
    pub(super) fn leave_out(&self, method: &str, what: &str) {
        locked(&self.left_out).entry(method.to_owned()).or_default().insert(what.to_owned());
    }

    pub(super) fn left_out(&self, method: &str) -> Vec<String> {
        locked(&self.left_out).get(method).into_iter().flatten().cloned().collect()
    }

    pub(super) fn file(&self, name: &str) -> &Case {
        let found = self.text_cases.iter().chain(&self.byte_cases).find(|case| case.name == name);
        found.expect("the name is one of the files' below")
    }

    /// Three texts: one byte shorter than `bytes`, exactly as long, and one byte longer.
    pub(super) fn texts_around(&self, bytes: u64) -> io::Result<Arc<[Case; 3]>> {
        let mut around = locked(&self.texts_by_buffer_bytes);
        if let Some(cases) = around.get(&bytes) {
            return Ok(cases.clone());
        }
        let folder = self.new_folder()?;
        let case = |size: u64| {
            let path = folder.join(format!("{size}-bytes"));
            fs::write(&path, text_of_size(size))?;
            Case::read(path)
        };
        let cases = Arc::new([case(bytes - 1)?, case(bytes)?, case(bytes + 1)?]);
        around.insert(bytes, cases.clone());
        Ok(cases)
    }

    /// A slot with a new path, which has this name and is in a folder of its own. No file exists there
    /// yet.
    pub(super) fn new_slot(&self, name: impl AsRef<Path>) -> io::Result<FileSlot> {
        let folder = self.new_folder()?;
        Ok(FileSlot { path: folder.join(name), folder })
    }

    pub(super) fn new_folder(&self) -> io::Result<PathBuf> {
        let number = self.slot_count.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("slot-{number}"));
        fs::create_dir(&folder)?;
        Ok(folder)
    }

    pub(super) fn command(&self, words: &ReadWords) -> CommandLine {
        let mut command = self.contender.command_with(words.words());
        command.env_removed.extend(words.env_removed.iter().cloned());
        command.env.extend(words.env.iter().cloned());
        command
    }

    /// Starts a session and waits for its hello.
    pub(super) fn start_session(&self, words: &ReadWords) -> Result<Session, SessionError> {
        self.start_command(&self.command(words))
    }

    pub(super) fn start_command(&self, command: &CommandLine) -> Result<Session, SessionError> {
        Session::launch_within(&self.contender.receipt.contender, command, self.time_limit)?.receive_hello()
    }

    /// The reason for a violation if a session, or a process that it started, has a file of the stage
    /// open or mapped between turns; `None` if no file is held.
    pub(super) fn held_file_reason(&self, session: &Session) -> Option<String> {
        let is_ours = |path: &Path| path.starts_with(self.folder);
        Processes::now().family(session.process_id()).into_iter().find_map(|pid| {
            let mapped = mapped_files(pid).into_iter().find(|file| is_ours(&file.path));
            let open = open_files(pid).into_iter().find(|file| is_ours(&file.path));
            let (file, how) = mapped.map(|file| (file, "mapped")).or(open.map(|file| (file, "open")))?;
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some(format!("it keeps the file {name} {how} between turns"))
        })
    }
}

impl FileSlot {
    /// Places a file at the path, replacing the present one.
    pub(super) fn put_file(&self, file: &Path) -> io::Result<()> {
        self.clear()?;
        fs::hard_link(file, &self.path)
    }

    /// Removes the file at the path.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for FileSlot {
    fn drop(&mut self) {
        // If this fails, the folder is removed with the whole stage.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Texts whose sizes and line lengths are likely to reveal errors: at the end, and around the sizes
/// of pages and buffers.
fn text_files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = [
        ("empty", &b""[..]),
        ("one-byte", b"x"),
        ("one-newline", b"\n"),
        ("no-final-newline", b"first\nsecond\nthird"),
        ("two-final-newlines", b"first\n\n"),
    ]
    .map(|(name, content)| (name.to_owned(), content.to_vec()))
    .into();
    files.push(("only-newlines".to_owned(), vec![b'\n'; 10_007]));
    let lines = (0..600_usize).map(|at| "x".repeat(if at % 7 == 0 { 0 } else { at }) + "\n");
    files.push(("lines-of-many-lengths".to_owned(), lines.collect::<String>().into_bytes()));
    for size in [4095, 4096, 4097, 8191, 8192, 8193, 65_535, 65_536, 65_537] {
        files.push((format!("{size}-bytes"), text_of_size(size)));
    }
    // This file is as long as `65537-bytes` and has another answer, which a contender that remembers
    // answers by size would get wrong.
    files.push((
        "65537-other-bytes".to_owned(),
        (0..65_537).map(|at| if at % 3 == 0 { b'\n' } else { b'a' }).collect(),
    ));
    // Shorter than the longest line that Go's Scanner accepts.
    files.push(("a-long-line".to_owned(), b"long".repeat(15_000)));
    files.push(("utf-8".to_owned(), "ä€😀\n".repeat(1400).into_bytes()));
    files
}

/// Short lines; the last one has no newline.
pub(super) fn text_of_size(bytes: u64) -> Vec<u8> {
    (1..bytes).map(|at| if at % 61 == 0 { b'\n' } else { b'y' }).chain([b'z']).collect()
}

/// Files that are not valid text, or that some runtimes split into lines differently.
fn byte_files() -> Vec<(String, Vec<u8>)> {
    let every = (0..70_000_u32).map(|at| u8::try_from((at * 7919 + at / 256) % 256).expect("below 256"));
    vec![
        ("every-byte".to_owned(), every.collect()),
        ("zeros".to_owned(), vec![0; 200_000]),
        ("a-zero-in-a-line".to_owned(), b"be\0fore\nafter\0\n".to_vec()),
        ("line-ends-of-unicode".to_owned(), "one\u{85}two\u{2028}three\u{2029}\n".repeat(300).into_bytes()),
        ("carriage-returns".to_owned(), b"one\r\ntwo\rthree\r\n".repeat(300)),
    ]
}
