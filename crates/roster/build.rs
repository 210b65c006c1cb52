//! Lists the sources of the contenders that are no crates, and the snippets of all: the program
//! carries them.
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    contenders_sources();
    snippets();
}

/// A link to the contenders. A package of this crate has their files in its place.
const CONTENDERS: &str = "carried/contenders";

/// A link to the agent of fleets, which is built like a contender.
const AGENT: &str = "carried/fleet/agent";

/// Links to the files of the contenders that are crates, built like other contenders. A package
/// holds no folder with a file `Cargo.toml`, so their manifests and locks have other names here.
const CRATES: [(&str, &str); 2] =
    [("rust-crates", "carried/rust-crates"), ("rust-objects", "carried/rust-objects")];

/// Those names, and the true ones.
const RENAMED: [(&str, &str); 2] = [("manifest", "Cargo.toml"), ("lock", "Cargo.lock")];

/// A link of its own: a package holds no folder of another crate.
const RUST_SNIPPETS: &str = "carried/rust-snippets";

/// Within a contender's folder, what is built from its sources, what shows them and what tests
/// them: not carried.
const NOT_CARRIED: [&str; 5] = ["build", "snippets", "test", "tests", "test.sh"];

/// The folders of what is carried, by name: the contenders that are no crates, which readlab has in
/// itself, and the agent.
fn carried() -> Vec<(String, PathBuf)> {
    let contenders = Path::new(CONTENDERS);
    println!("cargo::rerun-if-changed={}", contenders.display());
    let entries =
        std::fs::read_dir(contenders).expect("the contenders are linked in the folder of what is carried");
    let folders = entries.map(|entry| entry.expect("their folder can be read").path());
    let folders = folders.filter(|folder| folder.is_dir() && !folder.join("Cargo.toml").exists());
    let named = folders.map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, folder)
    });
    let others = || CRATES.into_iter().chain([("fleet-agent", AGENT)]);
    others().for_each(|(_, folder)| println!("cargo::rerun-if-changed={folder}"));
    let others = others().map(|(name, folder)| (name.to_owned(), PathBuf::from(folder)));
    let mut named: Vec<_> = named.chain(others).collect();
    named.sort();
    named
}

/// The links to the files of a contender that is a crate.
fn crate_folder(contender: &str) -> Option<&'static str> {
    CRATES.iter().find(|(name, _)| *name == contender).map(|(_, folder)| *folder)
}

/// The contenders that have pieces of code to show.
const SHOWN: [&str; 21] = [
    "rust",
    "c",
    "cpp",
    "go",
    "java",
    "node",
    "bun",
    "deno",
    "python",
    "swift",
    "rust-crates",
    "python-data",
    "go-decoders",
    "java-decoders",
    "kotlin",
    "dotnet",
    "rust-objects",
    "go-objects",
    "java-objects",
    "node-objects",
    "python-objects",
];

/// Writes a list of snippets, each its contender, name, ending and text, as one Rust expression.
fn snippets() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut list = String::from("&[");
    for contender in SHOWN {
        let folder = match (contender, crate_folder(contender)) {
            ("rust", _) => PathBuf::from(RUST_SNIPPETS),
            (_, Some(folder)) => Path::new(folder).join("snippets"),
            (other, None) => Path::new(CONTENDERS).join(other).join("snippets"),
        };
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        // A contender may have no piece of code to show yet.
        if folder.is_dir() {
            gather(&folder, &mut files);
        }
        files.sort();
        for file in files {
            let inside = file.strip_prefix(&folder).expect("it was found in the folder").with_extension("");
            let ending =
                file.extension().expect("a snippet's ending names its language").display().to_string();
            let path = file.canonicalize().expect("a file that was just listed").display().to_string();
            let name = inside.display().to_string();
            let _ = write!(list, "({contender:?}, {name:?}, {ending:?}, include_str!({path:?})), ");
        }
    }
    list.push(']');
    std::fs::write(out.join("snippets.rs"), list).expect("cargo's output folder is writable");
}

/// Writes a list of folders, each a name and its files with their contents, as one Rust expression.
fn contenders_sources() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut list = String::from("&[");
    for (name, folder) in carried() {
        let mut files = Vec::new();
        gather(&folder, &mut files);
        files.sort();
        let _ = write!(list, "({name:?}, &[");
        for file in files {
            let inside = file.strip_prefix(&folder).expect("it was found in the folder");
            let path = file.canonicalize().expect("a file that was just listed");
            let inside = inside.display().to_string();
            let is_crate = crate_folder(&name).is_some();
            let renamed = RENAMED.iter().find(|(here, _)| is_crate && *here == inside);
            let _ = write!(
                list,
                "({:?}, include_bytes!({:?})), ",
                renamed.map_or(inside.as_str(), |(_, truly)| *truly),
                path.display().to_string()
            );
        }
        list.push_str("]), ");
    }
    list.push(']');
    std::fs::write(out.join("sources.rs"), list).expect("cargo's output folder is writable");
}

/// Every file below a folder but what is not carried.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).expect("the contenders are linked in the folder of what is carried");
    for path in entries.map(|entry| entry.expect("a folder of sources can be read").path()) {
        let name = path.file_name().unwrap_or_default();
        if NOT_CARRIED.iter().any(|not| name == *not) {
            continue;
        }
        if path.is_dir() { gather(&path, files) } else { files.push(path) }
    }
}
