//! Lists the snippets of all contenders, which are embedded in the program.
use std::path::{Path, PathBuf};

fn main() {
    watch(Path::new("build.rs"));
    // A new contender is a new table in the roster. The folder itself is not watched, because
    // contenders also build in it.
    watch(&Path::new(CONTENDERS).join("roster.toml"));
    let others = entries(CONTENDERS).into_iter().filter(|folder| !folder.join("Cargo.toml").exists());
    let others = others.map(|folder| (name(&folder), folder.join("snippets")));
    let crates = entries(CRATES).into_iter().map(|snippets| (name(&snippets), snippets));
    let folders = others.chain(crates).filter(|(_, snippets)| snippets.is_dir());
    let snippets: Vec<String> =
        folders.flat_map(|(contender, snippets)| snippet_expressions(&contender, &snippets)).collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let list = format!("&[{}]", snippets.join(", "));
    std::fs::write(out.join("snippets.rs"), list).expect("cargo's output folder is writable");
}

/// A symbolic link to the contenders. A package of this crate has their snippets here.
const CONTENDERS: &str = "carried/contenders";

/// Symbolic links to the snippets of contenders that are crates, by name. A package cannot contain
/// a folder of another crate.
const CRATES: &str = "carried/crates";

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The snippets in a folder, each as a Rust expression: contender, name, file extension, text.
fn snippet_expressions(contender: &str, snippets: &Path) -> Vec<String> {
    watch(snippets);
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
    for path in entries(folder) {
        if path.is_dir() { collect_files(&path, files) } else { files.push(path) }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder of sources can be read").path()).collect();
    paths.sort();
    paths
}
