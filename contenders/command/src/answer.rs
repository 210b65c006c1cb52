//! Reads a command's answer from its output: the first whole number; for `discard` the length of
//! the output, and for `output` its digest.

use crate::counted::CountedUnit;
use crate::hiding::HiddenTexts;
use crate::output::Output;
use readlab_protocol::SampleLine;

/// Advice on how to race a command that does other work than counting.
const ADVICE: &str = "; if it counts nothing: --check same or none";

/// The sample with the proof from the output for this work (a word of the protocol). For newlines
/// or lines, `counted` is what a known program counts. Another program is assumed to count what was
/// requested.
pub(crate) fn sample_with_answer(
    mut sample: SampleLine,
    output: &Output,
    work: &str,
    counted: Option<CountedUnit>,
    hiding: &HiddenTexts,
) -> Result<SampleLine, String> {
    match work {
        "discard" => return Ok(SampleLine { bytes: Some(output.bytes), ..sample }),
        "output" => return Ok(SampleLine { output: output.digest(), ..sample }),
        _ => {}
    }
    let text = String::from_utf8_lossy(&output.beginning);
    let number = text.split_whitespace().find_map(|word| word.parse().ok());
    let number = number.ok_or_else(|| {
        // Secrets are hidden before the text is cut, because a part of a secret would not be
        // recognised.
        let start: String = hiding.hide(whole_words(&text, output)).chars().take(60).collect();
        format!("no number in its output: {start:?}{ADVICE}")
    })?;
    match (work, counted) {
        ("sum", _) => sample.sum = Some(number),
        ("names", _) => sample.names = Some(number),
        ("stat", _) => sample.bytes = Some(number),
        (_, Some(CountedUnit::Lines)) | ("lines", None) => sample.lines = Some(number),
        _ => sample.newlines = Some(number),
    }
    Ok(sample)
}

/// The beginning of the output without its last word, which may be cut.
fn whole_words<'a>(beginning: &'a str, output: &Output) -> &'a str {
    if output.bytes == output.beginning.len() as u64 {
        return beginning;
    }
    beginning.rsplit_once(char::is_whitespace).map_or("", |(whole, _)| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "secret-that-is-longer-than-the-part-of-the-output-that-is-shown-in-a-failure";

    fn sample_with_answer(
        printed: &str,
        work: &str,
        counted: Option<CountedUnit>,
    ) -> Result<SampleLine, String> {
        let mut output = if work == "output" { Output::as_answer(None) } else { Output::default() };
        output.drain_whole(printed.as_bytes()).unwrap();
        let hiding = HiddenTexts::new("-", &[SECRET.to_owned()]);
        super::sample_with_answer(SampleLine::default(), &output, work, counted, &hiding)
    }

    #[test]
    fn no_part_of_a_secret_is_in_a_failure() {
        let failure = |printed: &str| sample_with_answer(printed, "newlines", None).unwrap_err();
        let said = |shown: &str| format!("no number in its output: {shown:?}{ADVICE}");
        assert_eq!(failure(&format!("{SECRET} is wrong")), said("… is wrong"));
        let cut = failure(&format!("cut {}?{} {SECRET}", SECRET, "x".repeat(4096 - 120)));
        assert_eq!(cut, said("cut …?…"));
        assert_eq!(failure(&"y".repeat(5000)), said(""));
    }

    #[test]
    fn the_first_number_answers_the_work() {
        assert_eq!(sample_with_answer("  42 /a/7\n", "newlines", None).unwrap().newlines, Some(42));
        assert_eq!(sample_with_answer("42\n", "lines", None).unwrap().lines, Some(42));
        assert_eq!(sample_with_answer("200", "sum", None).unwrap().sum, Some(200));
        assert_eq!(sample_with_answer("7\n", "names", Some(CountedUnit::Newlines)).unwrap().names, Some(7));
        assert_eq!(sample_with_answer("4096", "stat", None).unwrap().bytes, Some(4096));
        assert_eq!(sample_with_answer("abc", "discard", None).unwrap().bytes, Some(3));
        assert!(sample_with_answer("abc", "output", None).unwrap().output.is_some());
    }

    #[test]
    fn a_known_program_answers_what_it_counts() {
        let counted = |counted, work| sample_with_answer("42\n", work, Some(counted)).unwrap();
        for work in ["newlines", "lines"] {
            assert_eq!(counted(CountedUnit::Newlines, work).newlines, Some(42), "{work}");
            assert_eq!(counted(CountedUnit::Lines, work).lines, Some(42), "{work}");
        }
        assert_eq!(counted(CountedUnit::Lines, "sum").sum, Some(42));
    }

    #[test]
    fn empty_output_is_no_answer() {
        for output in ["", "none", "-3", "4.5"] {
            assert!(sample_with_answer(output, "newlines", None).is_err(), "{output:?}");
        }
    }
}
