//! The answers of whole files, added up while they are read.

use readlab_protocol::Answer;

/// The answers of whole files, added up while they are read.
#[derive(Debug, Default)]
pub(crate) struct FilesAnswer(Option<Answer>);

impl FilesAnswer {
    pub(crate) fn add(&mut self, file: Answer) {
        let file = file.of_file();
        self.0 = Some(self.0.map_or(file, |all| all.merge(file)));
    }

    /// The answer for the files of all parts. Without a file, nothing is known.
    pub(crate) fn of_parts(parts: Vec<FilesAnswer>) -> Answer {
        Answer::of_parts(parts.into_iter().filter_map(|part| part.0).collect())
    }

    /// The answer for all files. Without a file, nothing is known.
    pub(crate) fn finish(self) -> Answer {
        self.0.unwrap_or_default()
    }
}
