//! The legend of a chart: the meanings of its marks, and the colours of the languages.

use super::super::groups;
use super::super::palette::language_class;
use super::super::svg;
use super::rows::WIDTH;
use readlab_analysis::stats::count_as_float;
use readlab_system::markup::Element;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyMark {
    Square,
    Disc,
    /// A square standing on a corner.
    Diamond,
    Line,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LegendKey {
    pub(super) mark: KeyMark,
    pub(super) class: String,
    pub(super) text: String,
}

const LINE_HEIGHT: f64 = 16.0;
const MARK_WIDTH: f64 = 14.0;
const LETTER_WIDTH: f64 = 6.4;
/// Space between two entries in a line.
const ENTRY_GAP: f64 = 14.0;

pub(super) struct Legend {
    pub(super) marks: Vec<Element>,
    pub(super) bottom: f64,
}

impl LegendKey {
    pub(super) fn new(mark: KeyMark, class: &str, text: &str) -> LegendKey {
        LegendKey { mark, class: class.to_owned(), text: text.to_owned() }
    }

    fn elements(&self, [x, base]: [f64; 2]) -> [Element; 2] {
        let middle = base - 4.0;
        let mark = match self.mark {
            KeyMark::Square => svg::bar(&self.class, [x, base - 9.0], [9.0, 9.0]),
            KeyMark::Disc => svg::disc(&self.class, [x + 4.5, middle], 4.0),
            KeyMark::Diamond => svg::diamond(&self.class, [x + 4.5, middle], 5.0),
            KeyMark::Line => svg::line(&self.class, [x, middle], [x + 10.0, middle]),
        };
        [mark, svg::text("tick start", [x + MARK_WIDTH, base], &self.text)]
    }
}

/// One entry for each language, in the order in which the languages first appear.
pub(super) fn language_keys<'a>(names: impl Iterator<Item = &'a str>) -> Vec<LegendKey> {
    let names = groups::firsts(names, |name| *name).into_iter();
    let class = |name| format!("solid {}", language_class(name));
    names.map(|name| LegendKey::new(KeyMark::Square, &class(name), name)).collect()
}

impl Legend {
    /// Lays out the entries from the left, in as many lines as needed; the first line starts at
    /// `top`.
    pub(super) fn at(top: f64, keys: &[LegendKey]) -> Legend {
        let (mut x, mut base) = (0.0, top + LINE_HEIGHT);
        let mut marks = Vec::new();
        for key in keys {
            let wide = MARK_WIDTH + count_as_float(key.text.chars().count()) * LETTER_WIDTH;
            if x > 0.0 && x + wide > WIDTH {
                (x, base) = (0.0, base + LINE_HEIGHT);
            }
            marks.extend(key.elements([x, base]));
            x += wide + ENTRY_GAP;
        }
        Legend { marks, bottom: base + 6.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_named_once_and_long_legends_take_several_lines() {
        let keys = language_keys(["Rust", "C", "Rust", "Fortran"].into_iter());
        let classes: Vec<&str> = keys.iter().map(|key| key.class.as_str()).collect();
        assert_eq!(classes, ["solid rust", "solid c", "solid other"]);
        let one = Legend::at(0.0, &keys).bottom;
        let many: Vec<LegendKey> = (0..30).map(|_| keys[0].clone()).collect();
        assert!(Legend::at(0.0, &many).bottom > one + LINE_HEIGHT);
    }
}
