//! The true answers about blocks of a file: the sum of the oracle's answers about each block, and a
//! proof for each block.

use super::oracle::{ContentTally, ContinueCheck, Truth, error_at_byte};
use super::products::Products;
use readlab_model::trial::Answer;
use readlab_protocol::Places;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// Reads every block once. `check` is called before each block with the number of bytes so far.
pub fn truth_of_blocks(places: &Places, check: ContinueCheck) -> io::Result<Truth> {
    let start = Instant::now();
    let file = File::open(&places.file)?;
    let longest_bytes = places.longest_block().map_or(0, |number| places.bytes_of(number));
    let mut buffer = vec![0; usize::try_from(longest_bytes).map_err(io::Error::other)?];
    let (mut all, mut products, mut done_bytes) = (ContentTally::default(), Products::default(), 0);
    for (number, &offset) in places.offsets.iter().enumerate() {
        check(done_bytes)?;
        let bytes = places.bytes_of(number);
        let block = &mut buffer[..usize::try_from(bytes).map_err(io::Error::other)?];
        file.read_exact_at(block, offset).map_err(|cause| error_at_byte(offset, &cause))?;
        let mut one = ContentTally::default();
        one.take(block);
        products.add(number as u64, &one.finish().0);
        all.take(block);
        done_bytes += bytes;
    }
    let (answer, digest) = all.finish();
    // A line may extend over several blocks, so lines are not counted.
    let answer = Answer { lines: None, blocks: Some(places.offsets.len() as u64), ..answer };
    Ok(Truth { products: Some(products), ..Truth::new(answer, digest, start.elapsed()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::Work;
    use readlab_protocol::BlockBytes;
    use std::io::Write;

    fn places(block_bytes: BlockBytes, offsets: &[u64]) -> (tempfile::NamedTempFile, Places) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"ab\n\n\ncde\xff\xff").unwrap();
        let places = Places { file: file.path().to_owned(), block_bytes, offsets: offsets.to_vec() };
        (file, places)
    }

    #[test]
    fn answers_about_blocks_are_summed_and_each_block_has_a_proof() {
        let (_file, places) = places(BlockBytes::Same(2), &[8, 2, 0]);
        let truth = truth_of_blocks(&places, &|_| Ok(())).unwrap();
        let sum = (u64::from(b'a') + u64::from(b'b') + 20 + 2 * 255) % 256;
        let [bytes, newlines, sum, blocks] = [6, 2, sum, 3].map(Some);
        let right = Answer { bytes, newlines, sum, blocks, ..Answer::default() };
        assert_eq!(truth.answer, right);
        let proof = Answer { products: Some(1 + 2 * 3 + 3), ..right };
        let agree = |answer: &Answer| truth.products.unwrap().agrees_with(Work::Newlines, answer, true);
        assert!(agree(&Answer { sum: None, ..proof }), "newlines: 0, 2 and 0");
        assert!(!agree(&Answer { products: Some(9), ..proof }));
        assert!(!agree(&Answer { products: None, ..proof }));
    }

    #[test]
    fn blocks_of_different_lengths_may_overlap_and_each_has_its_own_product() {
        let (_file, places) = places(BlockBytes::Each(vec![4, 1, 10]), &[1, 3, 0]);
        let truth = truth_of_blocks(&places, &|_| Ok(())).unwrap();
        let [bytes, newlines, blocks] = [15, 3 + 1 + 3, 3].map(Some);
        assert_eq!(
            (truth.answer.bytes, truth.answer.newlines, truth.answer.blocks),
            (bytes, newlines, blocks)
        );
        // The blocks have 3, 1 and 3 newlines.
        let right = Answer { newlines, blocks, products: Some(4 + 2 * 2 + 3 * 4), ..Answer::default() };
        assert!(truth.products.unwrap().agrees_with(Work::Newlines, &right, true));
    }

    #[test]
    fn a_block_beyond_the_end_of_the_file_is_an_error_that_names_it() {
        let (_file, places) = places(BlockBytes::Same(2), &[0, 10]);
        let error = truth_of_blocks(&places, &|_| Ok(())).unwrap_err();
        assert!(error.to_string().ends_with("at byte 10"), "{error}");
    }
}
