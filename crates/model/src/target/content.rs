//! Whether two targets have the same content, though they may hold it in different forms: a folder,
//! or a tar or a zip of that folder.

use super::TargetFacts;
use crate::trial::Answer;
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::Serialize;

/// What shows that two contents are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[serde(rename = "SameBy")]
pub enum SameContentProof {
    /// Equal digests: the same bytes, or files with the same bytes.
    Digest,
    /// The true answers about all bytes of a folder and of a stream are equal: the number of bytes,
    /// the number of newlines, and the sum.
    Answers,
    /// The true answers about the bytes of all files are equal; at least one of the contents is a
    /// tar.
    TarFiles,
    /// The user stated that the contents are the same.
    Assertion,
}

/// The known facts about a content.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    digest: Option<&'a str>,
    answer: Option<Answer>,
    tar_files: Option<Answer>,
    is_tree: bool,
}

/// The answers that do not depend on the order of files: bytes, newlines and the sum. The number of
/// lines depends on it: in a stream, the last line of a file without a newline at its end continues
/// in the next file.
type AnswersAboutBytes = (u64, Option<u64>, Option<u64>);

fn answers_about_bytes(answer: Option<Answer>) -> Option<AnswersAboutBytes> {
    let Answer { bytes, newlines, sum, .. } = answer?;
    Some((bytes?, newlines, sum))
}

impl TargetFacts {
    /// The content that a trial reads of this target: its bytes, or the decoded content. `None` if
    /// the target was not decoded.
    pub fn content(&self, decodes: Option<Archive>) -> Option<Content<'_>> {
        let is_tree = self.tree().is_some();
        let tar_files = self.tar_files.filter(|_| decodes.is_some() == self.decoded.is_some());
        Some(match decodes {
            None => Content { digest: self.digest.as_deref(), answer: self.answer, tar_files, is_tree },
            Some(_) => {
                let decoded = self.decoded.as_ref()?;
                let (digest, answer) = (Some(decoded.digest.as_str()), Some(decoded.answer));
                Content { digest, answer, tar_files, is_tree: false }
            }
        })
    }
}

impl Content<'_> {
    /// What shows that both contents are the same; `None` if nothing does. The digests of a folder
    /// and of a stream are of different kinds. Two streams with different digests are only the same
    /// if one of them is a tar.
    pub fn same_content_proof(&self, other: &Content) -> Option<SameContentProof> {
        if self.is_tree == other.is_tree && self.digest.is_some() && self.digest == other.digest {
            return Some(SameContentProof::Digest);
        }
        let [own, its] = [self, other].map(|it| answers_about_bytes(it.answer));
        let [own_files, its_files] = [self, other].map(|it| answers_about_bytes(it.tar_files));
        let is_same =
            |one: Option<AnswersAboutBytes>, other: Option<AnswersAboutBytes>| one.is_some() && one == other;
        if self.is_tree != other.is_tree && is_same(own, its) {
            return Some(SameContentProof::Answers);
        }
        let are_files_same =
            is_same(own_files, its_files) || is_same(own_files, its) || is_same(own, its_files);
        are_files_same.then_some(SameContentProof::TarFiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tree::TreeFacts;
    use crate::target::{DecodedContent, TargetKind};

    fn answer(newlines: u64) -> Option<Answer> {
        Some(Answer { bytes: Some(600), newlines: Some(newlines), sum: Some(7), ..Answer::default() })
    }

    fn file(digest: &str, newlines: u64) -> TargetFacts {
        let digest = Some(digest.to_owned());
        TargetFacts { digest, answer: answer(newlines), ..TargetFacts::default() }
    }

    fn folder(digest: &str, newlines: u64) -> TargetFacts {
        TargetFacts { kind: TargetKind::Tree(TreeFacts::default()), ..file(digest, newlines) }
    }

    fn tar(digest: &str, newlines: u64) -> TargetFacts {
        TargetFacts { tar_files: answer(newlines), ..file(digest, 99) }
    }

    #[test]
    fn digests_of_one_kind_answers_of_different_kinds_and_the_files_of_tars_show_the_same_content() {
        let same_by = |one: &TargetFacts, other: &TargetFacts| {
            let [one, other] = [one, other].map(|facts| facts.content(None).unwrap());
            assert_eq!(one.same_content_proof(&other), other.same_content_proof(&one));
            one.same_content_proof(&other)
        };
        for (one, other, expected) in [
            (file("d", 1), file("d", 1), Some(SameContentProof::Digest)),
            (folder("t", 1), folder("t", 1), Some(SameContentProof::Digest)),
            (file("d", 1), file("e", 1), None),
            (folder("t", 1), folder("u", 1), None),
            (folder("t", 1), file("d", 1), Some(SameContentProof::Answers)),
            (folder("t", 1), file("t", 2), None),
            (folder("t", 1), tar("r", 1), Some(SameContentProof::TarFiles)),
            (folder("t", 1), tar("r", 2), None),
            (tar("r", 1), tar("s", 1), Some(SameContentProof::TarFiles)),
            (tar("r", 1), tar("r", 1), Some(SameContentProof::Digest)),
        ] {
            assert_eq!(same_by(&one, &other), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn only_the_decoded_content_of_a_compressed_tar_is_a_tar() {
        let decoded =
            DecodedContent { archive: Archive::Gzip, digest: "c".to_owned(), answer: answer(99).unwrap() };
        let packed = TargetFacts { decoded: Some(decoded), ..tar("z", 1) };
        let folder = folder("t", 1);
        let folder = folder.content(None).unwrap();
        assert_eq!(packed.content(None).unwrap().same_content_proof(&folder), None);
        assert_eq!(
            packed.content(Some(Archive::Gzip)).unwrap().same_content_proof(&folder),
            Some(SameContentProof::TarFiles)
        );
        assert!(tar("z", 1).content(Some(Archive::Gzip)).is_none(), "it was not decoded");
    }

    #[test]
    fn contents_without_known_answers_are_not_the_same() {
        let unknown = TargetFacts::default();
        let content = unknown.content(None).unwrap();
        assert_eq!(content.same_content_proof(&content), None);
    }
}
