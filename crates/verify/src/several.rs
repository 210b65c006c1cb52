//! Checks of lists and folders: a tree with unusual sizes and names and with entries that no method
//! may read, malformed lists, and files that cannot be read.

use super::check::{Check, ReadWords, check_clean_exit, is_control, work_scans};
use super::files::special_name_check;
use super::settings::{self, DataAmount};
use super::stage::{AWKWARD_NAME, Case, Stage, non_utf8_name};
use readlab_corpus::names_truth::truth_of_names;
use readlab_corpus::oracle::Truth;
use readlab_corpus::tree_truth::truth_of_files;
use readlab_model::trial::Answer;
use readlab_protocol::MethodLine;
use readlab_protocol::files::list_word;
use readlab_system::kernel_file::folder_with_unreadable_file;
use readlab_system::open_file::make_pipe;
use readlab_system::user;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

/// A tree of files as two cases, each with its true answer: the folder, and the list of the files.
struct TreeCases {
    folder_case: Arc<Case>,
    list_case: Arc<Case>,
}

/// The trees that are read: one with unusual files, and one with a file whose name is not UTF-8.
pub(super) struct Trees {
    unusual_tree: TreeCases,
    non_utf8_named_tree: TreeCases,
}

/// Checks of every work and scan with a list, of settings, of names with special characters, and of
/// lists that must fail.
pub(super) fn list_checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let trees = stage.trees.get_or_make(|| Trees::make(stage))?;
    let folder = stage.new_folder()?;
    let there = folder.join("there");
    fs::write(&there, b"one\ntwo")?;
    let list = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs::write(&path, bytes).map(|()| path)
    };
    let twice_paths = [there.clone(), there.clone()];
    let twice = list("twice.list", list_bytes(&twice_paths))?;
    let twice = Arc::new(Case::at(twice, truth_of_paths(twice_paths.to_vec())?));
    let vanished =
        list("vanished.list", list_bytes(&[there.clone(), folder.join("vanished"), there.clone()]))?;
    let mut cut = list_bytes(&[there.clone(), there.clone()]);
    cut.pop();
    let mut gap = list_bytes(&[there]);
    gap.push(0);
    let broken = [list("cut.list", cut)?, list("gap.list", gap)?, folder.join("absent.list")];
    let mut checks = reading_checks(method, &trees.unusual_tree.list_case, &[list_word()]);
    let Some(visit) = work_scans(method).into_iter().next() else { return Ok(checks) };
    let words = ReadWords::new(method, &visit).with_settings([list_word()]);
    checks.push(Check::reading(words.clone(), twice, check_clean_exit));
    checks.push(special_name_check(
        words.clone(),
        trees.non_utf8_named_tree.list_case.clone(),
        non_utf8_name(),
    ));
    if is_control(method) {
        return Ok(checks);
    }
    let vanishing = words.with_target(vanished.as_os_str());
    checks.push(Check::must_fail(vanishing, "a list with a file that vanished", "vanished:"));
    for path in broken {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        checks.push(Check::must_fail(words.with_target(path.as_os_str()), name.clone(), name));
    }
    Ok(checks)
}

/// Checks of every work and scan with a folder, of settings, of names with special characters, and of
/// folders that must fail.
pub(super) fn folder_checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let trees = stage.trees.get_or_make(|| Trees::make(stage))?;
    let path = trees.unusual_tree.folder_case.path.clone();
    let mut checks = reading_checks(method, &trees.unusual_tree.folder_case, &[]);
    let Some(visit) = work_scans(method).into_iter().next() else { return Ok(checks) };
    let words = ReadWords::new(method, &visit);
    checks.push(special_name_check(
        words.clone(),
        trees.non_utf8_named_tree.folder_case.clone(),
        non_utf8_name(),
    ));
    let absent = words.with_target(stage.new_folder()?.join("absent"));
    checks.push(Check::must_fail(absent, "a folder that is absent", "absent"));
    // The name and the status of a file are visible even if its bytes cannot be read.
    if let Some(unreadable) = unreadable_folder(stage)?.filter(|_| !visit.work.finds_names()) {
        let words = words.with_target(unreadable.as_os_str());
        let named = format!("{}/", unreadable.display());
        checks.push(Check::must_fail(words, "a folder with a file that cannot be read", named));
    }
    checks.push(Check::must_fail(
        words.with_target(path).with_settings([list_word()]),
        "a folder as a list",
        "",
    ));
    Ok(checks)
}

/// Checks of each work and scan with this case, and of each setting with one work and scan.
fn reading_checks<'s>(method: &MethodLine, case: &Arc<Case>, fixed: &[String]) -> Vec<Check<'s>> {
    let work_scans = work_scans(method);
    let words = |visit| ReadWords::new(method, visit).with_settings(fixed.iter().cloned());
    let mut checks: Vec<Check> =
        work_scans.iter().map(|visit| Check::reading(words(visit), case.clone(), check_clean_exit)).collect();
    let Some(visit) = work_scans.first() else { return checks };
    for setting in settings::settings_for(method, DataAmount::Megabytes) {
        let words = words(visit).with_settings([setting]);
        let settings = words.settings.clone();
        checks.push(Check::reading(words, case.clone(), check_clean_exit).or_settings_refused(settings));
    }
    checks
}

impl Trees {
    fn make(stage: &Stage) -> io::Result<Trees> {
        Ok(Trees {
            unusual_tree: TreeCases::with_unusual_entries(stage)?,
            non_utf8_named_tree: TreeCases::with_raw_name(stage)?,
        })
    }
}

impl TreeCases {
    fn from_files(folder: PathBuf, files: Vec<PathBuf>) -> io::Result<TreeCases> {
        let list = folder.with_extension("list");
        fs::write(&list, list_bytes(&files))?;
        let of_files = truth_of_paths(files)?;
        let names = truth_of_names(&folder, &|_| Ok(()))?.answer;
        let Answer { folders, links, other_names, .. } = names;
        let answer = Answer { folders, links, other_names, names: names.names, ..of_files.answer };
        let of_folder = Truth { answer, ..of_files.clone() };
        Ok(TreeCases {
            folder_case: Arc::new(Case::at(folder, of_folder)),
            list_case: Arc::new(Case::at(list, of_files)),
        })
    }

    /// Files with unusual sizes and names, and entries that must not be read: symbolic links, a
    /// pipe, an empty folder.
    fn with_unusual_entries(stage: &Stage) -> io::Result<TreeCases> {
        let tree = stage.new_folder()?.join("tree");
        let deep = tree.join("nested/deep/er");
        fs::create_dir_all(&deep)?;
        fs::create_dir(tree.join("nested/empty"))?;
        let awkward = format!("nested/{AWKWARD_NAME}");
        let newlines = |count: usize| vec![b'\n'; count];
        let files = [
            ("empty", Vec::new()),
            (".hidden", b"x".to_vec()),
            ("nested/one-newline", b"\n".to_vec()),
            ("nested/deep/unended", b"one\ntwo".to_vec()),
            ("nested/deep/er/zeros", vec![0; 5000]),
            (&awkward, b"a name\n".to_vec()),
            ("nested/deep/4095", bytes_of_all_values(4095)),
            ("nested/deep/4096", bytes_of_all_values(4096)),
            ("nested/deep/4097", bytes_of_all_values(4097)),
            ("nested/deep/65536", bytes_of_all_values(65_536)),
            ("larger-than-any-buffer", bytes_of_all_values(2_100_001)),
            // Numbers of newlines around the modulus of the proof, at which the proof wraps around.
            ("65520-newlines", newlines(65_520)),
            ("nested/65520-newlines", newlines(65_520)),
            ("nested/70000-newlines", newlines(70_000)),
        ];
        let mut paths = Vec::new();
        for (name, content) in files {
            fs::write(tree.join(name), content)?;
            paths.push(tree.join(name));
        }
        // A hard link counts as another file.
        fs::hard_link(tree.join(".hidden"), tree.join("nested/second-name"))?;
        paths.push(tree.join("nested/second-name"));
        let outside = tree.with_file_name("outside");
        fs::write(&outside, bytes_of_all_values(3000))?;
        symlink("..", tree.join("nested/loop"))?;
        symlink(&tree, tree.join("nested/deep/loop"))?;
        symlink(&outside, tree.join("link-to-a-file"))?;
        symlink("../larger-than-any-buffer", tree.join("nested/link-to-a-file"))?;
        symlink("nowhere", tree.join("link-to-nothing"))?;
        make_pipe(&tree.join("nested/pipe"))?;
        TreeCases::from_files(tree, paths)
    }

    fn with_raw_name(stage: &Stage) -> io::Result<TreeCases> {
        let tree = stage.new_folder()?.join("raw");
        fs::create_dir(&tree)?;
        let file = tree.join(non_utf8_name());
        fs::write(&file, b"one\ntwo")?;
        TreeCases::from_files(tree, vec![file])
    }
}

fn truth_of_paths(files: Vec<PathBuf>) -> io::Result<Truth> {
    truth_of_files(files.into_iter().map(Ok::<_, Infallible>), &|_| Ok(()))
}

/// The paths, each terminated by a zero byte.
fn list_bytes(paths: &[PathBuf]) -> Vec<u8> {
    let ended = |path: &PathBuf| [path.as_os_str().as_bytes(), &[0]].concat();
    paths.iter().flat_map(ended).collect()
}

fn bytes_of_all_values(size: usize) -> Vec<u8> {
    let byte = |at: usize| {
        if at % 41 == 7 { b'\n' } else { u8::try_from((at * 31 + size) % 256).expect("below 256") }
    };
    (0..size).map(byte).collect()
}

/// A folder with a file that cannot be read. Root can read every file except write-only files of the
/// kernel; `None` for root on a system without such a file.
fn unreadable_folder(stage: &Stage) -> io::Result<Option<PathBuf>> {
    if user::is_root() {
        return Ok(folder_with_unreadable_file());
    }
    let folder = stage.new_folder()?;
    let closed = folder.join("closed");
    fs::write(&closed, b"secret")?;
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000))?;
    Ok(Some(folder))
}
