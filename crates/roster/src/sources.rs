//! The sources of the contenders that come with readlab. They are embedded in the program and
//! extracted into the user's cache folder.
//!
//! Each contender gets a folder whose name contains a digest of its content,
//! `…/readlab/contenders/NAME-<digest>`, so that different versions of readlab never share one. The
//! folder gets this name when it is complete. [`super::build`] builds the sources.

use etcetera::BaseStrategy;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The path of a file within a contender's folder, and its content.
type EmbeddedFile = (&'static str, &'static [u8]);

/// The files of every contender, by the name of its folder. The build script writes this list.
const EMBEDDED: &[(&str, &[EmbeddedFile])] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

pub(super) fn cache_folder() -> io::Result<PathBuf> {
    let places = etcetera::choose_base_strategy().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(places.cache_dir().join("readlab"))
}

/// The folder with the sources of this name; it is created unless it exists.
pub(super) fn extracted_folder(name: &str) -> io::Result<PathBuf> {
    let carried = EMBEDDED.iter().find(|(carried, _)| *carried == name);
    let Some((_, files)) = carried else {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("readlab carries no sources of '{name}'"),
        ));
    };
    let folder = cache_folder()?.join("contenders").join(format!("{name}-{}", files_digest(files)));
    if !folder.is_dir() {
        extract(files, &folder)?;
    }
    Ok(folder)
}

/// Writes all files into a folder with a temporary name, which is then renamed. If another process
/// was faster, its folder stays.
fn extract(files: &[EmbeddedFile], folder: &Path) -> io::Result<()> {
    let parent = folder.parent().expect("it was joined from a parent");
    fs::create_dir_all(parent)?;
    let part = tempfile::Builder::new().prefix(".part-").tempdir_in(parent)?;
    for (name, content) in files {
        let path = part.path().join(name);
        fs::create_dir_all(path.parent().expect("it was joined from a parent"))?;
        fs::write(&path, content)?;
        if content.starts_with(b"#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    fs::set_permissions(part.path(), fs::Permissions::from_mode(0o755))?;
    match fs::rename(part.path(), folder) {
        Ok(()) => {
            // The folder was renamed, so there is no temporary folder to remove.
            let _ = part.keep();
            Ok(())
        }
        Err(_) if folder.is_dir() => Ok(()),
        Err(cause) => Err(cause),
    }
}

/// The XXH3 digest over names and contents, 16 hexadecimal digits.
fn files_digest(files: &[EmbeddedFile]) -> String {
    let mut digest = Xxh3::new();
    for (name, content) in files {
        digest.update(&(name.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update(&(content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    format!("{:016x}", digest.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sources_of_the_roster_are_embedded_without_build_results() {
        for entry in readlab_catalog::roster::Roster::built_in().entries {
            let Some(name) = &entry.sources else { continue };
            let (_, files) = EMBEDDED.iter().find(|(carried, _)| carried == name).unwrap();
            for word in entry.build.iter().chain([&entry.run]).flatten() {
                let Some((_, named)) = word.split_once("{sources}/") else { continue };
                assert!(files.iter().any(|(name, _)| *name == named), "{name}: {word}");
            }
            assert!(!files.iter().any(|(name, _)| name.starts_with("build/")));
        }
    }

    #[test]
    fn a_contender_crate_is_embedded_with_the_protocol_crate() {
        let crates = EMBEDDED.iter().filter(|(_, files)| files.iter().any(|(name, _)| *name == "Cargo.toml"));
        let names = crates.map(|(name, files)| {
            for needed in ["Cargo.lock", "src/main.rs", "protocol/Cargo.toml", "protocol/src/lib.rs"] {
                assert!(files.iter().any(|(carried, _)| *carried == needed), "{name}: {needed}");
            }
            *name
        });
        assert_eq!(names.collect::<Vec<_>>(), ["rust-crates", "rust-objects"]);
    }

    #[test]
    fn sources_are_extracted_once_and_scripts_are_executable() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("x-1");
        let files: &[EmbeddedFile] = &[("a.sh", b"#!/bin/sh\n"), ("b/c.txt", b"text")];
        extract(files, &folder).unwrap();
        extract(files, &folder).unwrap();
        let mode = |name: &str| folder.join(name).metadata().unwrap().permissions().mode();
        assert!(mode("a.sh") & 0o100 != 0 && mode("b/c.txt") & 0o100 == 0);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "no part is left");
    }

    #[test]
    fn another_content_or_name_gives_another_folder() {
        let digests = [&[("a", &b"b"[..])][..], &[("ab", b"")], &[("a", b"c")]].map(files_digest);
        assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
    }
}
