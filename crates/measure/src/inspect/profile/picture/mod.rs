//! Folded stacks drawn as a flame graph: an SVG file that can be searched and zoomed in a browser,
//! and needs nothing else.
//!
//! Drawn here and not by a crate, because the known one puts scripts of a licence of their own into
//! every picture, which users hand on.

mod frames;

use super::folded::{Folded, Origin};
use frames::{Frame, frames};
use readlab_system::markup::{self, Element, element, words};
use xxhash_rust::xxh3::xxh3_64;

/// Sizes in units of the picture.
const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: f64 = 16.0;
const HEAD: f64 = 76.0;
/// A letter of a label takes so much.
const LETTER: f64 = 7.0;
/// Frames below this width cannot be seen, and would make most of the file.
const NARROWEST: f64 = 0.1;

/// What zooms and searches; it knows the sizes above by the attributes of the picture.
const SCRIPT: &str = concat!("//<![CDATA[\n", include_str!("flame.js"), "//]]>");
const STYLE: &str = include_str!("flame.css");

/// The scale of a picture: samples across, callers from the bottom up.
struct Scale {
    samples: u64,
    depth: usize,
}

/// Draws the flame graph. Title and subtitle may contain anything: the drawing escapes them.
pub fn svg(folded: &Folded, title: &str, subtitle: &str) -> Result<String, String> {
    if folded.samples() == 0 {
        return Err("no flame graph can be drawn: there are no samples".to_owned());
    }
    let frames = frames(folded);
    let depth = frames.iter().map(|frame| frame.depth).max().unwrap_or(0);
    let scale = Scale { samples: folded.samples(), depth };
    let height = scale.top(0) + ROW + MARGIN;
    let seen = frames.iter().filter(|frame| scale.width(frame) >= NARROWEST);
    let picture = element("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format!("0 0 {WIDTH} {height}"))
        .set("data-samples", scale.samples)
        .set("data-margin", MARGIN)
        .set("data-width", WIDTH - 2.0 * MARGIN)
        .set("data-letter", LETTER)
        .with(words("title", title))
        .with(element("style").verbatim(STYLE))
        .with(element("rect").class("paper").set("width", WIDTH).set("height", height))
        .with(words("text", title).class("title").set("x", WIDTH / 2.0).set("y", 24))
        .with(words("text", subtitle).class("subtitle").set("x", WIDTH / 2.0).set("y", 44))
        .all(controls())
        .all(legend())
        .all(seen.map(|frame| scale.drawn(frame)))
        .with(element("script").verbatim(SCRIPT));
    Ok(markup::picture(picture))
}

/// What can be pressed, and where the share of what was found is shown.
fn controls() -> [Element; 3] {
    let button = |id, word: &str, x| {
        words("text", word)
            .class("button")
            .set("id", id)
            .set("x", x)
            .set("y", 64)
            .set("role", "button")
            .set("tabindex", 0)
    };
    let found = words("text", "").class("found").set("id", "found").set("x", WIDTH - MARGIN).set("y", 64);
    [button("reset", "Reset zoom", MARGIN), button("search", "Search", MARGIN + 90.0), found]
}

/// What the colours mean.
fn legend() -> impl Iterator<Item = Element> {
    let kinds = [
        (Origin::Kernel, "kernel"),
        (Origin::Inlined, "inlined"),
        (Origin::Compiled, "compiled at run time"),
        (Origin::Program, "other"),
    ];
    kinds.into_iter().zip([400.0, 480.0, 560.0, 740.0]).flat_map(|((origin, word), x)| {
        let square = element("rect").set("x", x).set("y", 55).set("width", 10).set("height", 10);
        [square.set("fill", fill(origin, word)), words("text", word).set("x", x + 15.0).set("y", 64)]
    })
}

#[expect(clippy::cast_precision_loss, reason = "places of some thousand samples")]
impl Scale {
    fn unit(&self) -> f64 {
        (WIDTH - 2.0 * MARGIN) / self.samples as f64
    }

    fn width(&self, frame: &Frame) -> f64 {
        frame.samples as f64 * self.unit()
    }

    /// Where the row of a depth begins.
    fn top(&self, depth: usize) -> f64 {
        HEAD + (self.depth - depth) as f64 * ROW
    }

    fn drawn(&self, frame: &Frame) -> Element {
        let (x, y, width) =
            (MARGIN + frame.first as f64 * self.unit(), self.top(frame.depth), self.width(frame));
        let share = 100.0 * frame.samples as f64 / self.samples as f64;
        let about = format!("{} ({} samples, {share:.2}%)", frame.name, frame.samples);
        let rectangle = element("rect")
            .set("x", format!("{x:.1}"))
            .set("y", y)
            .set("width", format!("{width:.1}"))
            .set("height", ROW - 1.0)
            .set("fill", fill(frame.origin, frame.name));
        element("g")
            .class("frame")
            .set("data-name", frame.name)
            .set("data-first", frame.first)
            .set("data-samples", frame.samples)
            .set("data-depth", frame.depth)
            .with(words("title", &about))
            .with(rectangle)
            .with(
                words("text", &label(frame.name, width))
                    .set("x", format!("{:.1}", x + 3.0))
                    .set("y", y + 11.5),
            )
    }
}

/// As much of a name as a width has place for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
fn label(name: &str, width: f64) -> String {
    let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
    if letters < 3 {
        return String::new();
    }
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

/// A colour for what a frame is, in a shade by its name: the same function has the same colour in
/// every picture.
fn fill(origin: Origin, name: &str) -> String {
    let shade = 62 + xxh3_64(name.as_bytes()) % 14;
    let hue = match origin {
        Origin::Kernel => 30,
        Origin::Inlined => 180,
        Origin::Compiled => 110,
        Origin::Program => 5,
    };
    format!("hsl({hue} 75% {shade}%)")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture as a strict reader of XML sees it.
    fn drawn(folded: &Folded, title: &str) -> String {
        let text = svg(folded, title, "10 samples").unwrap();
        roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        text
    }

    #[test]
    fn functions_are_drawn_with_their_shares() {
        let mut folded = Folded::default();
        folded.add(["wc", "main", "read"], 9);
        folded.add(["wc", "main"], 1);
        let text = drawn(&folded, "command/wc -l");
        assert!(text.contains("read (9 samples, 90.00%)") && text.contains("command/wc -l"), "{text}");
    }

    #[test]
    fn a_frame_has_the_place_of_its_samples_above_its_caller() {
        let mut folded = Folded::default();
        folded.add(["a"], 1);
        folded.add(["b", "c"], 3);
        let text = drawn(&folded, "t");
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
    fn what_nobody_could_see_is_left_out() {
        let mut folded = Folded::default();
        folded.add(["wide"], 100_000);
        folded.add(["narrow"], 1);
        let text = drawn(&folded, "t");
        assert!(text.contains("wide") && !text.contains("narrow"), "{text}");
    }

    #[test]
    fn a_label_never_leaves_its_frame() {
        assert_eq!(label("copy_page", 6.0 + 9.0 * LETTER), "copy_page");
        assert_eq!(label("copy_page", 6.0 + 8.0 * LETTER), "copy_pa…");
        assert_eq!(label("copy_page", 6.0 + 2.0 * LETTER), "");
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</title><script>alert(1)</script><![CDATA[ \"'&\u{1b}\u{0}\u{ffff};x 3 4";
        let mut folded = Folded::default();
        folded.add([hostile, hostile], 3);
        let text = drawn(&folded, "]]></script><b onload='x'>");
        assert!(!text.contains("<script>alert") && !text.contains("<b "), "{text}");
        assert!(text.contains("(3 samples, 100.00%)"), "{text}");
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(svg(&Folded::default(), "t", "s").is_err());
    }
}
