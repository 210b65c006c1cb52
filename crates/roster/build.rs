//! Lists the sources of the contenders, which are embedded in the program.
use std::path::{Path, PathBuf};

fn main() {
    watch(Path::new("build.rs"));
    let carried = embedded_folders();
    let sources = carried.iter().map(|(name, folder)| {
        let is_crate = CRATES.iter().any(|(known, _)| known == name);
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

/// A symbolic link to the contenders. A package of this crate has the files themselves here.
const CONTENDERS: &str = "carried/contenders";

/// A symbolic link to the agent of fleets, which is built like a contender.
const AGENT: &str = "carried/fleet/agent";

/// Symbolic links to the files of contenders that are crates, which are built like other
/// contenders, and to the protocol crate, which each has in its folder. A package cannot contain a
/// folder with a file `Cargo.toml`, so manifests and lock files have other names here.
const CRATES: [(&str, &str); 2] =
    [("rust-crates", "carried/rust-crates"), ("rust-objects", "carried/rust-objects")];

/// The names of these files here, and their real names.
const RENAMED_FILES: [(&str, &str); 2] = [("manifest", "Cargo.toml"), ("lock", "Cargo.lock")];

/// Files in a contender's folder that are not embedded: build results, snippets and tests.
const NOT_EMBEDDED: [&str; 5] = ["build", "snippets", "test", "tests", "test.sh"];

/// The folders to embed, by name: the contenders that are not crates, which readlab contains
/// itself, and the agent.
fn embedded_folders() -> Vec<(String, PathBuf)> {
    let contenders = Path::new(CONTENDERS);
    watch(contenders);
    let folders = entries(contenders).filter(|path| path.is_dir() && !path.join("Cargo.toml").exists());
    let named = folders.map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, folder)
    });
    let others = CRATES.into_iter().chain([("fleet-agent", AGENT)]).map(|(name, folder)| {
        watch(Path::new(folder));
        (name.to_owned(), PathBuf::from(folder))
    });
    let mut named: Vec<_> = named.chain(others).collect();
    named.sort();
    named
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Formats a list of expressions as a Rust expression.
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
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default();
        if NOT_EMBEDDED.iter().any(|not| name == *not) {
            continue;
        }
        if path.is_dir() { collect_files(&path, files) } else { files.push(path) }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    entries.map(|entry| entry.expect("a folder of sources can be read").path())
}
