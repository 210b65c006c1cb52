//! The methods `auto` and `auto-safe`, which use the crate `readlab-auto`. So every race shows
//! whether it chooses well, with mapping and without.

use super::mmap::map;
use super::{Fault, Method, Reader, memory};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::{Param, SettingError, Settings};
use crate::source::Source;
use memmap2::MmapOptions;
use readlab_auto::{Auto, Strategy};
use readlab_protocol::Answer;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::thread;

/// The value 0 means the number of processors.
const THREADS: Param = Param::new("threads", 0, 0, 1024);

pub(in crate::method) const AUTO: Method = Method {
    name: "auto",
    about: "looks at size, file system and page cache, then reads once, maps, copies, or keeps reads in flight past \
            the cache",
    parts: true,
    params: &[THREADS],
    build: |settings| build_reader(settings, true),
    ..Method::DEFAULT
};

pub(in crate::method) const AUTO_SAFE: Method = Method {
    name: "auto-safe",
    about: "as auto, but never maps, so that a program needs no unsafe code",
    build: |settings| build_reader(settings, false),
    ..AUTO
};

fn build_reader(settings: &mut Settings, maps: bool) -> Result<Box<dyn Reader>, SettingError> {
    if settings.get(&THREADS) == 0 {
        let all = thread::available_parallelism().map_or(1, NonZero::get);
        settings.settle(&THREADS, all as u64);
    }
    let threads = NonZero::new(settings.size(&THREADS)).unwrap_or(NonZero::<usize>::MIN);
    Ok(Box::new(move |source: &Source, visit: Visit| read(source, threads, maps, visit)))
}

fn read(source: &Source, threads: NonZero<usize>, maps: bool, visit: Visit) -> Result<Answer, Fault> {
    let mut file = Auto::open(source.path())?.threads(threads);
    if let Some(part) = source.as_part() {
        file = file.range(part.range());
    }
    // SAFETY: the bytes are only counted or summed, so a file that changes during the reading
    // only gives a wrong answer. A file that is truncated raises SIGBUS, and the lab runs every
    // method in a separate process.
    let file = if maps { unsafe { file.mapping() } } else { file };
    if !matches!(visit, Visit::Lines(_)) {
        let parts = file.par_visit(|| Consumer::new(visit))?;
        return Ok(Answer::of_parts(parts.into_iter().map(Consumer::finish).collect()));
    }
    if file.strategy()? == Strategy::Mapped {
        let map = map(source, MmapOptions::new())?;
        let threads = threads.get() as u64;
        return memory::visit_all(&map, memory::SEGMENT.default, threads, visit);
    }
    let mut consumer = Consumer::new(visit);
    let _ = file.visit(|_, bytes| {
        consumer.feed(bytes);
        ControlFlow::<()>::Continue(())
    })?;
    Ok(consumer.finish())
}
