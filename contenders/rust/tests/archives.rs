//! Tests that every method that decodes × scan × work × form of archive gives the answer of the
//! simplest code for the content, and that every broken archive is an error with its reason, with
//! every method.

use crate::forms::{bgzf, gzip, stream, zip};
use crate::naive;
use readlab_protocol::Archive;
use readlab_rust::method::{Method, registry};
use readlab_rust::{Answer, Reading, Work};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

fn decoders(archive: Archive) -> impl Iterator<Item = &'static Method> {
    registry::ALL.iter().filter(move |method| method.decodes.contains(&archive))
}

/// Contents with a difficulty in each.
fn contents() -> Vec<Vec<u8>> {
    let text = |lines: usize| (0..lines).flat_map(|n| format!("line {n} of some\n").into_bytes()).collect();
    let random = (0..300_001_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    vec![vec![], vec![b'x'], b"no\nend".to_vec(), text(1), text(40_000), vec![b'\n'; 1_100_000], random]
}

/// The same content in every form of an archive.
fn forms(content: &[u8]) -> Vec<(Archive, &'static str, Vec<u8>)> {
    let (plain, third) = (SimpleFileOptions::DEFAULT, content.len() / 3);
    let parts = [&content[..third], &content[third..third], &content[third..]];
    let stored = plain.compression_method(CompressionMethod::Stored);
    let mut forms = vec![
        (Archive::Zip, "deflated", zip(&[content], plain)),
        (Archive::Zip, "stored", zip(&[content], stored)),
        (Archive::Zip, "zip64", zip(&[content], plain.large_file(true))),
        (Archive::Zip, "three entries", zip(&parts, plain)),
        (Archive::Gzip, "one member", gzip(content)),
        (Archive::Gzip, "three members", parts.iter().flat_map(|part| gzip(part)).collect()),
        (Archive::Gzip, "padded with a zero", [&gzip(content)[..], &[0]].concat()),
        (Archive::Gzip, "padded with zeros", [&gzip(content)[..], &[0; 70_000]].concat()),
        (Archive::Gzip, "blocks", bgzf(content, 65_000)),
        (Archive::Gzip, "padded blocks", [&bgzf(content, 65_000)[..], &[0; 512]].concat()),
        (Archive::Gzip, "small blocks", bgzf(content, 3_000)),
        (Archive::Gzip, "blocks and a member", [bgzf(content, 65_000), gzip(b"")].concat()),
        (Archive::Brotli, "one stream", stream(Archive::Brotli, content)),
    ];
    for archive in FRAMED {
        forms.push((archive, "one frame", stream(archive, content)));
        forms.push((archive, "three frames", parts.iter().flat_map(|part| stream(archive, part)).collect()));
    }
    let skippable = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";
    for archive in [Archive::Zstd, Archive::Lz4] {
        let frame = stream(archive, content);
        forms.push((archive, "skippable frames", [&skippable[..], &frame, skippable].concat()));
    }
    // RFC 8878, 3.1.1.1: an empty frame with a window of 256 MiB.
    let large_window = b"\x28\xb5\x2f\xfd\0\x90\x01\0\0";
    forms.push((
        Archive::Zstd,
        "a large window",
        [&large_window[..], &stream(Archive::Zstd, content)].concat(),
    ));
    forms.push((Archive::Xz, "padded", [&stream(Archive::Xz, content)[..], &[0; 8]].concat()));
    for padding in [&[0; 512][..], b"garbage"] {
        forms.push((Archive::Bzip2, "padded", [&stream(Archive::Bzip2, content)[..], padding].concat()));
    }
    forms
}

/// The formats whose files may have several frames or streams.
const FRAMED: [Archive; 5] = [Archive::Zstd, Archive::Lz4, Archive::Xz, Archive::Bzip2, Archive::Snappy];

fn read(
    method: &Method,
    scan: &str,
    work: Work,
    path: &Path,
    given: &[(&str, u64)],
) -> Result<Answer, String> {
    let mut reading = Reading::new(method.name, scan, work, path, given.iter().copied()).unwrap();
    let answers = reading.prepare().and_then(|()| Ok([reading.read()?, reading.read()?]));
    reading.release();
    let [first, second] = answers.map_err(|error| error.to_string())?;
    assert_eq!(first, second, "{} of {}", method.name, path.display());
    Ok(first)
}

#[test]
fn the_content_of_every_form_is_decoded_correctly() {
    thread::scope(|side_by_side| {
        for content in contents() {
            side_by_side.spawn(move || check_every_form(&content));
        }
    });
}

fn check_every_form(content: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let truths = Work::OF_BYTES
        .map(|work| (work, naive::answer(work, content.len() as u64, naive::value(content, work))));
    let right = |asked: Work| truths.iter().find(|(work, _)| *work == asked).unwrap().1;
    for (archive, form, bytes) in forms(content) {
        // A brotli is recognised only by its name.
        let name = if archive == Archive::Brotli { "named.br" } else { "no ending" };
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        for method in decoders(archive) {
            let awkward: &[(&str, u64)] =
                if method.params.is_empty() { &[] } else { &[("buffer_bytes", 61)] };
            for work in Work::OF_BYTES {
                let asked = if method.name == "decoder" { Work::Discard } else { work };
                // Of large contents one scan of each method: `src/scan` tests them all at all lengths.
                let (scans, settings) = if content.len() < 100_000 { (usize::MAX, 2) } else { (1, 1) };
                for scan in method.scans(work).into_iter().take(scans) {
                    let what = format!("{}/{scan} {work} of {} bytes {form}", method.name, content.len());
                    for given in [&[][..], awkward].into_iter().take(settings) {
                        let answer = read(method, scan, work, &path, given);
                        assert_eq!(answer, Ok(right(asked)), "{what} {given:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_zstd_is_decoded_with_its_dictionary_and_not_without() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("with a dictionary");
    let content: Vec<u8> = contents().swap_remove(4);
    let dictionary = b"a dictionary of any bytes: line 12345 of some\nline 23456 of some\n";
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 19, dictionary).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&content).unwrap();
    let frame = encoder.finish().unwrap();
    fs::write(&path, frame.repeat(3)).unwrap();
    for method in decoders(Archive::Zstd) {
        let answer = |dictionary: Option<&[u8]>| {
            let reading = Reading::new(method.name, method.scans(Work::Discard)[0], Work::Discard, &path, []);
            let mut reading = reading.unwrap().dictionary(dictionary.map(<[u8]>::to_vec));
            reading.prepare().and_then(|()| Ok([reading.read()?, reading.read()?]))
        };
        let three = Answer { bytes: Some(3 * content.len() as u64), ..Answer::default() };
        assert_eq!(answer(Some(dictionary)).unwrap(), [three; 2], "{}", method.name);
        let said = answer(None).unwrap_err().to_string();
        assert!(said.starts_with(&format!("{}: ", path.display())), "{}: {said}", method.name);
        answer(Some(b"another dictionary, as long as the right one is, of other bytes")).unwrap_err();
    }
}

/// The archive with one byte changed, at an offset after this mark.
fn with_changed_byte(bytes: &[u8], mark: &[u8], offset: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let mut found = false;
    for at in 0..bytes.len() - mark.len() {
        if bytes[at..].starts_with(mark) {
            changed[at + offset] ^= 1;
            found = true;
        }
    }
    assert!(found);
    changed
}

/// Checks that every decoder reports why this archive is invalid, and names the file.
fn assert_failure(folder: &Path, archive: Archive, name: &str, bytes: &[u8], reasons: &[&str]) {
    let path: PathBuf = folder.join(name);
    fs::write(&path, bytes).unwrap();
    for method in decoders(archive) {
        let said = read(method, method.scans(Work::Discard)[0], Work::Discard, &path, &[]).unwrap_err();
        if method.name == "decoder" && Archive::by_magic(bytes).or_else(|| Archive::by_name(&path)).is_none()
        {
            assert!(said.contains("the file is no archive"), "{said}");
            continue;
        }
        assert!(said.starts_with(&format!("{}: ", path.display())), "{}: {said}", method.name);
        assert!(reasons.iter().any(|reason| said.contains(reason)), "{} of {name}: {said}", method.name);
        assert!(!said.contains(char::is_control), "{said}");
    }
}

#[test]
fn a_broken_zip_is_an_error_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = contents().swap_remove(4);
    let good = zip(&[&content[..9], &content], SimpleFileOptions::DEFAULT);
    let stored = zip(&[&content], SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored));
    let assert_fails = |name: &str, bytes: &[u8], reason: &[&str]| {
        assert_failure(folder.path(), Archive::Zip, name, bytes, reason);
    };
    assert_fails("garbage.zip", b"not a zip at all", &["invalid Zip archive"]);
    assert_fails("nothing.zip", b"", &["invalid Zip archive"]);
    assert_fails("half.zip", &good[..good.len() / 2], &["invalid Zip archive", "end-of-central-directory"]);
    assert_fails("none.zip", &zip(&[], SimpleFileOptions::DEFAULT), &["the zip has no entries"]);
    let encrypted = with_changed_byte(&with_changed_byte(&good, b"PK\x03\x04", 6), b"PK\x01\x02", 8);
    assert_fails("encrypted.zip", &encrypted, &["entry \"a folder/entry 0\" is encrypted"]);
    assert_fails(
        "crc.zip",
        &with_changed_byte(&good, b"PK\x01\x02", 16),
        &["entry \"a folder/entry 0\": invalid checksum"],
    );
    let crc_of_stored = with_changed_byte(&stored, b"PK\x01\x02", 16);
    assert_fails("crc-of-stored.zip", &crc_of_stored, &["entry \"a folder/entry 0\": invalid checksum"]);
    let mut corrupt = good.clone();
    corrupt[good.len() / 2..][..64].fill(0);
    assert_fails("corrupt.zip", &corrupt, &["entry \"a folder/entry 1\": "]);
}

#[test]
fn a_broken_gzip_is_an_error_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = contents().swap_remove(4);
    let good = gzip(&content);
    let assert_fails = |name: &str, bytes: &[u8], reason: &[&str]| {
        assert_failure(folder.path(), Archive::Gzip, name, bytes, reason);
    };
    let whole = "the gzip is corrupt, ends too early, or has not the checksum that it says";
    assert_fails("garbage.gz", b"not a gzip at all", &["invalid gzip header", whole]);
    assert_fails("nothing.gz", b"", &["ends too early"]);
    assert_fails("half.gz", &good[..good.len() / 2], &["the gzip ends too early", whole]);
    assert_fails("no trailer.gz", &good[..good.len() - 4], &["the gzip ends too early", whole]);
    let mut crc = good.clone();
    crc[good.len() - 8] ^= 1;
    assert_fails("crc.gz", &crc, &["does not have a matching checksum", whole]);
    for behind in [&b"x"[..], b"\0\0\0\0x", &[b'y'; 100_000], b"\x1f\x8b"] {
        let reason = format!("behind the last gzip member, from byte {} on, is no gzip", good.len());
        assert_fails("garbage behind.gz", &[&good[..], behind].concat(), &[&reason]);
    }
    let blocks = bgzf(&content, 65_000);
    assert_fails("half a block.gz", &blocks[..blocks.len() / 2], &["the gzip ends too early", whole]);
    let mut corrupt = blocks.clone();
    corrupt[blocks.len() / 2] ^= 1;
    assert_fails(
        "a block.gz",
        &corrupt,
        &["corrupt deflate stream", "does not have a matching checksum", "deflate", whole],
    );
    let behind = format!("behind the last gzip member, from byte {} on, is no gzip", blocks.len());
    assert_fails("garbage behind blocks.gz", &[&blocks[..], b"garbage"].concat(), &[&behind]);
    let second_is_corrupt = [&good[..], &crc[..]].concat();
    assert_fails("second.gz", &second_is_corrupt, &["does not have a matching checksum", whole]);
}

#[test]
fn a_broken_stream_is_an_error_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = contents().swap_remove(4);
    for (archive, garbage, corrupt) in [
        (Archive::Zstd, "Unknown frame descriptor", "corruption"),
        (Archive::Lz4, "what follows the last lz4 frame is no lz4", "LZ4 error: ERROR_"),
        (Archive::Xz, "lzma data error", "lzma data error"),
        (Archive::Bzip2, "", "bzip2: "),
        (Archive::Snappy, "snappy: corrupt input (unsupported chunk ", "snappy: "),
        (Archive::Brotli, "bytes follow the end of the brotli", "the brotli is corrupt or ends too early"),
    ] {
        let good = stream(archive, &content);
        let assert_fails = |name: &str, bytes: &[u8], reasons: &[&str]| {
            assert_failure(folder.path(), archive, &format!("{name}.{}", archive.suffix()), bytes, reasons);
        };
        let early = "ends too early";
        assert_fails("half", &good[..good.len() / 2], &[early]);
        assert_fails("no end", &good[..good.len() - 1], &[early]);
        // After a bzip2, other bytes are padding.
        if archive != Archive::Bzip2 {
            for behind in [&b"garbage that is longer than any head"[..], &[b'y'; 100_000]] {
                assert_fails("garbage behind", &[&good[..], behind].concat(), &[garbage]);
            }
            assert_fails("a byte behind", &[&good[..], b"x"].concat(), &[early, garbage]);
        }
        // Brotli has no checksum, so not every change can be detected.
        if archive != Archive::Brotli {
            let mut changed = good.clone();
            changed[good.len() / 2..][..64].fill(0);
            assert_fails("changed", &changed, &[corrupt, "checksum", "hecksum"]);
            if archive != Archive::Snappy {
                assert_fails(
                    "second changed",
                    &[&good[..], &changed].concat(),
                    &[corrupt, "checksum", "hecksum"],
                );
            }
        }
    }
}

#[test]
fn a_zip_that_claims_more_than_it_can_contain_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut bomb = zip(&[b"little"], SimpleFileOptions::DEFAULT);
    let entry = bomb.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    bomb[entry + 24..entry + 28].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let path = folder.path().join("bomb");
    fs::write(&path, bomb).unwrap();
    let method = registry::find("zip-libdeflate").unwrap();
    let said = read(method, "-", Work::Discard, &path, &[]).unwrap_err();
    assert!(said.contains("so few bytes cannot hold what the zip says"), "{said}");
}

#[test]
fn a_missing_archive_is_named_in_the_error() {
    for archive in Archive::ALL {
        for method in decoders(archive) {
            let scan = method.scans(Work::Newlines)[0];
            let said = read(method, scan, Work::Newlines, Path::new("/nonexistent/file"), &[]).unwrap_err();
            assert!(said.starts_with("/nonexistent/file: No such file"), "{}: {said}", method.name);
        }
    }
}
