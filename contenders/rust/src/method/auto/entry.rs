//! `auto` as a method of the contender, so that every race shows whether it chose well.

use super::file_context::FileContext;
use super::{Strategy, from_front, in_pieces};
use crate::consumer::Consumer;
use crate::method::{Fault, Feeding, Method, Reader, memory};
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::Answer;
use readlab_protocol::{Cache, Reads};
use std::num::NonZero;
use std::path::Path;
use std::thread;

/// 0 means the number of processors.
const THREADS: Param = Param::new("threads", 0, 0, 1024);

pub(in crate::method) const AUTO: Method = Method {
    name: "auto",
    about: "looks at size, file system and page cache, then reads once, maps, copies, or keeps reads in flight past \
            the cache",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    params: &[THREADS],
    build: |settings| {
        if settings.get(&THREADS) == 0 {
            let all = thread::available_parallelism().map_or(1, NonZero::get);
            settings.settle(&THREADS, all as u64);
        }
        let threads = NonZero::new(settings.size(&THREADS)).unwrap_or(NonZero::<usize>::MIN);
        Ok(Box::new(Chosen { threads }))
    },
    available: || Ok(()),
};

struct Chosen {
    threads: NonZero<usize>,
}

/// Mapping is safe here. The bytes are only counted or summed, so a file that changes during the
/// reading only gives a wrong answer. A file that is cut off raises SIGBUS, and the lab runs every
/// method in a separate process.
const MAPS: bool = true;

impl Reader for Chosen {
    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let context = FileContext::of(path)?;
        match visit {
            Visit::Lines(_) if context.strategy(MAPS) == Strategy::Mapped => {
                let map = context.map()?;
                memory::visit_all(&map, memory::SEGMENT.default, self.threads.get() as u64, visit)
            }
            Visit::Lines(_) => {
                let mut consumer = Consumer::new(visit);
                from_front::read(&context, MAPS, &mut consumer)?;
                Ok(consumer.finish())
            }
            _ => {
                let parts = in_pieces::read(&context, MAPS, self.threads, &|| Consumer::new(visit))?;
                Ok(Answer::of_parts(parts.into_iter().map(Consumer::finish).collect()))
            }
        }
    }
}
