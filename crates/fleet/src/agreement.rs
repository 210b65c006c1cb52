//! Compares, before anything is measured, what all ranks must have in common: the program, the
//! contenders, the plan, and the bytes that are read. If they differ, the run is refused, and the
//! error names the ranks that differ.

use super::hidden_names::{SHOWN_WITNESS_FILE, SHOWN_WITNESS_HOST, shown_file, shown_host};
use super::job::{Job, JobError};
use readlab_model::trial::Answer;
use readlab_record::{Fleet, Rank, Receipt, ShareMode, Witness, joint_answer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFacts {
    pub host: String,
    /// Identifier of the kernel's boot; ranks with the same identifier share a kernel. `None` if it
    /// cannot be read.
    #[serde(rename = "boot")]
    pub boot_id: Option<String>,
    /// Digest of readlab's program.
    #[serde(rename = "program")]
    pub program_digest: String,
    pub contenders: Vec<Receipt>,
    /// The planned trials: the name of each, and a digest of everything that is decided about it.
    #[serde(rename = "plan")]
    pub trial_digests: Vec<(String, String)>,
    /// Whether different numbers of ranks read the trials; all ranks must then read the same number
    /// of bytes.
    #[serde(rename = "is_scaled")]
    pub varies_rank_count: bool,
    pub file: RankFileFacts,
}

impl RankFacts {
    /// The facts with the names of host and file replaced by numbers.
    pub fn with_hidden_names(self, rank: u32) -> RankFacts {
        let file = RankFileFacts { path: shown_file(rank), ..self.file };
        RankFacts { host: shown_host(rank), file, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFileFacts {
    pub path: String,
    /// Start of the rank's part of the file; `None` if the whole target is read.
    pub start_bytes: Option<u64>,
    #[serde(rename = "whole")]
    pub whole_file: WholeFile,
    pub size_bytes: u64,
    pub digest: Option<String>,
    pub answers: ContentAnswers,
    /// Smallest number of bytes that a cold reading fetches from the device; `None` if it is not
    /// known.
    #[serde(rename = "device_bytes")]
    pub expected_device_bytes: Option<u64>,
    /// Device and inode of the file; ranks of one kernel with the same values share the file's pages
    /// in the page cache.
    #[serde(rename = "inode")]
    pub device_and_inode: Option<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeFile {
    #[serde(rename = "bytes")]
    pub size_bytes: u64,
    /// Digest of blocks that are spread over the whole file.
    #[serde(rename = "places")]
    pub places_digest: String,
}

/// Facts that the rank on the server reports about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessFacts {
    pub host: String,
    /// The path of the file on the server.
    pub path: String,
    #[serde(rename = "whole")]
    pub whole_file: WholeFile,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankStatement {
    Reader(Box<RankFacts>),
    Witness(WitnessFacts),
}

#[derive(Debug, Serialize, Deserialize)]
struct ComparedFacts {
    share: ShareMode,
    hides_names: bool,
    library: String,
    readers: Vec<RankFacts>,
    witness: Option<WitnessFacts>,
}

/// Conditions that rank 0 sets for all ranks.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgreementTerms<'a> {
    pub share: ShareMode,
    /// Whether the record shows numbers instead of the names of hosts and files.
    pub hides_names: bool,
    /// The fleet whose run is resumed; `None` for a new run.
    pub resumed_fleet: Option<&'a Fleet>,
}

/// The expected answers about what one rank, or several ranks together, read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentAnswers {
    pub plain: Answer,
    /// The answer about the decoded content; `None` if no trial decodes.
    pub decoded: Option<Answer>,
}

/// The fleet, and the expected answers of its ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    pub fleet: Fleet,
    /// Whether the record shows numbers instead of the names of hosts and files.
    pub hides_names: bool,
    pub answers: Vec<ContentAnswers>,
    /// Page caches that several ranks share.
    pub shared_caches: Vec<SharedCache>,
}

impl Agreement {
    /// The joint expected answers of the first `ranks` ranks. If all ranks read the same bytes, any
    /// `ranks` ranks have these joint answers.
    pub fn joint_answers(&self, ranks: usize) -> ContentAnswers {
        let first = || self.answers.iter().take(ranks);
        let decoded: Option<Vec<Answer>> = first().map(|it| it.decoded).collect();
        ContentAnswers {
            plain: joint_answer(first().map(|it| it.plain)),
            decoded: decoded.map(|all| joint_answer(all.into_iter())),
        }
    }
}

/// A page cache that several ranks share: bytes that one rank brings into it are not fetched by the
/// others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCache {
    pub ranks: Vec<usize>,
    /// Smallest number of bytes that a cold reading of all these ranks together fetches from the
    /// device.
    pub expected_device_bytes: Option<u64>,
}

/// Compares the statements of all ranks. A rank that could not prepare passes the reason instead of
/// its statement. All ranks use the terms of rank 0.
pub fn agree(
    job: &Job,
    terms: AgreementTerms,
    own: Result<RankStatement, String>,
) -> Result<Result<Agreement, String>, JobError> {
    let all = job.gather(&own)?;
    let found = all.map(|all| compare_statements(terms, job.mpi_library(), all));
    let found: Result<ComparedFacts, String> = job.broadcast(found.as_ref())?;
    Ok(found.map(|ComparedFacts { share, hides_names, library, readers, witness }| {
        let answers = readers.iter().map(|it| it.file.answers).collect();
        let ranks = recorded_ranks(&readers);
        let shared_caches = shared_caches(share, &readers, &ranks);
        let to_witness = if hides_names { WitnessFacts::to_hidden_witness } else { WitnessFacts::to_witness };
        let witness = witness.as_ref().map(to_witness);
        let fleet = Fleet { mpi_library: library, share, ranks, witness };
        Agreement { fleet, hides_names, answers, shared_caches }
    }))
}

/// The statements of all ranks. The error names the first rank that could not prepare or that
/// differs from rank 0, and says how.
fn compare_statements(
    terms: AgreementTerms,
    library: &str,
    all: Vec<Result<RankStatement, String>>,
) -> Result<ComparedFacts, String> {
    let share = terms.share;
    let several = all.len() > 1;
    let (mut readers, mut witness) = (Vec::<RankFacts>::new(), None);
    for (rank, it) in all.into_iter().enumerate() {
        match it.map_err(|reason| if several { format!("rank {rank}: {reason}") } else { reason })? {
            RankStatement::Reader(reader) => readers.push(*reader),
            RankStatement::Witness(it) => witness = Some(it),
        }
    }
    let first = &readers[0];
    for (rank, it) in readers.iter().enumerate().skip(1) {
        if let Some(what) = difference_words(share, first, it) {
            return Err(format!("{} (rank {rank}) differs from {} (rank 0): {what}", it.host, first.host));
        }
    }
    if let Some(it) =
        witness.as_ref().filter(|it| it.whole_file != first.file.whole_file || share == ShareMode::Own)
    {
        let WitnessFacts { host, path, .. } = it;
        return Err(format!("the witness on {host}: {path} is not the one file that all ranks read"));
    }
    let now = (recorded_ranks(&readers), witness.as_ref().map(WitnessFacts::to_witness));
    if let Some(what) = terms.resumed_fleet.and_then(|before| before.change_sentence(&now.0, now.1.as_ref()))
    {
        return Err(format!("{what}: begin anew"));
    }
    let (hides_names, library) = (terms.hides_names, library.to_owned());
    Ok(ComparedFacts { share, hides_names, library, readers, witness })
}

impl WitnessFacts {
    fn to_witness(&self) -> Witness {
        Witness { host: self.host.clone(), path: self.path.clone() }
    }

    fn to_hidden_witness(&self) -> Witness {
        Witness { host: SHOWN_WITNESS_HOST.to_owned(), path: SHOWN_WITNESS_FILE.to_owned() }
    }
}

/// A sentence about the first difference between two ranks; `None` if they agree.
fn difference_words(share: ShareMode, first: &RankFacts, other: &RankFacts) -> Option<String> {
    if first.program_digest != other.program_digest {
        return Some("another program of readlab".to_owned());
    }
    let of = |it: &RankFacts| it.contenders.iter().map(receipt_text).collect::<Vec<_>>();
    let (theirs, ours) = (of(other), of(first));
    if let Some(contender) = first_only_in(&theirs, &ours).or_else(|| first_only_in(&ours, &theirs)) {
        return Some(format!("the contender {contender}"));
    }
    if let Some((trial, _)) = first_only_in(&other.trial_digests, &first.trial_digests)
        .or_else(|| first_only_in(&first.trial_digests, &other.trial_digests))
    {
        return Some(format!("the trial {trial} is planned otherwise, as where processors differ"));
    }
    let (theirs, ours) = (&other.file, &first.file);
    if share == ShareMode::Own && first.varies_rank_count && ours.size_bytes != theirs.size_bytes {
        let (theirs, ours) = (theirs.size_bytes, ours.size_bytes);
        return Some(format!(
            "{theirs} bytes instead of {ours}: where ranks read by turns, files have one size"
        ));
    }
    if share == ShareMode::Split {
        let other = format!("{} has other bytes, or another size, than {}", theirs.path, ours.path);
        return (theirs.whole_file != ours.whole_file).then_some(other);
    }
    let is_same = ours.digest == theirs.digest && ours.size_bytes == theirs.size_bytes;
    (share == ShareMode::Same && !is_same).then(|| {
        format!(
            "{} has {} bytes, {} has {}, or other content",
            theirs.path, theirs.size_bytes, ours.path, ours.size_bytes
        )
    })
}

fn first_only_in<'a, T: PartialEq>(some: &'a [T], others: &[T]) -> Option<&'a T> {
    some.iter().find(|it| !others.contains(it))
}

fn receipt_text(receipt: &Receipt) -> String {
    format!("{} {} ({})", receipt.contender, receipt.version, receipt.runtime)
}

fn recorded_ranks(all: &[RankFacts]) -> Vec<Rank> {
    let mut caches = BTreeMap::new();
    let mut rank = |it: &RankFacts| {
        let next = u32::try_from(caches.len()).unwrap_or(u32::MAX);
        let cache = *caches.entry((it.boot_id.clone(), it.file.device_and_inode)).or_insert(next);
        let RankFileFacts { path, start_bytes, size_bytes, digest, .. } = it.file.clone();
        Rank { host: it.host.clone(), path, start_bytes, size_bytes, digest, page_cache_number: cache }
    };
    all.iter().map(&mut rank).collect()
}

fn shared_caches(share: ShareMode, all: &[RankFacts], ranks: &[Rank]) -> Vec<SharedCache> {
    let device_bytes = |ranks: &[usize]| {
        let mut each = ranks.iter().map(|&rank| all[rank].file.expected_device_bytes);
        // If all these ranks read the same bytes, the device delivers each byte only once.
        if share == ShareMode::Split { each.sum() } else { each.next().flatten() }
    };
    let mut by_cache = BTreeMap::<u32, Vec<usize>>::new();
    for (number, rank) in ranks.iter().enumerate() {
        by_cache.entry(rank.page_cache_number).or_default().push(number);
    }
    let several = by_cache.into_values().filter(|ranks| ranks.len() > 1);
    several.map(|ranks| SharedCache { expected_device_bytes: device_bytes(&ranks), ranks }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank_facts(host: &str) -> RankFacts {
        RankFacts {
            host: host.to_owned(),
            boot_id: Some("boot".to_owned()),
            program_digest: "p".to_owned(),
            contenders: Vec::new(),
            trial_digests: vec![("rust/read".to_owned(), "1".to_owned())],
            varies_rank_count: false,
            file: RankFileFacts {
                path: "f".to_owned(),
                start_bytes: None,
                whole_file: WholeFile { size_bytes: 5, places_digest: "p".to_owned() },
                size_bytes: 5,
                digest: Some("d".to_owned()),
                answers: ContentAnswers::default(),
                expected_device_bytes: Some(5),
                device_and_inode: Some((1, 2)),
            },
        }
    }

    fn compare_after_change(share: ShareMode, change: impl FnOnce(&mut RankFacts)) -> Result<(), String> {
        let mut other = rank_facts("b");
        change(&mut other);
        compare_readers(share, [Ok(rank_facts("a")), Ok(other)])
    }

    fn compare_readers<const N: usize>(
        share: ShareMode,
        all: [Result<RankFacts, String>; N],
    ) -> Result<(), String> {
        let told = all.map(|it| it.map(|it| RankStatement::Reader(Box::new(it))));
        compare_statements(AgreementTerms { share, ..AgreementTerms::default() }, "MPI", told.into())
            .map(drop)
    }

    #[test]
    fn the_rank_that_differs_is_named_with_the_difference() {
        assert_eq!(compare_after_change(ShareMode::Same, |_| {}), Ok(()));
        let program =
            compare_after_change(ShareMode::Same, |it| it.program_digest = "q".to_owned()).unwrap_err();
        assert_eq!(program, "b (rank 1) differs from a (rank 0): another program of readlab");
        let plan =
            compare_after_change(ShareMode::Same, |it| it.trial_digests[0].1 = "2".to_owned()).unwrap_err();
        assert!(plan.contains("the trial rust/read is planned otherwise"), "{plan}");
        let receipt = Receipt {
            contender: "java".to_owned(),
            version: "1".to_owned(),
            runtime: "JDK 21".to_owned(),
            language: None,
        };
        let contender = compare_after_change(ShareMode::Same, |it| it.contenders.push(receipt)).unwrap_err();
        assert!(contender.ends_with("the contender java 1 (JDK 21)"), "{contender}");
        let gone = compare_readers(ShareMode::Same, [Ok(rank_facts("a")), Err("f: no such file".to_owned())]);
        assert_eq!(gone.unwrap_err(), "rank 1: f: no such file");
    }

    #[test]
    fn ranks_that_read_one_file_must_have_the_same_bytes_and_ranks_with_own_files_need_not() {
        let other = |it: &mut RankFacts| it.file.size_bytes = 6;
        assert!(compare_after_change(ShareMode::Same, other).unwrap_err().contains("f has 6 bytes, f has 5"));
        assert_eq!(compare_after_change(ShareMode::Own, other), Ok(()));
        let mut scaled = [rank_facts("a"), rank_facts("b")];
        scaled.iter_mut().for_each(|it| it.varies_rank_count = true);
        scaled[1].file.size_bytes = 6;
        let refused = compare_readers(ShareMode::Own, scaled.map(Ok)).unwrap_err();
        assert!(refused.contains("6 bytes instead of 5: where ranks read by turns"), "{refused}");
    }

    #[test]
    fn ranks_that_split_a_file_must_have_the_same_whole_file() {
        let whole = |bytes, places: &str| WholeFile { size_bytes: bytes, places_digest: places.to_owned() };
        let told = |other| compare_after_change(ShareMode::Split, |it| it.file.whole_file = other);
        assert_eq!(told(whole(5, "p")), Ok(()));
        for other in [whole(6, "p"), whole(5, "q")] {
            let why = told(other).unwrap_err();
            assert!(why.ends_with("f has other bytes, or another size, than f"), "{why}");
        }
    }

    #[test]
    fn a_witness_must_watch_the_file_that_all_ranks_read() {
        let told = |share, bytes| {
            let whole = WholeFile { size_bytes: bytes, places_digest: "p".to_owned() };
            let witness = WitnessFacts { host: "s".to_owned(), path: "/e/f".to_owned(), whole_file: whole };
            let all = [RankStatement::Reader(Box::new(rank_facts("a"))), RankStatement::Witness(witness)];
            let terms = AgreementTerms { share, ..AgreementTerms::default() };
            compare_statements(terms, "MPI", all.map(Ok).into()).map(|it| it.witness.is_some())
        };
        assert_eq!(told(ShareMode::Same, 5), Ok(true));
        let refused = Err("the witness on s: /e/f is not the one file that all ranks read".to_owned());
        assert_eq!((told(ShareMode::Same, 6), told(ShareMode::Own, 5)), (refused.clone(), refused));
    }

    #[test]
    fn ranks_of_one_kernel_with_one_inode_share_a_cache() {
        let mut all = vec![rank_facts("a"), rank_facts("a"), rank_facts("b"), rank_facts("c")];
        all[2].file.device_and_inode = Some((1, 3));
        all[3].boot_id = Some("another".to_owned());
        let ranks = recorded_ranks(&all);
        assert_eq!(ranks.iter().map(|rank| rank.page_cache_number).collect::<Vec<_>>(), [0, 0, 1, 2]);
        let of = |share| shared_caches(share, &all, &ranks);
        let both = |bytes| [SharedCache { ranks: vec![0, 1], expected_device_bytes: Some(bytes) }];
        assert_eq!((of(ShareMode::Same), of(ShareMode::Split)), (both(5).into(), both(10).into()));
    }
}
