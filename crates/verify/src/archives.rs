//! Archives that a method decodes: files with unusual content, archives with several members,
//! archives that are cut short or have other bytes after their end, and archives with a dictionary.

use super::check::{Check, ReadWords, WorkScan, check_exit, work_scans};
use super::files::{FileReading, cases_of, ending_of, special_name_check};
use super::settings::{self, DataAmount};
use super::stage::{AWKWARD_NAME, Case, Stage, non_utf8_name};
use readlab_corpus::archive::pack_content;
use readlab_corpus::oracle;
use readlab_protocol::{Archive, DICTIONARY_VARIABLE, MethodLine};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::sync::Arc;

const PACKED_FILE_NAME: &str = "65537-bytes";

/// For each archive format that the method decodes: checks that read every packed file with every
/// work and scan, and checks of archives that must fail.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let mut checks = Vec::new();
    for &archive in &method.decodes {
        let cases = Arc::new(archive_cases(stage, method, archive)?);
        for (at, visit) in work_scans(method).into_iter().enumerate() {
            let reading =
                FileReading { words: ReadWords::new(method, &visit), ending: ending_of(method, at) };
            checks.push(packed_reading_check(reading, archive, cases.clone()));
        }
        let Some(visit) = work_scans(method).into_iter().next() else { continue };
        for setting in settings::settings_for(method, DataAmount::Kilobytes) {
            let reading = FileReading::with_setting(&ReadWords::new(method, &visit), setting);
            checks.push(packed_reading_check(reading, archive, cases.clone()));
        }
        checks.extend(special_name_checks(stage, method, &visit, archive)?);
        checks.extend(broken_archive_checks(stage, method, &visit, archive)?);
        if method.dictionary && archive == Archive::Zstd {
            checks.push(dictionary_check(stage, method, &visit)?);
        }
    }
    Ok(checks)
}

fn packed_reading_check<'s>(reading: FileReading, archive: Archive, cases: Arc<Vec<Case>>) -> Check<'s> {
    let settings = reading.words.settings.clone();
    let check = Check::new(move |stage| {
        let all: Vec<&Case> = cases.iter().collect();
        reading.run(stage, &format!("packed.{}", archive.suffix()), &all)
    });
    check.or_settings_refused(settings)
}

/// The files of the stage that the method can visit, each packed; and, if the format allows it, two
/// members one after another.
fn archive_cases(stage: &Stage, method: &MethodLine, archive: Archive) -> io::Result<Vec<Case>> {
    let folder = stage.new_folder()?;
    let mut cases = Vec::new();
    for case in cases_of(stage, method) {
        let path = folder.join(format!("{}.{}", case.name, archive.suffix()));
        fs::write(&path, pack_content(&case.name, &fs::read(&case.path)?, archive)?)?;
        cases.push(Case::at(path, case.truth.clone()));
    }
    if !matches!(archive, Archive::Zip | Archive::Brotli) {
        let content = fs::read(&stage.file(PACKED_FILE_NAME).path)?;
        let path = folder.join(format!("two-members.{}", archive.suffix()));
        fs::write(&path, pack_content(PACKED_FILE_NAME, &content, archive)?.repeat(2))?;
        let twice = content.repeat(2);
        let truth = oracle::truth_of(|| Ok(twice.as_slice()), &|_| Ok(()))?;
        cases.push(Case::at(path, truth));
    }
    Ok(cases)
}

/// Packed files whose names contain special characters.
fn special_name_checks<'s>(
    stage: &'s Stage,
    method: &MethodLine,
    visit: &WorkScan,
    archive: Archive,
) -> io::Result<Vec<Check<'s>>> {
    let content = fs::read(&stage.awkwardly_named.path)?;
    let folder = stage.new_folder()?;
    let names = [OsString::from(AWKWARD_NAME), non_utf8_name()];
    let check = |mut name: OsString| {
        name.push(format!(".{}", archive.suffix()));
        let path = folder.join(&name);
        fs::write(&path, pack_content("content", &content, archive)?)?;
        let case = Case::at(path, stage.awkwardly_named.truth.clone());
        Ok(special_name_check(ReadWords::new(method, visit), case, name))
    };
    names.into_iter().map(check).collect()
}

/// An archive that is cut short, and an archive with other bytes after its end. A zip file is found
/// by its end, so bytes after it are not part of its content; after bzip2 they are padding.
fn broken_archive_checks<'s>(
    stage: &'s Stage,
    method: &MethodLine,
    visit: &WorkScan,
    archive: Archive,
) -> io::Result<Vec<Check<'s>>> {
    let whole = pack_content(PACKED_FILE_NAME, &fs::read(&stage.file(PACKED_FILE_NAME).path)?, archive)?;
    let folder = stage.new_folder()?;
    let mut broken = vec![("cut-short", whole[..whole.len() - 1].to_vec())];
    if !matches!(archive, Archive::Zip | Archive::Bzip2) {
        broken.push(("other-bytes-behind-the-end", [&whole, &b"other bytes\n"[..]].concat()));
    }
    let check = |(name, bytes): (&str, Vec<u8>)| {
        let name = format!("{name}.{}", archive.suffix());
        let path = folder.join(&name);
        fs::write(&path, bytes)?;
        let words = ReadWords::new(method, visit).with_target(path.as_os_str());
        Ok(Check::must_fail(words, name.clone(), name))
    };
    broken.into_iter().map(check).collect()
}

/// A zstd file that was compressed with a dictionary of arbitrary bytes.
fn dictionary_check<'s>(stage: &'s Stage, method: &MethodLine, visit: &WorkScan) -> io::Result<Check<'s>> {
    let folder = stage.new_folder()?;
    let (dictionary, path) = (folder.join("dictionary"), folder.join("with-dictionary.zst"));
    let known = fs::read(&stage.file("lines-of-many-lengths").path)?;
    fs::write(&dictionary, &known)?;
    let source = stage.file("lines-of-many-lengths");
    let mut encoder =
        zstd::stream::Encoder::with_dictionary(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL, &known)?;
    encoder.write_all(&fs::read(&source.path)?)?;
    fs::write(&path, encoder.finish()?)?;
    let case = Case::at(path, source.truth.clone());
    let mut words = ReadWords::new(method, visit);
    words.env.push((DICTIONARY_VARIABLE.into(), dictionary.into()));
    Ok(Check::reading(words, case, check_exit))
}
