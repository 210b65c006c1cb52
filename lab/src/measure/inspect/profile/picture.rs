//! Folded stacks drawn as a flame graph: an SVG file that can be searched and zoomed in a browser,
//! and needs nothing else.

use super::folded::{Folded, SEMICOLON};
use inferno::flamegraph::color::{MultiPalette, Palette};
use inferno::flamegraph::{Options, from_lines};

/// Draws the flame graph. Title and subtitle may contain anything: the drawing escapes them.
///
/// # Errors
/// If there is nothing to draw.
pub fn svg(folded: &Folded, title: &str, subtitle: &str) -> Result<String, String> {
    let mut options = Options::default();
    // Kernel, inlined, compiled at run time and all other frames each in a colour of its own.
    options.colors = Palette::Multi(MultiPalette::Java);
    // The same functions have the same colours in every picture.
    options.deterministic = true;
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    let lines = folded.lines();
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .map_err(|cause| format!("no flame graph can be drawn: {cause}"))?;
    let text = String::from_utf8(svg).map_err(|_| "the flame graph is not text".to_owned())?;
    Ok(text.replace(SEMICOLON, ";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture as a strict reader of XML sees it.
    fn drawn(folded: &Folded, title: &str) -> String {
        let text = svg(folded, title, "10 samples").unwrap();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        roxmltree::Document::parse_with_options(&text, options).unwrap_or_else(|error| panic!("{error}"));
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
    fn a_semicolon_within_a_name_stays_one() {
        let mut folded = Folded::default();
        folded.add(["main", "<[u8; 16] as Read>::read"], 9);
        let text = drawn(&folded, "t");
        assert!(text.contains("&lt;[u8; 16] as Read&gt;::read (9 samples, 100"), "{text}");
        assert_eq!(folded.hottest(1)[0].name, "<[u8; 16] as Read>::read");
        assert!(!text.contains(['\u{ff1b}', '\u{e03b}']), "{text}");
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</title><script>alert(1)</script><![CDATA[ \"'&\u{1b}\u{0}\u{ffff};x 3 4";
        let mut folded = Folded::default();
        folded.add([hostile, hostile], 3);
        let text = drawn(&folded, "]]></script><b onload='x'>");
        assert!(!text.contains("<script>alert") && !text.contains("<b "), "{text}");
        assert!(text.contains("(3 samples, 100%)") || text.contains("(3 samples, 100.00%)"), "{text}");
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(svg(&Folded::default(), "t", "s").is_err());
    }
}
