//! Lists the sources of the contenders: the program carries them.
use std::path::{Path, PathBuf};

fn main() {
    watch(Path::new("build.rs"));
    let carried = carried();
    let sources = carried.iter().map(|(name, folder)| {
        let is_crate = CRATES.iter().any(|(known, _)| known == name);
        let files = files(folder).into_iter().map(|(inside, path)| {
            let renamed = RENAMED.iter().find(|(here, _)| is_crate && inside.ends_with(here));
            let inside = renamed.map_or(inside.clone(), |(_, truly)| inside.with_file_name(truly));
            format!("({:?}, include_bytes!({path:?}))", inside.display().to_string())
        });
        format!("({name:?}, {})", list(files))
    });
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("sources.rs"), list(sources)).expect("cargo's output folder is writable");
}

/// A link to the contenders. A package of this crate has their files in its place.
const CONTENDERS: &str = "carried/contenders";

/// A link to the agent of fleets, which is built like a contender.
const AGENT: &str = "carried/fleet/agent";

/// Links to the files of the contenders that are crates, built like other contenders, and to the
/// crate of the protocol, which each has in its folder. A package holds no folder with a file
/// `Cargo.toml`, so manifests and locks have other names here.
const CRATES: [(&str, &str); 2] =
    [("rust-crates", "carried/rust-crates"), ("rust-objects", "carried/rust-objects")];

/// Those names, and the true ones.
const RENAMED: [(&str, &str); 2] = [("manifest", "Cargo.toml"), ("lock", "Cargo.lock")];

/// Within a contender's folder, what is built from its sources, what shows them and what tests
/// them: not carried.
const NOT_CARRIED: [&str; 5] = ["build", "snippets", "test", "tests", "test.sh"];

/// The folders of what is carried, by name: the contenders that are no crates, which readlab has in
/// itself, and the agent.
fn carried() -> Vec<(String, PathBuf)> {
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

/// A list as a Rust expression, of others.
fn list(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Every file below a folder but what is not carried: its path within, and its whole path.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    gather(folder, &mut files);
    files.sort();
    let named = files.into_iter().map(|file| {
        let inside = file.strip_prefix(folder).expect("it was found in the folder").to_owned();
        let path = file.canonicalize().expect("a file that was just listed");
        (inside, path.display().to_string())
    });
    named.collect()
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default();
        if NOT_CARRIED.iter().any(|not| name == *not) {
            continue;
        }
        if path.is_dir() { gather(&path, files) } else { files.push(path) }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    entries.map(|entry| entry.expect("a folder of sources can be read").path())
}
