//! Archives: deterministic files in one, the same each time by one version of the compressor; and
//! what comes out of anybody's.
//!
//! Decoding is the plainest there is, one entry or member after the other, with the common crates;
//! the archive's own checksums vouch for what comes out. It shares no code with any contender.

use super::recipe::Recipe;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use readlab_protocol::Archive;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, Write};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

/// Bytes that are handed over at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Writes an archive with the content of a recipe as its only entry or member; no time and no owner
/// is in it. Sizes beyond 4 GiB take zip64.
pub(super) fn write(recipe: &Recipe, archive: Archive, out: impl Write + Seek) -> io::Result<()> {
    match archive {
        Archive::Zip => {
            let mut zip = zip::ZipWriter::new(out);
            let large = recipe.size_bytes > u64::from(u32::MAX / 2);
            let options = SimpleFileOptions::DEFAULT.large_file(large).unix_permissions(0o644);
            zip.start_file(recipe.file_name(), options)?;
            content(recipe, &mut zip)?;
            zip.finish()?.flush()
        }
        Archive::Gzip => {
            let mut gzip: GzEncoder<_> = GzBuilder::new().mtime(0).write(out, Compression::default());
            content(recipe, &mut gzip)?;
            gzip.finish()?.flush()
        }
    }
}

fn content(recipe: &Recipe, out: &mut impl Write) -> io::Result<()> {
    let (mut pieces, mut piece) = (recipe.pieces(), Vec::new());
    while pieces.next_into(&mut piece) {
        out.write_all(&piece)?;
    }
    Ok(())
}

/// Hands over all that comes out of an archive, piece by piece: of a zip the entries that are no
/// folders in the order of its directory, of a gzip its members.
///
/// # Errors
/// If the file cannot be read, is no such archive, is cut short, has no entry or an encrypted one,
/// has bytes behind its last member, or what comes out has not the checksum that it says. Or the
/// error of `take`.
pub(super) fn decode(
    path: &Path,
    archive: Archive,
    take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let file = BufReader::new(File::open(path)?);
    match archive {
        Archive::Zip => unzip(file, take),
        Archive::Gzip => gunzip(file, take),
    }
}

fn unzip(file: impl Read + Seek, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let said = |error: ZipError| match error {
        ZipError::Io(cause) => cause,
        error => unsound(error.to_string()),
    };
    let mut zip = ZipArchive::new(file).map_err(said)?;
    let mut entries = 0;
    for index in 0..zip.len() {
        let raw = zip.by_index_raw(index).map_err(said)?;
        let name = String::from_utf8_lossy(raw.name_raw()).into_owned();
        if raw.is_dir() {
            continue;
        }
        if raw.encrypted() {
            return Err(unsound(format!("entry {name:?} is encrypted")));
        }
        drop(raw);
        entries += 1;
        let of_entry = |cause: io::Error| unsound(format!("entry {name:?}: {cause}"));
        let mut entry = zip.by_index(index).map_err(said).map_err(of_entry)?;
        drain(&mut entry, &mut take).map_err(of_entry)?;
    }
    if entries == 0 { Err(unsound("it has no entries")) } else { Ok(()) }
}

fn gunzip(mut file: impl BufRead + Seek, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    loop {
        let at = file.stream_position()?;
        let mut member = GzDecoder::new(&mut file);
        let drained = drain(&mut member, &mut take);
        let is_gzip = member.header().is_some();
        drained.map_err(|cause| match cause.kind() {
            _ if !is_gzip && at > 0 => {
                unsound(format!("what stands behind its last member, from byte {at} on, is no gzip"))
            }
            ErrorKind::UnexpectedEof => unsound("it ends too early"),
            _ => cause,
        })?;
        if file.fill_buf()?.is_empty() {
            return Ok(());
        }
    }
}

fn drain(source: &mut impl Read, take: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(got) => take(&chunk[..got])?,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

fn unsound(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::recipe::CorpusKind;
    use std::io::Cursor;

    const RECIPE: Recipe = Recipe { kind: CorpusKind::Gdelt, size_bytes: 300_000, seed: 1 };

    fn archived(archive: Archive) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        write(&RECIPE, archive, &mut out).unwrap();
        out.into_inner()
    }

    fn decoded(archive: Archive, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut content = Vec::new();
        let done = decode(file.path(), archive, |piece| {
            content.extend_from_slice(piece);
            Ok(())
        });
        done.map(|()| content).map_err(|error| error.to_string())
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_holds_the_recipe() {
        let (mut expected, mut pieces) = (Vec::new(), RECIPE.pieces());
        pieces.next_into(&mut expected);
        for archive in Archive::ALL {
            let bytes = archived(archive);
            assert_eq!(bytes, archived(archive));
            assert_eq!(Archive::by_magic(&bytes), Some(archive));
            assert!(bytes.len() < 200_000, "it is compressed");
            assert_eq!(decoded(archive, &bytes).unwrap(), expected);
        }
    }

    #[test]
    fn entries_and_members_come_out_one_behind_the_other() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_directory("folder", SimpleFileOptions::DEFAULT).unwrap();
        for (name, content) in [("folder/b", &b"one\ntw"[..]), ("a", b"o\n")] {
            zip.start_file(name, SimpleFileOptions::DEFAULT).unwrap();
            zip.write_all(content).unwrap();
        }
        let zip = zip.finish().unwrap().into_inner();
        assert_eq!(decoded(Archive::Zip, &zip).unwrap(), b"one\ntwo\n");
        let member = archived(Archive::Gzip);
        let both = decoded(Archive::Gzip, &[&member[..], &member[..]].concat()).unwrap();
        assert_eq!(both.len() as u64, 2 * RECIPE.size_bytes);
    }

    #[test]
    fn what_is_broken_is_told_in_one_line() {
        let [zip, gzip] = Archive::ALL.map(archived);
        let mut crc = gzip.clone();
        crc[gzip.len() - 8] ^= 1;
        let garbage = [&gzip[..], b"garbage"].concat();
        let none = zip::ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap().into_inner();
        let directory = zip.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
        let [mut encrypted, mut sum] = [zip.clone(), zip.clone()];
        encrypted[directory + 8] ^= 1;
        sum[directory + 16] ^= 1;
        for (archive, bytes, reason) in [
            (Archive::Zip, &zip[..zip.len() / 2], "nvalid Zip archive"),
            (Archive::Zip, &none, "it has no entries"),
            (Archive::Zip, &encrypted, "entry \"gdelt-300000-seed1.tsv\" is encrypted"),
            (Archive::Zip, &sum, "entry \"gdelt-300000-seed1.tsv\": Invalid checksum"),
            (Archive::Gzip, &gzip[..gzip.len() / 2], "it ends too early"),
            (Archive::Gzip, &gzip[..gzip.len() - 1], "it ends too early"),
            (Archive::Gzip, &crc, "does not have a matching checksum"),
            (Archive::Gzip, &garbage, "behind its last member, from byte "),
        ] {
            let said = decoded(archive, bytes).unwrap_err();
            assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
        }
    }
}
