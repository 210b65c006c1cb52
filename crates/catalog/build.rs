//! Lists the snippets of all contenders, which are embedded in the program.
use std::path::{Path, PathBuf};

fn main() {
    rebuild_if_changed(Path::new("build.rs"));
    // A new contender is a new table in the roster. The folder itself is not watched, because
    // contenders also build in it.
    rebuild_if_changed(&Path::new(CONTENDERS_FOLDER).join("roster.toml"));
    let others =
        sorted_entries(CONTENDERS_FOLDER).into_iter().filter(|folder| !folder.join("Cargo.toml").exists());
    let others = others.map(|folder| (file_name_text(&folder), folder.join("snippets")));
    let crates = sorted_entries(CRATE_SNIPPETS_FOLDER)
        .into_iter()
        .map(|snippets| (file_name_text(&snippets), snippets));
    let folders = others.chain(crates).filter(|(_, snippets)| snippets.is_dir());
    let snippets: Vec<String> =
        folders.flat_map(|(contender, snippets)| snippet_expressions(&contender, &snippets)).collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let list = format!("&[{}]", snippets.join(", "));
    std::fs::write(out.join("snippets.rs"), list).expect("cargo's output folder is writable");
}

/// A symbolic link to the folder of the contenders. A published package has copies of their
/// snippets here.
const CONTENDERS_FOLDER: &str = "carried/contenders";

/// Symbolic links to the snippets of contenders that are crates, by name. A package cannot contain
/// a folder of another crate.
const CRATE_SNIPPETS_FOLDER: &str = "carried/crates";

fn rebuild_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The snippets in a folder, each as a Rust expression: contender, name, file extension, text.
fn snippet_expressions(contender: &str, snippets: &Path) -> Vec<String> {
    rebuild_if_changed(snippets);
    let mut files = Vec::new();
    collect_files(snippets, &mut files);
    let expression = |path: &PathBuf| {
        let inside = path.strip_prefix(snippets).expect("it was found in the folder");
        let ending = inside.extension().expect("a snippet's ending names its language").display().to_string();
        let name = inside.with_extension("").display().to_string();
        let path = path.canonicalize().expect("a file that was just listed").display().to_string();
        format!("({contender:?}, {name:?}, {ending:?}, include_str!({path:?}))")
    };
    files.iter().map(expression).collect()
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in sorted_entries(folder) {
        if path.is_dir() { collect_files(&path, files) } else { files.push(path) }
    }
}

fn file_name_text(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sorted_entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder of sources can be read").path()).collect();
    paths.sort();
    paths
}
