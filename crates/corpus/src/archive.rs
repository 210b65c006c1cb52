//! Archives: packs deterministic files into archives, and decodes any archive.
//!
//! One version of the compressor always writes the same bytes. Decoding is as simple as possible,
//! entry by entry or member by member, with widely used crates; the checksums of the archive prove
//! the content. No code is shared with contenders. `compressed` has the formats that consist of one
//! stream.

use super::compressed;
use super::pieces::Pieces;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use readlab_model::corpus::Recipe;
use readlab_protocol::Archive;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, Write};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

#[derive(Debug, Clone, Copy)]
pub struct PackedFile<'a> {
    pub path: &'a Path,
    pub archive: Archive,
    /// The bytes of the dictionary of a zstd file; empty if there is none.
    pub dictionary: &'a [u8],
}

/// A function that receives the content, piece by piece. If it returns an error, decoding ends.
pub type PieceConsumer<'t> = &'t mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Largest piece that `decode` passes on at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Writes an archive whose only entry or member has the content of a recipe, without time and
/// owner. Sizes beyond 4 GiB need zip64.
pub(super) fn write(recipe: &Recipe, archive: Archive, out: impl Write + Seek) -> io::Result<()> {
    let entry = Entry { name: &recipe.file_name(), size_bytes: recipe.size_bytes };
    pack(&entry, archive, out, |out| {
        let (mut pieces, mut piece) = (Pieces::new(*recipe), Vec::new());
        while pieces.next_into(&mut piece) {
            out.write_all(&piece)?;
        }
        Ok(())
    })
}

/// Packs bytes into an archive as its only entry or member.
pub fn pack_content(name: &str, content: &[u8], archive: Archive) -> io::Result<Vec<u8>> {
    let mut out = io::Cursor::new(Vec::new());
    let entry = Entry { name, size_bytes: content.len() as u64 };
    pack(&entry, archive, &mut out, |out| out.write_all(content))?;
    Ok(out.into_inner())
}

/// What the directory of a zip file states about an entry.
struct Entry<'a> {
    name: &'a str,
    size_bytes: u64,
}

fn pack(
    entry: &Entry,
    archive: Archive,
    out: impl Write + Seek,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match archive {
        Archive::Zip => {
            let mut zip = zip::ZipWriter::new(out);
            let large = entry.size_bytes > u64::from(u32::MAX / 2);
            let options = SimpleFileOptions::DEFAULT.large_file(large).unix_permissions(0o644);
            zip.start_file(entry.name, options)?;
            fill(&mut zip)?;
            zip.finish()?.flush()
        }
        Archive::Gzip => {
            let mut gzip: GzEncoder<_> = GzBuilder::new().mtime(0).write(out, Compression::default());
            fill(&mut gzip)?;
            gzip.finish()?.flush()
        }
        stream => compressed::write(stream, out, fill),
    }
}

/// Calls `take` with the content of an archive, piece by piece: the entries of a zip file without
/// folders, in the order of its directory; the members, frames or streams of other archives.
///
/// It is an error if the file cannot be read, is not an archive of this kind, is cut off, has no
/// entry or an encrypted entry, has bytes after its last member, or has content that does not match
/// the checksum of the archive. Errors of `take` are returned too.
pub(super) fn decode(packed: &PackedFile, take: PieceConsumer) -> io::Result<()> {
    let file = BufReader::new(File::open(packed.path)?);
    decode_from(file, packed.archive, packed.dictionary, take)
}

pub(super) fn decode_from(
    file: impl BufRead + Seek,
    archive: Archive,
    dictionary: &[u8],
    take: PieceConsumer,
) -> io::Result<()> {
    match archive {
        Archive::Zip => unzip(file, take),
        Archive::Gzip => gunzip(file, take),
        Archive::Zstd => compressed::decode_zstd(file, dictionary, take),
        Archive::Lz4 => compressed::decode_lz4(file, take),
        Archive::Xz => compressed::decode_xz(file, take),
        Archive::Bzip2 => compressed::decode_bzip2(file, take),
        Archive::Snappy => compressed::decode_snappy(file, take),
        Archive::Brotli => compressed::decode_brotli(file, take),
    }
}

fn unzip(file: impl Read + Seek, take: PieceConsumer) -> io::Result<()> {
    let mut zip = ZipArchive::new(file).map_err(zip_error)?;
    let mut entries = 0;
    for index in 0..zip.len() {
        let raw = zip.by_index_raw(index).map_err(zip_error)?;
        let name = String::from_utf8_lossy(raw.name_raw()).into_owned();
        if raw.is_dir() {
            continue;
        }
        if raw.encrypted() {
            return Err(invalid_archive(format!("entry {name:?} is encrypted")));
        }
        drop(raw);
        entries += 1;
        let of_entry = |cause: io::Error| invalid_archive(format!("entry {name:?}: {cause}"));
        let mut entry = zip.by_index(index).map_err(zip_error).map_err(of_entry)?;
        pass_to_end(&mut entry, take).map_err(of_entry)?;
    }
    if entries == 0 { Err(invalid_archive("it has no entries")) } else { Ok(()) }
}

fn zip_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(cause) => cause,
        error => invalid_archive(error.to_string()),
    }
}

fn gunzip(mut file: impl BufRead + Seek, take: PieceConsumer) -> io::Result<()> {
    let is_no_gzip =
        |at: u64| invalid_archive(format!("what follows its last member, from byte {at} on, is no gzip"));
    loop {
        let at = file.stream_position()?;
        let mut member = GzDecoder::new(&mut file);
        let drained = pass_to_end(&mut member, take);
        let is_gzip = member.header().is_some();
        drained.map_err(|cause| match cause.kind() {
            _ if !is_gzip && at > 0 => is_no_gzip(at),
            ErrorKind::UnexpectedEof => invalid_archive("it ends too early"),
            _ => cause,
        })?;
        let end = file.stream_position()?;
        let is_padded = skip_zeros(&mut file)? > 0;
        match file.fill_buf()?.is_empty() {
            true => return Ok(()),
            false if is_padded => return Err(is_no_gzip(end)),
            false => {}
        }
    }
}

/// Skips zeros and returns their number. `gzip` ignores trailing zeros, because tapes and devices
/// pad files with zeros.
fn skip_zeros(file: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let held = file.fill_buf()?;
        let zeros = held.iter().take_while(|byte| **byte == 0).count();
        if zeros == 0 {
            return Ok(skipped);
        }
        file.consume(zeros);
        skipped += zeros as u64;
    }
}

/// Passes all content of a decoder to `take`.
pub(super) fn pass_to_end(source: &mut impl Read, take: PieceConsumer) -> io::Result<()> {
    read_pieces(source, CHUNK_BYTES, take)
}

/// Reads a source to its end, and passes pieces of at most this many bytes to `take`.
pub fn read_pieces(source: &mut impl Read, bytes_max: usize, take: PieceConsumer) -> io::Result<()> {
    let mut piece = vec![0; bytes_max];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(got) => take(&piece[..got])?,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

pub(super) fn invalid_archive(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason.into())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use readlab_model::corpus::CorpusKind;
    use std::io::Cursor;

    const RECIPE: Recipe = Recipe { kind: CorpusKind::Gdelt, size_bytes: 300_000, seed: 1 };

    fn archived(archive: Archive) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        write(&RECIPE, archive, &mut out).unwrap();
        out.into_inner()
    }

    fn decoded(archive: Archive, bytes: &[u8]) -> Result<Vec<u8>, String> {
        decoded_with(&[], archive, bytes)
    }

    /// The content of an archive, or the error of decoding it with this dictionary.
    pub(crate) fn decoded_with(dictionary: &[u8], archive: Archive, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        let done = decode_from(Cursor::new(bytes), archive, dictionary, &mut |piece| {
            content.extend_from_slice(piece);
            Ok(())
        });
        done.map(|()| content).map_err(|error| error.to_string())
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_holds_the_recipe() {
        let (mut expected, mut pieces) = (Vec::new(), Pieces::new(RECIPE));
        pieces.next_into(&mut expected);
        for archive in Archive::ALL {
            let bytes = archived(archive);
            assert_eq!(bytes, archived(archive));
            let known = Archive::by_magic(&bytes);
            assert_eq!(known, Some(archive).filter(|it| *it != Archive::Brotli));
            assert!(bytes.len() < 200_000, "it is compressed");
            assert_eq!(decoded(archive, &bytes).unwrap(), expected);
        }
    }

    #[test]
    fn an_archive_in_a_file_has_the_content_of_the_same_archive_in_memory() {
        for archive in [Archive::Zip, Archive::Gzip] {
            let bytes = archived(archive);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            let packed = PackedFile { path: file.path(), archive, dictionary: &[] };
            let mut content = Vec::new();
            let take: PieceConsumer = &mut |piece| {
                content.extend_from_slice(piece);
                Ok(())
            };
            decode(&packed, take).unwrap();
            assert_eq!(content, decoded(archive, &bytes).unwrap(), "{archive}");
        }
    }

    #[test]
    fn entries_and_members_are_decoded_one_after_the_other() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_directory("folder", SimpleFileOptions::DEFAULT).unwrap();
        for (name, content) in [("folder/b", &b"one\ntw"[..]), ("a", b"o\n")] {
            zip.start_file(name, SimpleFileOptions::DEFAULT).unwrap();
            zip.write_all(content).unwrap();
        }
        let zip = zip.finish().unwrap().into_inner();
        assert_eq!(decoded(Archive::Zip, &zip).unwrap(), b"one\ntwo\n");
        for archive in Archive::ALL {
            if [Archive::Zip, Archive::Brotli].contains(&archive) {
                continue;
            }
            let member = archived(archive);
            let both = decoded(archive, &[&member[..], &member[..]].concat()).unwrap();
            assert_eq!(both.len() as u64, 2 * RECIPE.size_bytes, "{archive}");
        }
    }

    #[test]
    fn zeros_after_the_last_member_of_a_gzip_are_padding() {
        let gzip = archived(Archive::Gzip);
        for zeros in [1, 512, 200_000] {
            let padded = [&gzip[..], &vec![0; zeros]].concat();
            let content = decoded(Archive::Gzip, &padded).unwrap();
            assert_eq!(content.len() as u64, RECIPE.size_bytes, "{zeros} zeros");
        }
    }

    #[test]
    fn a_broken_archive_has_an_error_of_one_line() {
        let [zip, gzip] = [Archive::Zip, Archive::Gzip].map(archived);
        let mut crc = gzip.clone();
        crc[gzip.len() - 8] ^= 1;
        let garbage = [&gzip[..], b"garbage"].concat();
        let padded_garbage = [&gzip[..], &[0; 700], b"garbage"].concat();
        let none = zip::ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap().into_inner();
        let directory = zip.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
        let [mut encrypted, mut sum, mut corrupt] = [zip.clone(), zip.clone(), zip.clone()];
        encrypted[directory + 8] ^= 1;
        sum[directory + 16] ^= 1;
        corrupt[600] ^= 1;
        for (archive, bytes, reason) in [
            (Archive::Zip, &zip[..zip.len() / 2], "nvalid Zip archive"),
            (Archive::Zip, &none, "it has no entries"),
            (Archive::Zip, &encrypted, "entry \"gdelt-300000-seed1.tsv\" is encrypted"),
            (Archive::Zip, &corrupt, "entry \"gdelt-300000-seed1.tsv\": "),
            (Archive::Zip, &sum, "entry \"gdelt-300000-seed1.tsv\": Invalid checksum"),
            (Archive::Gzip, &gzip[..gzip.len() / 2], "it ends too early"),
            (Archive::Gzip, &gzip[..gzip.len() - 1], "it ends too early"),
            (Archive::Gzip, &gzip[..3], "it ends too early"),
            (Archive::Gzip, &crc, "does not have a matching checksum"),
            (Archive::Gzip, &garbage, "follows its last member, from byte "),
            (Archive::Gzip, &padded_garbage, "follows its last member, from byte "),
        ] {
            let said = decoded(archive, bytes).unwrap_err();
            assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
        }
    }
}
