//! The control `decoder`: decodes an archive that is already in memory, and does not look at what
//! comes out. It shows the best possible decoding with one thread.
//!
//! A zip or gzip is decoded whole by libdeflate into memory that was written once; other formats by
//! the library of their method, through one buffer that stays in the processor's cache.

use super::controls::Loaded;
use super::inflate::Decoder;
use super::stream::{BUFFER, StreamDecoder};
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::io;
use zstd::dict::DecoderDictionary;

pub(super) const DECODER: Method = Method {
    name: "decoder",
    about: "control: an archive that was brought into memory before each turn decoded there and not looked at, a zip or \
            gzip by libdeflate",
    decodes: &Archive::ALL,
    build: |_| Ok(Box::new(Prepared(None))),
    ..Method::CONTROL
};

/// The state of the control: the archive in memory, and its decoder.
struct Prepared(Option<(Loaded, InMemory)>);

/// A decoder with the memory that it decodes into.
enum InMemory {
    Whole(Archive, Decoder),
    Stream(Archive, Option<DecoderDictionary<'static>>, Buffer),
}

impl InMemory {
    fn new(archive: Archive, source: &Source) -> Result<InMemory, Fault> {
        Ok(match archive {
            Archive::Zip | Archive::Gzip => InMemory::Whole(archive, Decoder::new()?),
            other => InMemory::Stream(other, source.decoder_dictionary()?, Buffer::new(buffer_bytes())?),
        })
    }

    fn decode(&mut self, mut bytes: &[u8]) -> Result<Answer, Fault> {
        match self {
            InMemory::Whole(archive, decoder) => decoder.content(*archive, bytes, Visit::Nothing),
            InMemory::Stream(archive, dictionary, buffer) => {
                let mut consumer = Consumer::new(Visit::Nothing);
                let decoder = StreamDecoder { archive: *archive, dictionary: dictionary.as_ref() };
                decoder.decode(&mut bytes, &mut buffer[..buffer_bytes()], &mut consumer)?;
                Ok(consumer.finish())
            }
        }
    }
}

/// The size of the buffer of streams: that of their methods.
fn buffer_bytes() -> usize {
    usize::try_from(BUFFER.default).expect("a buffer fits into memory")
}

impl Reader for Prepared {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        self.release();
        let loaded = Loaded::load("decoder", source)?;
        let archive = Archive::by_magic(loaded.bytes()).or_else(|| Archive::by_name(source.path()));
        let archive =
            archive.ok_or_else(|| Fault::Unavailable("decoder: the file is no archive".to_owned()))?;
        let mut decoder = InMemory::new(archive, source)?;
        decoder.decode(loaded.bytes())?;
        self.0 = Some((loaded, decoder));
        Ok(())
    }

    fn read(&mut self, _source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let (loaded, decoder) = self.0.as_mut().ok_or_else(|| io::Error::other("decoder: not prepared"))?;
        decoder.decode(loaded.bytes())
    }

    fn release(&mut self) {
        self.0 = None;
    }
}
