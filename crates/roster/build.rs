//! Lists the sources of the contenders, which are embedded in the program.
use std::path::{Path, PathBuf};

fn main() {
    rerun_if_changed(Path::new("build.rs"));
    let carried = embedded_folders();
    let sources = carried.iter().map(|(name, folder)| {
        let is_crate = CRATE_CONTENDERS.iter().any(|(known, _)| known == name);
        let files = embedded_files(folder).into_iter().map(|(inside, path)| {
            let renamed = RENAMED_FILES.iter().find(|(here, _)| is_crate && inside.ends_with(here));
            let inside = renamed.map_or(inside.clone(), |(_, truly)| inside.with_file_name(truly));
            format!("({:?}, include_bytes!({path:?}))", inside.display().to_string())
        });
        format!("({name:?}, {})", array_expression(files))
    });
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("sources.rs"), array_expression(sources))
        .expect("cargo's output folder is writable");
}

/// A symbolic link to the contenders. A published package of this crate contains the files instead
/// of the link.
const CONTENDERS_FOLDER: &str = "carried/contenders";

/// A folder with the agent of fleets, below a symbolic link. The agent is built like a contender.
const AGENT_FOLDER: &str = "carried/fleet/agent";

/// Contenders that are crates: their names, and folders of symbolic links to their files and to the
/// protocol crate. They are built like other contenders. A package cannot contain a folder with a
/// file `Cargo.toml`, so manifests and lock files have other names in these folders.
const CRATE_CONTENDERS: [(&str, &str); 2] =
    [("rust-crates", "carried/rust-crates"), ("rust-objects", "carried/rust-objects")];

/// The names of manifests and lock files in these folders, and their real names.
const RENAMED_FILES: [(&str, &str); 2] = [("manifest", "Cargo.toml"), ("lock", "Cargo.lock")];

/// Files in a contender's folder that are not embedded: build results, snippets and tests.
const NOT_EMBEDDED_NAMES: [&str; 5] = ["build", "snippets", "test", "tests", "test.sh"];

/// The folders to embed, by name: the contenders in the folder of contenders that are not crates,
/// the contenders that are crates, and the agent.
fn embedded_folders() -> Vec<(String, PathBuf)> {
    let contenders = Path::new(CONTENDERS_FOLDER);
    rerun_if_changed(contenders);
    let folders =
        folder_entries(contenders).filter(|path| path.is_dir() && !path.join("Cargo.toml").exists());
    let named = folders.map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, folder)
    });
    let others = CRATE_CONTENDERS.into_iter().chain([("fleet-agent", AGENT_FOLDER)]).map(|(name, folder)| {
        rerun_if_changed(Path::new(folder));
        (name.to_owned(), PathBuf::from(folder))
    });
    let mut named: Vec<_> = named.chain(others).collect();
    named.sort();
    named
}

fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Formats expressions as a Rust expression of an array.
fn array_expression(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}

fn embedded_files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect_files(folder, &mut files);
    files.sort();
    let named = files.into_iter().map(|file| {
        let inside = file.strip_prefix(folder).expect("it was found in the folder").to_owned();
        let path = file.canonicalize().expect("a file that was just listed");
        (inside, path.display().to_string())
    });
    named.collect()
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in folder_entries(folder) {
        let name = path.file_name().unwrap_or_default();
        if NOT_EMBEDDED_NAMES.iter().any(|not| name == *not) {
            continue;
        }
        if path.is_dir() { collect_files(&path, files) } else { files.push(path) }
    }
}

fn folder_entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    entries.map(|entry| entry.expect("a folder of sources can be read").path())
}
