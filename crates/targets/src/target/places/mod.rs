//! Places of one file: the blocks that one reading reads, in the order that a pattern defines. The
//! ranges of a list are in `ranges`.
//!
//! The places are picked once before measuring and written to a list in a folder of readlab's own.
//! Contenders read this list, so every trial reads the same places. `pattern` picks them. The cache
//! state is the state of the whole file. No places are picked of a target on a server; it can have
//! ranges.

mod pattern;
mod ranges;

use super::copies::check_space;
use super::source::ReadRequest;
use super::{Place, Target, TargetError};
pub use ranges::RangesRequest;
use readlab_model::target::TargetKind;
use readlab_model::target::places::{Pattern, PlacesFacts};
use readlab_model::units::Bytes;
use readlab_protocol::places::RANGES_VARIABLE;
use readlab_protocol::{BlockBytes, Places};
use readlab_system::folder::scratch::ScratchFolder;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacesRequest {
    pub pattern: Pattern,
    pub block_bytes: u64,
    /// Number of blocks that one reading reads.
    pub read_count: u64,
    /// Seed of the pattern's random numbers.
    pub seed: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct FilePlaces {
    pub places: Places,
    scratch: ScratchFolder,
}

impl Target {
    /// Restricts the target to blocks that the pattern picks. A target on a server stays unchanged.
    pub fn pick_places(&mut self, request: &PlacesRequest) -> Result<(), TargetError> {
        let Place::File(file) = &self.place else { return Ok(()) };
        let &PlacesRequest { pattern, block_bytes, read_count: reads, .. } = request;
        let file_bytes = self.facts.size_bytes;
        let blocks = file_bytes / block_bytes.max(1);
        if blocks == 0 {
            let (size, block) = (Bytes(file_bytes).binary_text(), Bytes(block_bytes).exact_text());
            return Err(TargetError::about(file, format!("{size} has no block of {block}")));
        }
        let offsets: Vec<u64> = pattern::pick_blocks(pattern, blocks, reads, request.seed)
            .into_iter()
            .map(|block| block * block_bytes)
            .collect();
        let distinct = offsets.iter().collect::<HashSet<_>>().len() as u64;
        let same = BlockBytes::Same(block_bytes);
        let places = FilePlaces::write(Places { file: file.clone(), block_bytes: same, offsets })?;
        self.facts.size_bytes = reads * block_bytes;
        self.facts.kind = TargetKind::Places(PlacesFacts {
            pattern,
            block_bytes,
            read_count: reads,
            distinct_blocks: distinct,
            file_bytes,
        });
        self.place = Place::Blocks(Arc::new(places));
        Ok(())
    }
}

impl FilePlaces {
    /// Writes the list of the places into a folder of readlab's own.
    fn write(places: Places) -> Result<FilePlaces, TargetError> {
        let temporary = std::env::temp_dir();
        let scratch = ScratchFolder::make(&temporary, "places").map_err(TargetError::io(&temporary))?;
        let made = FilePlaces { places, scratch };
        let list = made.list_path();
        fs::write(&list, made.places.to_bytes()).map_err(TargetError::io(&list))?;
        Ok(made)
    }

    pub fn file(&self) -> &Path {
        &self.places.file
    }

    fn list_path(&self) -> PathBuf {
        self.scratch.path().join("places")
    }

    pub(super) fn request(&self) -> ReadRequest {
        ReadRequest { word: self.list_path().into_os_string(), ..ReadRequest::default() }
    }

    /// The environment variable that passes the list to contenders that read from a server.
    pub(super) fn environment_variable(&self) -> (OsString, OsString) {
        (RANGES_VARIABLE.into(), self.list_path().into_os_string())
    }

    /// Copies the blocks from the whole content of a server to the same offsets of a sparse file
    /// beside the list, and returns them as blocks of this file.
    pub fn copy_from(&self, mut content: impl Read) -> Result<Places, TargetError> {
        let folder = self.scratch.path();
        check_space(folder, self.places.useful_bytes())?;
        let file = folder.join("content");
        let mut copy = File::create(&file).map_err(TargetError::io(&file))?;
        let copied = copy_ranges(&self.places.covered_ranges(), &mut content, &mut copy);
        copied.map_err(TargetError::io(&self.places.file))?;
        Ok(Places { file, ..self.places.clone() })
    }
}

/// Copies ranges of the content to the same offsets of a file. The ranges must be sorted and must
/// not overlap.
fn copy_ranges(ranges: &[Range<u64>], content: &mut impl Read, copy: &mut File) -> io::Result<()> {
    let mut position = 0;
    for range in ranges {
        copy_exactly(content, range.start - position, &mut io::sink())?;
        copy.seek(SeekFrom::Start(range.start))?;
        copy_exactly(content, range.end - range.start, copy)?;
        position = range.end;
    }
    Ok(())
}

fn copy_exactly(from: &mut impl Read, bytes: u64, to: &mut impl Write) -> io::Result<()> {
    let copied = io::copy(&mut from.by_ref().take(bytes), to)?;
    if copied == bytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

impl PlacesRequest {
    /// The request that picks the places of a record again.
    pub fn from_facts(facts: &PlacesFacts, seed: u64) -> PlacesRequest {
        let PlacesFacts { pattern, block_bytes, read_count: reads, .. } = *facts;
        PlacesRequest { pattern, block_bytes, read_count: reads, seed }
    }
}
