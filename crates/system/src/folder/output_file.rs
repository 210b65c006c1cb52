//! Files that readlab writes to paths that the user names: exports and pages.
//!
//! A file is written under a temporary name and renamed when it is complete. It replaces only an
//! empty file or an earlier output of the same format. It never replaces a file that the run reads,
//! or the target of a symbolic link. Two outputs never have the same path, and none has that of a
//! file to which standard output or standard error goes. A named pipe is opened when it is checked;
//! the check fails if no program reads the pipe within `READER_WAIT`.

use super::earlier_output::{OutputPredicate, is_replaceable};
use super::folder_of;
use crate::process::FileId;
use crate::terminal::printable::printable;
use crate::user;
use crate::{descriptor, open_file};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub const STANDARD_OUTPUT: &str = "-";

/// The permissions of a new file, before the user's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// How long readlab waits until a program reads a pipe. The program may be started at the same time
/// as readlab.
const READER_WAIT: Duration = Duration::from_secs(2);

/// Time between two attempts to open a pipe.
const READER_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Named pipes that stay open between the check and the writing of the output. Closing a pipe would
/// end the stream for its reader.
static OPEN_PIPES: Mutex<BTreeMap<FileId, File>> = Mutex::new(BTreeMap::new());

/// An output: the option that requests it, and the file that the option names.
#[derive(Debug, Clone, Copy)]
pub struct OutputFile<'a> {
    /// The option, such as `--export-json`.
    pub option: &'static str,
    /// A path, or [`STANDARD_OUTPUT`].
    pub file: &'a Path,
    /// Checks whether an existing file is an earlier output, which this output may replace.
    pub is_earlier_output: OutputPredicate,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputFiles(BTreeSet<FileId>);

#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{path}: is read, so {option} cannot write there; name another file")]
    Input { path: String, option: &'static str },
    #[error(
        "{path}: exists and is no export of readlab in this format, so {option} does not replace it; \
         remove it or name another file"
    )]
    ForeignFile { path: String, option: &'static str },
    #[error("{path}: is a symbolic link, and {option} writes through none; name the file that it leads to")]
    SymbolicLink { path: String, option: &'static str },
    #[error("{path}: both {first} and {second} write there; name another file for one of them")]
    NamedTwice { path: String, first: &'static str, second: &'static str },
    #[error(
        "{path}: is a pipe that no program reads within {} s, so {option} cannot write there; start its reader first",
        READER_WAIT.as_secs()
    )]
    PipeWithoutReader { path: String, option: &'static str },
    #[error("{path}")]
    Io {
        path: String,
        #[source]
        cause: io::Error,
    },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Destination {
    File(FileId),
    /// A new file; its path has no symbolic links in the folder part.
    New(PathBuf),
}

impl InputFiles {
    /// The regular files that these paths name now.
    pub fn at<'a>(paths: impl IntoIterator<Item = &'a Path>) -> InputFiles {
        InputFiles(paths.into_iter().filter_map(FileId::at).collect())
    }

    pub fn join(&mut self, other: InputFiles) {
        self.0.extend(other.0);
    }

    pub fn extend(&mut self, files: impl IntoIterator<Item = FileId>) {
        self.0.extend(files);
    }
}

/// The names, without folders, of the files to which these outputs, standard output and standard
/// error go.
pub fn file_names(outputs: &[OutputFile]) -> BTreeSet<OsString> {
    let streams = standard_stream_files();
    let files = outputs.iter().map(|output| output.file).chain(streams.iter().map(PathBuf::as_path));
    files.filter_map(|file| Some(file.file_name()?.to_owned())).collect()
}

/// The files to which standard output and standard error go; their paths have no symbolic links.
pub fn standard_stream_files() -> Vec<PathBuf> {
    let files = [file_of_stream(io::stdout()), file_of_stream(io::stderr())].into_iter().flatten();
    files.filter_map(|file| descriptor::path_of(&file)).collect()
}

/// Whether what is written to this path goes to standard output: by `-`, by the path of the
/// descriptor, or because it is the same stream. The name of a regular file to which the shell
/// sends standard output does not count, because an output replaces such a file.
pub fn is_standard_output(file: &Path) -> bool {
    let is_its_stream = || {
        let id = fs::metadata(file).ok().map(|facts| FileId::of_metadata(&facts));
        id.is_some() && id == id_of_stream(io::stdout())
    };
    file == Path::new(STANDARD_OUTPUT)
        || (descriptor::is_process_specific(file) || is_stream(file)) && is_its_stream()
}

/// Rejects, before the measurement, outputs that cannot be written, and a standard stream that is
/// also an input.
pub fn check(outputs: &[OutputFile], inputs: &InputFiles) -> Result<(), OutputError> {
    for (stream, id) in ids_of_standard_streams() {
        if id.is_some_and(|id| inputs.0.contains(&id)) {
            return Err(OutputError::Input { path: stream.to_owned(), option: "readlab" });
        }
    }
    let mut taken: Vec<(Destination, &'static str)> = Vec::new();
    for output in outputs {
        output.check(inputs)?;
        let Some(place) = output.destination().map_err(|cause| output.io_error(cause))? else { continue };
        if let Some((_, first)) = taken.iter().find(|(other, _)| *other == place) {
            return Err(OutputError::NamedTwice {
                path: output.display_file(),
                first,
                second: output.option,
            });
        }
        taken.push((place, output.option));
    }
    Ok(())
}

impl<'a> OutputFile<'a> {
    /// `None` if the option was not given.
    pub fn if_requested(
        option: &'static str,
        file: &'a Option<PathBuf>,
        is_earlier_output: OutputPredicate,
    ) -> Option<OutputFile<'a>> {
        Some(OutputFile { option, file: file.as_deref()?, is_earlier_output })
    }

    pub fn is_standard_output(&self) -> bool {
        is_standard_output(self.file)
    }

    /// True if the file is an earlier output, which this output replaces.
    pub fn replaces_earlier(&self) -> bool {
        let is_file =
            !self.is_standard_output() && self.file.symlink_metadata().is_ok_and(|facts| facts.is_file());
        is_file && is_replaceable(self.file, self.is_earlier_output).unwrap_or(false)
    }

    /// Writes the complete output. The output replaces an earlier output at its path.
    pub fn write(
        &self,
        inputs: &InputFiles,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let written = |out: &mut dyn Write| content(out).and_then(|()| out.flush());
        if self.is_standard_output() {
            return written(&mut BufWriter::new(io::stdout())).map_err(|cause| self.io_error(cause));
        }
        self.check(inputs)?;
        let is_new = self.file.symlink_metadata().is_err();
        let done = if is_stream(self.file) {
            self.open_stream().and_then(|stream| written(&mut BufWriter::new(stream)))
        } else {
            tempfile::Builder::new()
                .prefix(".readlab-")
                .permissions(Permissions::from_mode(NEW_FILE_MODE))
                .tempfile_in(folder_of(self.file))
                .and_then(|mut part| {
                    written(&mut BufWriter::new(&mut part))?;
                    // A file that appeared meanwhile belongs to another program and is not
                    // replaced.
                    let named =
                        if is_new { part.persist_noclobber(self.file) } else { part.persist(self.file) };
                    named.map(drop).map_err(|error| error.error)
                })
        };
        done.map_err(|cause| self.io_error(cause))
    }

    fn check(&self, inputs: &InputFiles) -> Result<(), OutputError> {
        if self.is_standard_output() {
            return Ok(());
        }
        if is_stream(self.file) {
            return self.check_stream();
        }
        let id = FileId::at(self.file);
        if id.is_some_and(|id| inputs.0.contains(&id)) {
            return Err(OutputError::Input { path: self.display_file(), option: self.option });
        }
        if self.file.is_symlink() {
            return Err(OutputError::SymbolicLink { path: self.display_file(), option: self.option });
        }
        // The output would take the name of the file to which the shell sends a stream, and what is
        // written to the stream would be lost.
        let is_it = |stream: &(&str, Option<FileId>)| id.is_some() && stream.1 == id;
        if let Some((first, _)) = ids_of_standard_streams().into_iter().find(is_it) {
            return Err(OutputError::NamedTwice { path: self.display_file(), first, second: self.option });
        }
        let folder = folder_of(self.file);
        if self.file.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else if fs::metadata(self.file).is_ok_and(|facts| facts.file_type().is_block_device()) {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "a block device, which is never written"))
        } else if folder.exists() && !folder.is_dir() {
            Err(io::ErrorKind::NotADirectory.into())
        } else if self.file.exists() {
            user::check_writable(self.file).and_then(|()| user::check_writable(folder))
        } else {
            user::check_writable(folder)
        }
        .map_err(|cause| self.io_error(cause))?;
        match !self.file.exists()
            || is_replaceable(self.file, self.is_earlier_output).map_err(|cause| self.io_error(cause))?
        {
            true => Ok(()),
            false => Err(OutputError::ForeignFile { path: self.display_file(), option: self.option }),
        }
    }

    /// Checks a pipe, socket or character device. A pipe is opened, and stays open until the output
    /// is written.
    fn check_stream(&self) -> Result<(), OutputError> {
        let facts = fs::metadata(self.file).map_err(|cause| self.io_error(cause))?;
        if facts.file_type().is_socket() {
            let why = "a socket, which cannot be opened for writing";
            return Err(self.io_error(io::Error::new(ErrorKind::InvalidInput, why)));
        }
        let mut pipes = OPEN_PIPES.lock().unwrap_or_else(PoisonError::into_inner);
        let id = FileId::of_metadata(&facts);
        if facts.file_type().is_char_device() || pipes.contains_key(&id) {
            return Ok(());
        }
        let pipe = self.open_pipe().map_err(|cause| match cause.kind() {
            ErrorKind::NotConnected => {
                OutputError::PipeWithoutReader { path: self.display_file(), option: self.option }
            }
            _ => self.io_error(cause),
        })?;
        pipes.insert(id, pipe);
        Ok(())
    }

    /// Opens a pipe as soon as a program reads it; fails after [`READER_WAIT`].
    fn open_pipe(&self) -> io::Result<File> {
        let begun = Instant::now();
        loop {
            match open_file::open_pipe_with_reader(self.file) {
                Err(cause) if cause.kind() == ErrorKind::NotConnected && begun.elapsed() < READER_WAIT => {
                    thread::sleep(READER_CHECK_INTERVAL);
                }
                opened => return opened,
            }
        }
    }

    fn open_stream(&self) -> io::Result<File> {
        let id = FileId::of_metadata(&fs::metadata(self.file)?);
        let open = OPEN_PIPES.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        open.map_or_else(|| File::options().write(true).open(self.file), Ok)
    }

    /// Where the output goes; `None` for the path of a character device, which several outputs may
    /// share. Only one output may go to standard output, even if that is a terminal.
    fn destination(&self) -> io::Result<Option<Destination>> {
        if self.file == Path::new(STANDARD_OUTPUT) {
            return Ok(id_of_stream(io::stdout()).map(Destination::File));
        }
        if let Ok(facts) = fs::metadata(self.file) {
            let id = Destination::File(FileId::of_metadata(&facts));
            return Ok((!facts.file_type().is_char_device()).then_some(id));
        }
        let name = self.file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Some(Destination::New(folder_of(self.file).canonicalize()?.join(name))))
    }

    fn io_error(&self, cause: io::Error) -> OutputError {
        OutputError::Io { path: self.display_file(), cause }
    }

    fn display_file(&self) -> String {
        match self.is_standard_output() {
            true => "standard output".to_owned(),
            false => printable(&self.file.to_string_lossy()),
        }
    }
}

/// True if another process or device receives what is written to the path. Such a file is opened and
/// written, never replaced.
fn is_stream(file: &Path) -> bool {
    let goes_on = |kind: fs::FileType| kind.is_fifo() || kind.is_char_device() || kind.is_socket();
    fs::metadata(file).is_ok_and(|facts| goes_on(facts.file_type()))
}

fn file_of_stream(stream: impl AsFd) -> Option<File> {
    Some(stream.as_fd().try_clone_to_owned().ok()?.into())
}

fn ids_of_standard_streams() -> [(&'static str, Option<FileId>); 2] {
    [("standard output", id_of_stream(io::stdout())), ("standard error", id_of_stream(io::stderr()))]
}

fn id_of_stream(stream: impl AsFd) -> Option<FileId> {
    Some(FileId::of_metadata(&file_of_stream(stream)?.metadata().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn output(file: &Path) -> OutputFile<'_> {
        OutputFile { option: "--export-json", file, is_earlier_output: |head| head.starts_with("new") }
    }

    fn write(file: &Path, inputs: &InputFiles) -> Result<(), OutputError> {
        output(file).write(inputs, |out| out.write_all(b"new"))
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn an_output_never_replaces_an_input_under_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let [read, link, second, dots] =
            ["read", "link", "second", "../read"].map(|name| folder.path().join(name));
        fs::write(&read, "the user's").unwrap();
        symlink(&read, &link).unwrap();
        fs::hard_link(&read, &second).unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        let dots = folder.path().join("x").join(dots.strip_prefix(folder.path()).unwrap());
        let inputs = InputFiles::at([read.as_path()]);
        for name in [&read, &link, &second, &dots] {
            let error = check(&[output(name)], &inputs).unwrap_err();
            assert!(matches!(error, OutputError::Input { .. }), "{error}");
            assert!(write(name, &inputs).is_err());
        }
        assert_eq!(fs::read(&read).unwrap(), b"the user's");
        assert_eq!(names_in(folder.path()), ["link", "read", "second", "x"]);
    }

    #[test]
    fn an_output_replaces_the_whole_file_and_follows_no_symbolic_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, dangling] = ["file", "link", "dangling"].map(|name| folder.path().join(name));
        fs::write(&file, "new, an earlier, longer export").unwrap();
        symlink(&file, &link).unwrap();
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        let inputs = InputFiles::default();
        for link in [&link, &dangling] {
            assert!(matches!(write(link, &inputs), Err(OutputError::SymbolicLink { .. })), "{link:?}");
        }
        let failed = output(&file).write(&inputs, |out| {
            out.write_all(b"half").and_then(|()| Err(io::ErrorKind::StorageFull.into()))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&file).unwrap(), b"new, an earlier, longer export");
        write(&file, &inputs).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(names_in(folder.path()), ["dangling", "file", "link"]);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o600, 0o600);
    }

    #[test]
    fn only_an_empty_file_and_an_earlier_output_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let none = InputFiles::default();
        for (there, is_replaced) in [("", true), ("new one", true), ("a new one", false), ("\n", false)] {
            fs::write(&file, there).unwrap();
            let checked = check(&[output(&file)], &none);
            assert_eq!(checked.is_ok(), is_replaced, "{there:?}");
            assert_eq!(write(&file, &none).is_ok(), is_replaced, "{there:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), if is_replaced { "new" } else { there });
            if let Err(error) = checked {
                let said = error.to_string();
                assert!(said.starts_with(&format!("{}: exists and is no export", file.display())), "{said}");
                assert!(said.contains("--export-json") && said.contains("name another file"), "{said}");
            }
        }
    }

    #[test]
    fn a_file_created_while_an_output_is_written_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let written = output(&file).write(&InputFiles::default(), |out| {
            fs::write(&file, "the user's").unwrap();
            out.write_all(b"new")
        });
        assert!(written.is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "the user's");
        assert_eq!(names_in(folder.path()), ["file"]);
    }

    /// Starts a thread that waits for `delay` and then reads the pipe to its end. The end may come
    /// late, because a process that another test starts may inherit the open pipe for a moment.
    fn spawn_reader(pipe: &Path, delay: Duration) -> thread::JoinHandle<io::Result<String>> {
        let pipe = pipe.to_owned();
        thread::spawn(move || {
            thread::sleep(delay);
            fs::read_to_string(pipe)
        })
    }

    #[test]
    fn a_pipe_needs_a_reader_which_gets_the_output_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pipe");
        open_file::make_pipe(&file).unwrap();
        let none = InputFiles::default();
        let refused = check(&[output(&file)], &none).unwrap_err();
        assert!(matches!(refused, OutputError::PipeWithoutReader { .. }), "{refused}");
        assert!(refused.to_string().contains("start its reader first"), "{refused}");
        let reader = spawn_reader(&file, Duration::ZERO);
        check(&[output(&file)], &none).unwrap();
        check(&[output(&file)], &none).unwrap();
        write(&file, &none).unwrap();
        let id = FileId::of_metadata(&fs::metadata(&file).unwrap());
        assert!(!OPEN_PIPES.lock().unwrap().contains_key(&id), "a later output needs a reader of its own");
        assert_eq!(reader.join().unwrap().unwrap(), "new");
    }

    #[test]
    fn a_reader_of_a_pipe_may_start_a_little_later() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pipe");
        open_file::make_pipe(&file).unwrap();
        let reader = spawn_reader(&file, READER_CHECK_INTERVAL * 3);
        check(&[output(&file)], &InputFiles::default()).unwrap();
        write(&file, &InputFiles::default()).unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), "new");
    }

    #[test]
    fn a_socket_is_refused_and_not_called_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&file).unwrap();
        let refused = check(&[output(&file)], &InputFiles::default()).unwrap_err();
        assert!(
            matches!(&refused, OutputError::Io { cause, .. } if cause.to_string().starts_with("a socket"))
        );
    }

    #[test]
    fn two_outputs_must_have_different_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        let [file, same, other] = ["new", "x/../new", "other"].map(|name| folder.path().join(name));
        let none = InputFiles::default();
        assert!(check(&[output(&file), output(&other)], &none).is_ok());
        assert!(matches!(check(&[output(&file), output(&same)], &none), Err(OutputError::NamedTwice { .. })));
        let dash = Path::new(STANDARD_OUTPUT);
        assert!(matches!(check(&[output(dash), output(dash)], &none), Err(OutputError::NamedTwice { .. })));
        let descriptor = Path::new("/dev/fd/1");
        assert!(is_standard_output(descriptor) && !is_standard_output(&file) && !is_standard_output(&other));
        let null = Path::new("/dev/null");
        assert!(check(&[output(null), output(null)], &none).is_ok());
        write(null, &none).unwrap();
        assert!(check(&[output(&folder.path().join("no/such"))], &none).is_err());
        assert!(check(&[output(folder.path())], &none).is_err());
    }
}
