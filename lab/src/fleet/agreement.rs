//! What ranks must have in common, compared before anything is measured: the program, the
//! contenders, the plan, and the bytes that are read. The run is refused if they differ, and who
//! differs is named.

use super::job::{Job, JobError};
use super::merge::answer;
use crate::record::{Fleet, Rank, Receipt, Share};
use crate::trial::Answer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a rank says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The name of its host.
    pub host: String,
    /// The name of the kernel's time since its start; ranks with the same one share a kernel.
    pub boot: Option<String>,
    /// Digest of readlab's program.
    pub program: String,
    /// The contenders that take part.
    pub contenders: Vec<Receipt>,
    /// The trials that are planned, by name, with the digest of all that is decided about each.
    pub plan: Vec<(String, String)>,
    /// Whether trials are read by different numbers of ranks, which must bring as many bytes each.
    pub is_scaled: bool,
    /// What is read.
    pub file: FileCredentials,
}

impl Credentials {
    /// The same without the names of its host and its file.
    #[must_use]
    pub fn hidden(self, rank: u32) -> Credentials {
        let file = FileCredentials { path: format!("file {rank}"), ..self.file };
        Credentials { host: format!("host {rank}"), file, ..self }
    }
}

/// What a rank says of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCredentials {
    /// Its path.
    pub path: String,
    /// The file of which this is a part; `None` where all of it is read.
    pub split: Option<SplitFile>,
    /// How many bytes are read.
    pub size_bytes: u64,
    /// Digest of them.
    pub digest: Option<String>,
    /// The right answers about it.
    pub answers: Answers,
    /// The least that a cold reading of them fetches from the device, where that is known.
    pub device_bytes: Option<u64>,
    /// Device and inode, by which ranks that share a kernel know whether they share its pages.
    pub inode: Option<(u64, u64)>,
}

/// What a rank says of a file of which it reads a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitFile {
    /// Where its part begins.
    pub start_bytes: u64,
    /// The size of the whole file.
    pub file_bytes: u64,
    /// Digest of places all over the file.
    pub places: String,
}

/// The right answers about a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// About its bytes.
    pub plain: Answer,
    /// About what comes out of it, where trials decode it.
    pub decoded: Option<Answer>,
}

/// The fleet, and what all its ranks are to answer together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// The ranks.
    pub fleet: Fleet,
    /// The right answers of each rank.
    pub answers: Vec<Answers>,
    /// The page caches that several ranks share.
    pub shared: Vec<SharedCache>,
}

impl Agreement {
    /// The right answers of the first ranks together, so many of them; of any others too if all
    /// read the same.
    #[must_use]
    pub fn answers_of(&self, ranks: usize) -> Answers {
        let first = || self.answers.iter().take(ranks);
        let decoded: Option<Vec<Answer>> = first().map(|it| it.decoded).collect();
        Answers {
            plain: answer(first().map(|it| it.plain)),
            decoded: decoded.map(|all| answer(all.into_iter())),
        }
    }
}

/// A page cache that several ranks share: what one of them brings into it, the others do not fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCache {
    /// The ranks.
    pub ranks: Vec<usize>,
    /// The least that a cold reading fetches from the device, for all of them together.
    pub device_bytes: Option<u64>,
}

/// Compares what all ranks say. A rank that could not get so far says why instead.
///
/// # Errors
/// If the job is broken. That ranks differ is the inner error, the same on every rank.
pub fn agree(
    job: &Job,
    share: Share,
    own: Result<Credentials, String>,
) -> Result<Result<Agreement, String>, JobError> {
    let all = job.gather(&own)?;
    let found = all.map(|all| compared(share, all).map(|all| (all, job.library().to_owned())));
    let found: Result<(Vec<Credentials>, String), String> = job.broadcast(found.as_ref())?;
    Ok(found.map(|(all, library)| {
        let answers = all.iter().map(|it| it.file.answers).collect();
        let ranks = ranks(&all);
        let shared = shared(share, &all, &ranks);
        Agreement { fleet: Fleet { library, share, ranks }, answers, shared }
    }))
}

/// The credentials of all ranks, or the first difference from rank 0, with the host that has it.
fn compared(share: Share, all: Vec<Result<Credentials, String>>) -> Result<Vec<Credentials>, String> {
    let several = all.len() > 1;
    let mut whole = Vec::new();
    for (rank, it) in all.into_iter().enumerate() {
        whole.push(it.map_err(|reason| if several { format!("rank {rank}: {reason}") } else { reason })?);
    }
    let first = &whole[0];
    for (rank, it) in whole.iter().enumerate().skip(1) {
        if let Some(what) = difference(share, first, it) {
            return Err(format!("{} (rank {rank}) differs from {} (rank 0): {what}", it.host, first.host));
        }
    }
    Ok(whole)
}

/// What differs, if anything does.
fn difference(share: Share, first: &Credentials, other: &Credentials) -> Option<String> {
    if first.program != other.program {
        return Some("another program of readlab".to_owned());
    }
    let of = |it: &Credentials| it.contenders.iter().map(shown).collect::<Vec<_>>();
    let (theirs, ours) = (of(other), of(first));
    if let Some(contender) = only_in(&theirs, &ours).or_else(|| only_in(&ours, &theirs)) {
        return Some(format!("the contender {contender}"));
    }
    if let Some((trial, _)) = only_in(&other.plan, &first.plan).or_else(|| only_in(&first.plan, &other.plan))
    {
        return Some(format!("the trial {trial} is planned otherwise, as where processors differ"));
    }
    let (theirs, ours) = (&other.file, &first.file);
    if share == Share::Own && first.is_scaled && ours.size_bytes != theirs.size_bytes {
        let (theirs, ours) = (theirs.size_bytes, ours.size_bytes);
        return Some(format!(
            "{theirs} bytes instead of {ours}: where ranks read by turns, files have one size"
        ));
    }
    if share == Share::Split {
        let whole =
            |it: &FileCredentials| it.split.as_ref().map(|split| (split.file_bytes, split.places.clone()));
        let other = format!("{} has other bytes, or another size, than {}", theirs.path, ours.path);
        return (whole(theirs) != whole(ours)).then_some(other);
    }
    let is_same = ours.digest == theirs.digest && ours.size_bytes == theirs.size_bytes;
    (share == Share::Same && !is_same).then(|| {
        format!(
            "{} has {} bytes, {} has {}, or other content",
            theirs.path, theirs.size_bytes, ours.path, ours.size_bytes
        )
    })
}

fn only_in<'a, T: PartialEq>(some: &'a [T], others: &[T]) -> Option<&'a T> {
    some.iter().find(|it| !others.contains(it))
}

fn shown(receipt: &Receipt) -> String {
    format!("{} {} ({})", receipt.contender, receipt.version, receipt.runtime)
}

fn ranks(all: &[Credentials]) -> Vec<Rank> {
    let mut caches = BTreeMap::new();
    let mut rank = |it: &Credentials| {
        let next = u32::try_from(caches.len()).unwrap_or(u32::MAX);
        let cache = *caches.entry((it.boot.clone(), it.file.inode)).or_insert(next);
        let FileCredentials { path, split, size_bytes, .. } = &it.file;
        let start_bytes = split.as_ref().map(|split| split.start_bytes);
        Rank { host: it.host.clone(), path: path.clone(), start_bytes, size_bytes: *size_bytes, cache }
    };
    all.iter().map(&mut rank).collect()
}

fn shared(share: Share, all: &[Credentials], ranks: &[Rank]) -> Vec<SharedCache> {
    let device_bytes = |ranks: &[usize]| {
        let mut each = ranks.iter().map(|&rank| all[rank].file.device_bytes);
        // What all of them read is fetched once.
        if share == Share::Split { each.sum() } else { each.next().flatten() }
    };
    let mut by_cache = BTreeMap::<u32, Vec<usize>>::new();
    for (number, rank) in ranks.iter().enumerate() {
        by_cache.entry(rank.cache).or_default().push(number);
    }
    let several = by_cache.into_values().filter(|ranks| ranks.len() > 1);
    several.map(|ranks| SharedCache { device_bytes: device_bytes(&ranks), ranks }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(host: &str) -> Credentials {
        Credentials {
            host: host.to_owned(),
            boot: Some("boot".to_owned()),
            program: "p".to_owned(),
            contenders: Vec::new(),
            plan: vec![("rust/read".to_owned(), "1".to_owned())],
            is_scaled: false,
            file: FileCredentials {
                path: "f".to_owned(),
                split: None,
                size_bytes: 5,
                digest: Some("d".to_owned()),
                answers: Answers::default(),
                device_bytes: Some(5),
                inode: Some((1, 2)),
            },
        }
    }

    fn told(share: Share, change: impl FnOnce(&mut Credentials)) -> Result<(), String> {
        let mut other = credentials("b");
        change(&mut other);
        compared(share, vec![Ok(credentials("a")), Ok(other)]).map(drop)
    }

    #[test]
    fn who_differs_is_named_and_by_what() {
        assert_eq!(told(Share::Same, |_| {}), Ok(()));
        let program = told(Share::Same, |it| it.program = "q".to_owned()).unwrap_err();
        assert_eq!(program, "b (rank 1) differs from a (rank 0): another program of readlab");
        let plan = told(Share::Same, |it| it.plan[0].1 = "2".to_owned()).unwrap_err();
        assert!(plan.contains("the trial rust/read is planned otherwise"), "{plan}");
        let receipt = Receipt {
            contender: "java".to_owned(),
            version: "1".to_owned(),
            runtime: "JDK 21".to_owned(),
            language: None,
        };
        let contender = told(Share::Same, |it| it.contenders.push(receipt)).unwrap_err();
        assert!(contender.ends_with("the contender java 1 (JDK 21)"), "{contender}");
        let gone = compared(Share::Same, vec![Ok(credentials("a")), Err("f: no such file".to_owned())]);
        assert_eq!(gone.unwrap_err(), "rank 1: f: no such file");
    }

    #[test]
    fn ranks_that_read_one_file_have_the_same_bytes_and_others_need_not() {
        let other = |it: &mut Credentials| it.file.size_bytes = 6;
        assert!(told(Share::Same, other).unwrap_err().contains("f has 6 bytes, f has 5"));
        assert_eq!(told(Share::Own, other), Ok(()));
        let mut scaled = [credentials("a"), credentials("b")];
        scaled.iter_mut().for_each(|it| it.is_scaled = true);
        scaled[1].file.size_bytes = 6;
        let refused = compared(Share::Own, scaled.map(Ok).into()).unwrap_err();
        assert!(refused.contains("6 bytes instead of 5: where ranks read by turns"), "{refused}");
    }

    #[test]
    fn ranks_that_split_a_file_have_the_same_whole_file() {
        let split = |start_bytes, file_bytes, places: &str| {
            Some(SplitFile { start_bytes, file_bytes, places: places.to_owned() })
        };
        let told = |other| {
            let mut all = [credentials("a"), credentials("b")];
            (all[0].file.split, all[1].file.split) = (split(0, 10, "p"), other);
            compared(Share::Split, all.map(Ok).into()).map(drop)
        };
        assert_eq!(told(split(5, 10, "p")), Ok(()));
        for other in [split(5, 11, "p"), split(5, 10, "q"), None] {
            let why = told(other).unwrap_err();
            assert!(why.ends_with("f has other bytes, or another size, than f"), "{why}");
        }
    }

    #[test]
    fn ranks_of_one_kernel_with_one_inode_share_a_cache() {
        let mut all = vec![credentials("a"), credentials("a"), credentials("b"), credentials("c")];
        all[2].file.inode = Some((1, 3));
        all[3].boot = Some("another".to_owned());
        let ranks = ranks(&all);
        assert_eq!(ranks.iter().map(|rank| rank.cache).collect::<Vec<_>>(), [0, 0, 1, 2]);
        let of = |share| shared(share, &all, &ranks);
        let both = |bytes| [SharedCache { ranks: vec![0, 1], device_bytes: Some(bytes) }];
        assert_eq!((of(Share::Same), of(Share::Split)), (both(5).into(), both(10).into()));
    }
}
