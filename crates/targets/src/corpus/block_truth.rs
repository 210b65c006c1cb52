//! The true answers about blocks of a file: the sum of the oracle's answers about each block, and a
//! proof for each block.

use super::oracle::{ContinueCheck, Tally, Truth, error_at_byte};
use super::products::Products;
use readlab_model::trial::Answer;
use readlab_model::units::Nanos;
use readlab_protocol::Places;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// Reads every block once.
pub fn truth_of_blocks(places: &Places, check: ContinueCheck) -> io::Result<Truth> {
    let start = Instant::now();
    let file = File::open(&places.file)?;
    let mut block = vec![0; usize::try_from(places.block_bytes).map_err(io::Error::other)?];
    let (mut all, mut products) = (Tally::default(), Products::default());
    for (number, &offset) in (0..).zip(&places.offsets) {
        check(number * places.block_bytes)?;
        file.read_exact_at(&mut block, offset).map_err(|cause| error_at_byte(offset, &cause))?;
        let mut one = Tally::default();
        one.take(&block);
        products.add(number, &one.finish().0);
        all.take(&block);
    }
    let (answer, digest) = all.finish();
    // A line may extend over several blocks, so lines are not counted.
    let answer = Answer { lines: None, blocks: Some(places.offsets.len() as u64), ..answer };
    let wall_ns = Nanos::from(start.elapsed()).0;
    Ok(Truth { answer, products: Some(products), digest, text: false, archive: None, wall_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::Work;
    use std::io::Write;

    fn places(offsets: &[u64]) -> (tempfile::NamedTempFile, Places) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"ab\n\n\ncde\xff\xff").unwrap();
        let places = Places { file: file.path().to_owned(), block_bytes: 2, offsets: offsets.to_vec() };
        (file, places)
    }

    #[test]
    fn answers_about_blocks_are_summed_and_each_block_has_a_proof() {
        let (_file, places) = places(&[8, 2, 0]);
        let truth = truth_of_blocks(&places, &|_| Ok(())).unwrap();
        let sum = (u64::from(b'a') + u64::from(b'b') + 20 + 2 * 255) % 256;
        let [bytes, newlines, sum, blocks] = [6, 2, sum, 3].map(Some);
        let right = Answer { bytes, newlines, sum, blocks, ..Answer::default() };
        assert_eq!(truth.answer, right);
        let proof = Answer { products: Some(1 + 2 * 3 + 3), ..right };
        let agree = |answer: &Answer| truth.products.unwrap().agree(Work::Newlines, answer, true);
        assert!(agree(&Answer { sum: None, ..proof }), "newlines: 0, 2 and 0");
        assert!(!agree(&Answer { products: Some(9), ..proof }));
        assert!(!agree(&Answer { products: None, ..proof }));
    }

    #[test]
    fn a_block_beyond_the_end_of_the_file_is_an_error_that_names_it() {
        let (_file, places) = places(&[0, 10]);
        let error = truth_of_blocks(&places, &|_| Ok(())).unwrap_err();
        assert!(error.to_string().ends_with("at byte 10"), "{error}");
    }
}
