//! The control `decoder`, which decodes an archive that is already in memory, and does not visit
//! the output. It shows the best possible decoding with one thread.
//!
//! A zip or gzip is decoded as a whole by libdeflate, into memory that was written once before.
//! Other formats are decoded by the library of their method, through one buffer that stays in the
//! processor's cache.

use super::controls::LoadedFile;
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
    build: |_| Ok(Box::new(DecoderControl(None))),
    ..Method::CONTROL
};

/// The state of the control: the archive in memory, and its decoder.
struct DecoderControl(Option<(LoadedFile, MemoryDecoder)>);

enum MemoryDecoder {
    Whole(Archive, Decoder),
    Stream(Archive, Option<DecoderDictionary<'static>>, Buffer),
}

impl MemoryDecoder {
    fn new(archive: Archive, source: &Source) -> Result<MemoryDecoder, Fault> {
        Ok(match archive {
            Archive::Zip | Archive::Gzip => MemoryDecoder::Whole(archive, Decoder::new()?),
            other => MemoryDecoder::Stream(other, source.decoder_dictionary()?, Buffer::new(buffer_bytes())?),
        })
    }

    fn decode(&mut self, mut bytes: &[u8]) -> Result<Answer, Fault> {
        match self {
            MemoryDecoder::Whole(archive, decoder) => decoder.content(*archive, bytes, Visit::Nothing),
            MemoryDecoder::Stream(archive, dictionary, buffer) => {
                let mut consumer = Consumer::new(Visit::Nothing);
                let decoder = StreamDecoder { archive: *archive, dictionary: dictionary.as_ref() };
                decoder.decode(&mut bytes, &mut buffer[..buffer_bytes()], &mut consumer)?;
                Ok(consumer.finish())
            }
        }
    }
}

/// The size of the stream buffer, which is that of the streaming methods.
fn buffer_bytes() -> usize {
    usize::try_from(BUFFER.default).expect("a buffer fits into memory")
}

impl Reader for DecoderControl {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        self.release();
        let loaded = LoadedFile::load("decoder", source)?;
        let archive = Archive::by_magic(loaded.bytes()).or_else(|| Archive::by_name(source.path()));
        let archive =
            archive.ok_or_else(|| Fault::Unavailable("decoder: the file is no archive".to_owned()))?;
        let mut decoder = MemoryDecoder::new(archive, source)?;
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
