//! Visits all files of a tree with several threads, each of which repeatedly takes a batch of
//! files: one thread would take tenths of a second for thousands of system calls. The caller passes
//! the function that is called for each file.

use std::iter;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of files that a thread takes at once.
const BATCH_FILES: usize = 64;

/// Number of processors that this process may use; the number of threads for [`visit`].
pub fn processor_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `each` with the index and the path of every file, and combines the results with `join` in
/// any order; `None` if there are no files. `threads` includes the calling thread. After an error no
/// thread takes further files.
pub fn visit<T: Send, P, E: Send + From<P>>(
    paths: impl Iterator<Item = Result<PathBuf, P>> + Send,
    threads: usize,
    each: impl Fn(usize, &Path) -> Result<T, E> + Sync,
    join: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>, E> {
    let next = Mutex::new(Some(paths.enumerate()));
    let next = || next.lock().unwrap_or_else(PoisonError::into_inner);
    let take = || -> Vec<_> { next().iter_mut().flatten().take(BATCH_FILES).collect() };
    let work = || {
        let taken = iter::repeat_with(take).take_while(|taken| !taken.is_empty()).flatten();
        let mut found = taken.map(|(number, path)| each(number, &path.map_err(E::from)?));
        let all = found.try_fold(None, |all: Option<T>, one| {
            let one = one?;
            Ok(Some(match all {
                None => one,
                Some(all) => join(all, one),
            }))
        });
        all.inspect_err(|_| *next() = None)
    };
    let found = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined = others.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.chain([own]).collect::<Result<Vec<_>, E>>()
    })?;
    Ok(found.into_iter().flatten().reduce(join))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    /// The numbers from 0 on as paths.
    fn paths(count: usize) -> impl Iterator<Item = Result<PathBuf, Infallible>> + Send {
        (0..count).map(|number| Ok(PathBuf::from(number.to_string())))
    }

    #[derive(Debug, PartialEq)]
    struct Failed(usize);

    impl From<Infallible> for Failed {
        fn from(never: Infallible) -> Failed {
            match never {}
        }
    }

    #[test]
    fn each_file_is_visited_once_with_its_number_by_any_number_of_threads() {
        for (count, threads) in [(0, 2), (1, 3), (63, 2), (64, 2), (1000, 1), (1000, 7)] {
            let each = |number, path: &Path| Ok::<_, Failed>(BTreeMap::from([(number, path.to_owned())]));
            let join = |mut one: BTreeMap<_, _>, other: BTreeMap<_, _>| {
                assert!(other.keys().all(|number| !one.contains_key(number)), "none twice");
                one.extend(other);
                one
            };
            let found = visit(paths(count), threads, each, join).unwrap();
            let expected = (0..count).map(|number| (number, PathBuf::from(number.to_string())));
            assert_eq!(found.unwrap_or_default(), expected.collect(), "{threads} threads");
        }
    }

    #[test]
    fn an_error_stops_the_visits_of_all_threads() {
        let each = |number, _: &Path| if number == 700 { Err(Failed(number)) } else { Ok(()) };
        assert_eq!(visit(paths(usize::MAX), 3, each, |(), ()| ()), Err(Failed(700)));
    }
}
