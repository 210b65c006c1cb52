//! Draws folded stacks as a flame graph: an SVG file that can be searched and zoomed in a browser,
//! and needs no other file.
//!
//! No crate is used for drawing: the known crate embeds scripts with a separate licence in every
//! picture, and users pass pictures on.

use super::folded::{FoldedStacks, FrameOrigin};
use readlab_system::markup::{self, Element, element, text_element};
use xxhash_rust::xxh3::xxh3_64;

/// Lengths in units of the SVG's view box.
const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW_HEIGHT: f64 = 16.0;
const HEAD_HEIGHT: f64 = 76.0;
/// Width of one character of a label.
const LETTER_WIDTH: f64 = 7.0;
/// Width of the narrowest frame that is drawn. Narrower frames cannot be seen, and would be most of
/// the file.
const FRAME_WIDTH_MIN: f64 = 0.1;

/// Script for zooming and searching; it reads the lengths above from attributes of the picture.
const SCRIPT: &str = concat!("//<![CDATA[\n", include_str!("flame.js"), "//]]>");
const STYLE: &str = include_str!("flame.css");

/// Legend of the colours: an origin, its hue, its word, and the x coordinate of the word.
const LEGEND: [(FrameOrigin, u16, &str, f64); 4] = [
    (FrameOrigin::Kernel, 30, "kernel", 400.0),
    (FrameOrigin::Inlined, 180, "inlined", 480.0),
    (FrameOrigin::Compiled, 110, "compiled at run time", 560.0),
    (FrameOrigin::Program, 5, "other", 740.0),
];

const ROOT_NAME: &str = "all";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame<'a> {
    name: &'a str,
    origin: FrameOrigin,
    /// Number of callers on the stack below this frame.
    depth: usize,
    /// Index of the frame's first sample, in the order of the stacks.
    first_sample: u64,
    samples: u64,
}

/// A frame whose last sample is not reached yet.
struct OpenFrame<'a> {
    function: &'a str,
    first_sample: u64,
}

/// The frames of all stacks, callers after the functions they call. Stacks are sorted, so a frame's
/// samples are adjacent.
fn frames(folded: &FoldedStacks) -> Vec<Frame<'_>> {
    let (mut frames, mut open, mut at) = (Vec::new(), Vec::<OpenFrame>::new(), 0);
    for (stack, times) in folded.stacks() {
        let common =
            open.iter().zip(stack).take_while(|(open, function)| open.function == **function).count();
        close_frames(&mut open, common, at, &mut frames);
        open.extend(stack[common..].iter().map(|function| OpenFrame { function, first_sample: at }));
        at += times;
    }
    close_frames(&mut open, 0, at, &mut frames);
    frames.push(Frame {
        name: ROOT_NAME,
        origin: FrameOrigin::Program,
        depth: 0,
        first_sample: 0,
        samples: at,
    });
    frames
}

/// Closes all open frames but the outermost `kept` ones; `at` is the index of the next sample.
fn close_frames<'a>(open: &mut Vec<OpenFrame<'a>>, kept: usize, at: u64, frames: &mut Vec<Frame<'a>>) {
    while open.len() > kept {
        let Some(OpenFrame { function, first_sample }) = open.pop() else { break };
        let (name, origin) = FrameOrigin::classify(function);
        frames.push(Frame { name, origin, depth: open.len() + 1, first_sample, samples: at - first_sample });
    }
}

/// Scale of a picture: samples from left to right, callees above their callers.
struct PictureScale {
    samples: u64,
    depth: usize,
}

/// Draws the flame graph. Title and subtitle may contain anything: the drawing escapes them.
pub fn svg(folded: &FoldedStacks, title: &str, subtitle: &str) -> Result<String, String> {
    if folded.sample_count() == 0 {
        return Err("no flame graph can be drawn: there are no samples".to_owned());
    }
    let frames = frames(folded);
    let depth = frames.iter().map(|frame| frame.depth).max().unwrap_or(0);
    let scale = PictureScale { samples: folded.sample_count(), depth };
    let height = scale.top(0) + ROW_HEIGHT + MARGIN;
    let seen = frames.iter().filter(|frame| scale.width(frame) >= FRAME_WIDTH_MIN);
    let picture = element("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format!("0 0 {WIDTH} {height}"))
        .set("data-samples", scale.samples)
        .set("data-margin", MARGIN)
        .set("data-width", WIDTH - 2.0 * MARGIN)
        .set("data-letter", LETTER_WIDTH)
        .with(text_element("title", title))
        .with(element("style").verbatim(STYLE))
        .with(element("rect").class("paper").set("width", WIDTH).set("height", height))
        .with(text_element("text", title).class("title").set("x", WIDTH / 2.0).set("y", 24))
        .with(text_element("text", subtitle).class("subtitle").set("x", WIDTH / 2.0).set("y", 44))
        .with_all(buttons())
        .with_all(legend())
        .with_all(seen.map(|frame| scale.draw_frame(frame)))
        .with(element("script").verbatim(SCRIPT));
    Ok(markup::picture(picture))
}

/// The buttons, and the text field that shows the share of samples matched by a search.
fn buttons() -> [Element; 3] {
    let button = |id, word: &str, x| {
        text_element("text", word)
            .class("button")
            .set("id", id)
            .set("x", x)
            .set("y", 64)
            .set("role", "button")
            .set("tabindex", 0)
    };
    let found =
        text_element("text", "").class("found").set("id", "found").set("x", WIDTH - MARGIN).set("y", 64);
    [button("reset", "Reset zoom", MARGIN), button("search", "Search", MARGIN + 90.0), found]
}

fn legend() -> impl Iterator<Item = Element> {
    LEGEND.into_iter().flat_map(|(origin, _, word, x)| {
        let square = element("rect").set("x", x).set("y", 55).set("width", 10).set("height", 10);
        [
            square.set("fill", fill_colour(origin, word)),
            text_element("text", word).set("x", x + 15.0).set("y", 64),
        ]
    })
}

impl PictureScale {
    fn sample_width(&self) -> f64 {
        (WIDTH - 2.0 * MARGIN) / self.samples as f64
    }

    fn width(&self, frame: &Frame) -> f64 {
        frame.samples as f64 * self.sample_width()
    }

    fn top(&self, depth: usize) -> f64 {
        HEAD_HEIGHT + (self.depth - depth) as f64 * ROW_HEIGHT
    }

    fn draw_frame(&self, frame: &Frame) -> Element {
        let (y, width) = (self.top(frame.depth), self.width(frame));
        let x = MARGIN + frame.first_sample as f64 * self.sample_width();
        let share = 100.0 * frame.samples as f64 / self.samples as f64;
        let about = format!("{} ({} samples, {share:.2}%)", frame.name, frame.samples);
        let rectangle = element("rect")
            .set("x", format!("{x:.1}"))
            .set("y", y)
            .set("width", format!("{width:.1}"))
            .set("height", ROW_HEIGHT - 1.0)
            .set("fill", fill_colour(frame.origin, frame.name));
        let label = text_element("text", &label(frame.name, width));
        element("g")
            .class("frame")
            .set("data-name", frame.name)
            .set("data-first", frame.first_sample)
            .set("data-samples", frame.samples)
            .set("data-depth", frame.depth)
            .with(text_element("title", &about))
            .with(rectangle)
            .with(label.set("x", format!("{:.1}", x + 3.0)).set("y", y + 11.5))
    }
}

/// The characters of a name that fit into a width.
fn label(name: &str, width: f64) -> String {
    let letters = ((width - 6.0) / LETTER_WIDTH).max(0.0) as usize;
    if letters < 3 {
        return String::new();
    }
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

/// The colour of a frame: the hue shows its origin, the shade depends on its name. The same
/// function has the same colour in every picture.
fn fill_colour(origin: FrameOrigin, name: &str) -> String {
    let shade = 62 + xxh3_64(name.as_bytes()) % 14;
    let (_, hue, ..) = LEGEND.iter().find(|(of, ..)| *of == origin).expect("each origin has a colour");
    format!("hsl({hue} 75% {shade}%)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame_lines(folded: &FoldedStacks) -> Vec<String> {
        let frames = frames(folded);
        frames
            .iter()
            .map(|it| format!("{} {} {}+{}", it.depth, it.name, it.first_sample, it.samples))
            .collect()
    }

    #[test]
    fn a_function_is_as_wide_as_its_samples_under_each_caller() {
        let folded = folded_stacks(&[
            (&["main", "read", "copy_[k]"], 6),
            (&["main", "read"], 1),
            (&["main", "scan"], 2),
            (&["other", "read"], 1),
        ]);
        let expected = [
            "3 copy 1+6",
            "2 read 0+7",
            "2 scan 7+2",
            "1 main 0+9",
            "2 read 9+1",
            "1 other 9+1",
            "0 all 0+10",
        ];
        assert_eq!(frame_lines(&folded), expected);
        assert_eq!(frames(&folded)[0].origin, FrameOrigin::Kernel);
    }

    #[test]
    fn without_stacks_there_is_one_frame_and_no_picture() {
        assert_eq!(frame_lines(&FoldedStacks::default()), ["0 all 0+0"]);
        assert!(svg(&FoldedStacks::default(), "t", "s").is_err());
    }

    proptest! {
        #[test]
        fn every_frame_is_drawn_within_its_caller(
            stacks in prop::collection::vec((prop::collection::vec("[abc]", 1..6), 1_u64..9), 1..20),
        ) {
            let mut folded = FoldedStacks::default();
            stacks.iter().for_each(|(stack, times)| folded.add(stack, *times));
            let frames = frames(&folded);
            for frame in frames.iter().filter(|frame| frame.depth > 0) {
                let holds = |caller: &Frame| {
                    let ends = [caller, frame].map(|it| it.first_sample + it.samples);
                    let begins_within = caller.first_sample <= frame.first_sample;
                    caller.depth + 1 == frame.depth && begins_within && ends[1] <= ends[0]
                };
                prop_assert_eq!(frames.iter().filter(|caller| holds(caller)).count(), 1);
            }
        }
    }

    fn folded_stacks(stacks: &[(&[&str], u64)]) -> FoldedStacks {
        let mut folded = FoldedStacks::default();
        stacks.iter().for_each(|(stack, times)| folded.add(*stack, *times));
        folded
    }

    /// Parses the picture as strict XML.
    fn checked_svg(folded: &FoldedStacks, title: &str) -> String {
        let text = svg(folded, title, "10 samples").unwrap();
        roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        text
    }

    #[test]
    fn functions_are_drawn_with_their_shares() {
        let folded = folded_stacks(&[(&["wc", "main", "read"], 9), (&["wc", "main"], 1)]);
        let text = checked_svg(&folded, "command/wc -l");
        assert!(text.contains("read (9 samples, 90.00%)") && text.contains("command/wc -l"), "{text}");
    }

    #[test]
    fn a_frame_is_drawn_over_its_samples_and_above_its_caller() {
        let text = checked_svg(&folded_stacks(&[(&["a"], 1), (&["b", "c"], 3)]), "t");
        let document = roxmltree::Document::parse(&text).unwrap();
        let place = |name: &str| {
            let is_it = |node: &roxmltree::Node| node.attribute("data-name") == Some(name);
            let frame = document.descendants().find(is_it).unwrap();
            let rectangle = frame.children().find(|child| child.has_tag_name("rect")).unwrap();
            ["x", "y", "width"].map(|it| rectangle.attribute(it).unwrap().parse::<f64>().unwrap())
        };
        assert_eq!((place("all"), place("a")), ([10.0, 108.0, 1180.0], [10.0, 92.0, 295.0]));
        assert_eq!((place("b"), place("c")), ([305.0, 92.0, 885.0], [305.0, 76.0, 885.0]));
    }

    #[test]
    fn frames_too_narrow_to_be_seen_are_left_out() {
        let text = checked_svg(&folded_stacks(&[(&["wide"], 100_000), (&["narrow"], 1)]), "t");
        assert!(text.contains("wide") && !text.contains("narrow"), "{text}");
    }

    #[test]
    fn a_label_never_leaves_its_frame() {
        assert_eq!(label("copy_page", 6.0 + 9.0 * LETTER_WIDTH), "copy_page");
        assert_eq!(label("copy_page", 6.0 + 8.0 * LETTER_WIDTH), "copy_pa…");
        assert_eq!(label("copy_page", 6.0 + 2.0 * LETTER_WIDTH), "");
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</title><script>alert(1)</script><![CDATA[ \"'&\u{1b}\u{0}\u{ffff};x 3 4";
        let text = checked_svg(&folded_stacks(&[(&[hostile, hostile], 3)]), "]]></script><b onload='x'>");
        assert!(!text.contains("<script>alert") && !text.contains("<b "), "{text}");
        assert!(text.contains("(3 samples, 100.00%)"), "{text}");
    }
}
