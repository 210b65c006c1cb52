//! The zstd dictionary with which a target was compressed. The user names its file. Its digest
//! shows whether it has changed, and contenders get its path.
//!
//! A dictionary is a file that `zstd --train` wrote, with an identifier that frames repeat, or any
//! other bytes. [`readlab_corpus`] decodes zstd with a dictionary.

use super::{AcceptedKinds, TargetError, check_kind, path, refusal};
use readlab_model::target::dictionary::Dictionary;
use readlab_system::file_status::FileStatus;
use readlab_system::open_file;
use readlab_system::terminal::printable::display_path;
use std::io::{self, Read};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// A larger file is not accepted as a dictionary. Every decoder holds the whole dictionary in
/// memory, and the command `zstd --train` writes 110 KiB.
const DICTIONARY_BYTES_MAX: u64 = 64 << 20;

/// Examines a dictionary and returns the facts that a record keeps about it.
pub fn examine(named: &Path) -> Result<Dictionary, TargetError> {
    let path = path::stable_path(named).map_err(|cause| refusal(named, cause))?;
    let bytes = read(&path)?;
    let is_whole = (1..=DICTIONARY_BYTES_MAX).contains(&(bytes.len() as u64));
    // The record stores the path as text and reads the dictionary from it again, so the path must
    // be UTF-8.
    let text = path.to_str().filter(|_| is_whole);
    let Some(text) = text else {
        let why = "no dictionary: it is empty or larger than 64 MiB, or its name is not UTF-8";
        return Err(TargetError::about(&path, why));
    };
    let (path, size_bytes, digest) = (text.to_owned(), bytes.len() as u64, digest(&bytes));
    let id = zstd::zstd_safe::get_dict_id_from_dict(&bytes).map(Into::into);
    Ok(Dictionary { path, size_bytes, digest, id })
}

/// Reads the dictionary again; an error if it has changed.
pub fn read_unchanged(dictionary: &Dictionary) -> io::Result<Vec<u8>> {
    let path = Path::new(&dictionary.path);
    let bytes = read(path).map_err(io::Error::other)?;
    if digest(&bytes) == dictionary.digest {
        return Ok(bytes);
    }
    Err(io::Error::other(format!("{}: the dictionary has changed", display_path(path))))
}

/// The content of a file; only its beginning if it is too large for a dictionary.
fn read(path: &Path) -> Result<Vec<u8>, TargetError> {
    let file = open_file::open_without_waiting(path).map_err(|cause| refusal(path, cause))?;
    let io = TargetError::io(path);
    check_kind(path, FileStatus::read(&file).map_err(&io)?.kind, AcceptedKinds::Files)?;
    let mut bytes = Vec::new();
    file.take(DICTIONARY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::DICTIONARY_VARIABLE;
    use std::fs;

    #[test]
    fn a_dictionary_is_recognised_by_its_digest_and_a_changed_one_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d\nict");
        fs::write(&path, "any bytes").unwrap();
        let dictionary = examine(&path).unwrap();
        assert_eq!((dictionary.size_bytes, dictionary.id), (9, None));
        assert_eq!(
            dictionary.environment_variable(),
            (DICTIONARY_VARIABLE.into(), path.clone().into_os_string())
        );
        assert_eq!(read_unchanged(&dictionary).unwrap(), b"any bytes");
        fs::write(&path, "any BYTES").unwrap();
        let said = read_unchanged(&dictionary).unwrap_err().to_string();
        assert!(said.ends_with("d\\nict: the dictionary has changed"), "{said}");
    }

    #[test]
    fn the_identifier_of_a_trained_dictionary_is_read() {
        // RFC 8878, 5: the magic number, then the identifier of the dictionary.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dict");
        fs::write(&path, b"\x37\xa4\x30\xec\x39\x30\0\0 tables").unwrap();
        assert_eq!(examine(&path).unwrap().id, Some(12345));
    }

    #[test]
    fn a_file_that_is_not_a_dictionary_is_rejected_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        fs::write(&empty, "").unwrap();
        let large = folder.path().join("large");
        fs::File::create(&large).unwrap().set_len(DICTIONARY_BYTES_MAX + 1).unwrap();
        for (path, reason) in [
            (empty, "empty: no dictionary: it is empty or larger than 64 MiB, or its name is not UTF-8"),
            (large, "large: no dictionary: it is empty or larger than 64 MiB, or its name is not UTF-8"),
            (folder.path().join("none"), "none: no such file"),
            (folder.path().to_owned(), ": a folder, not a file"),
        ] {
            let said = examine(&path).unwrap_err().to_string();
            assert!(said.ends_with(reason), "{said}");
        }
    }
}
