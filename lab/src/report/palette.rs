//! The colours, each for light and for dark, by the name that styles use.
//!
//! The hues are those of Okabe and Ito, *Color Universal Design* (2008), which people with any kind
//! of colour vision can distinguish; everything without a meaning is grey. A page refers to colours
//! as variables; a chart in its own file has them written in, because few programs except browsers
//! support variables.

/// One colour.
struct ThemeColor {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn color(name: &'static str, light: &'static str, dark: &'static str) -> ThemeColor {
    ThemeColor { name, light, dark }
}

const PALETTE: [ThemeColor; 16] = [
    color("paper", "#fcfbf9", "#15181c"),
    color("card", "#ffffff", "#1c2026"),
    color("ink", "#1d2329", "#e9ebee"),
    color("soft", "#59636e", "#a5afba"),
    color("rule", "#e6e3dd", "#2d333b"),
    color("grid", "#eceae5", "#272d34"),
    color("bar", "#cdd5dd", "#434e5a"),
    color("dot", "#5d6b78", "#aebbc8"),
    color("lead", "#0072b2", "#56b4e9"),
    color("lead-bar", "#8fc3e3", "#1f5f8b"),
    color("user", "#56b4e9", "#3a94cb"),
    color("system", "#e69f00", "#c98b00"),
    color("bound", "#b34a00", "#f0954f"),
    color("read", "#0072b2", "#56b4e9"),
    color("write", "#c85a00", "#f0a35e"),
    color("wash", "#eef5fa", "#1a2a36"),
];

/// The charts' style, in terms of the palette.
const CHART: &str = include_str!("chart.css");

/// The variables of a page: light, dark where the reader's system or the page's button says so,
/// light on paper.
pub(super) fn variables() -> String {
    let (light, dark) = (declared(|color| color.light), declared(|color| color.dark));
    format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
         @media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )
}

/// The style of charts inside a page.
pub(super) fn chart_style() -> &'static str {
    CHART
}

/// The style of a chart in a file of its own.
pub(super) fn standalone_style() -> String {
    let written_in = |of: fn(&ThemeColor) -> &'static str| {
        PALETTE.iter().fold(CHART.to_owned(), |style, color| {
            style.replace(&format!("var(--{})", color.name), of(color))
        })
    };
    let (light, dark) = (written_in(|color| color.light), written_in(|color| color.dark));
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

fn declared(of: fn(&ThemeColor) -> &'static str) -> String {
    PALETTE.iter().map(|color| format!("--{}:{};", color.name, of(color))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of `#rrggbb` (WCAG 2.2).
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn find(name: &str) -> &'static ThemeColor {
        PALETTE.iter().find(|color| color.name == name).unwrap()
    }

    #[test]
    fn text_can_be_read_in_both_themes() {
        for text in ["ink", "soft", "lead", "bound", "read", "write"] {
            for background in ["paper", "card"] {
                let (text, background) = (find(text), find(background));
                let limit = if text.name == "write" || text.name == "read" { 3.0 } else { 4.5 };
                let shown = [contrast(text.light, background.light), contrast(text.dark, background.dark)];
                assert!(
                    shown.iter().all(|&it| it >= limit),
                    "{} on {}: {shown:?}",
                    text.name,
                    background.name
                );
            }
        }
    }

    #[test]
    fn a_chart_that_stands_alone_has_no_variables_left() {
        assert!(!standalone_style().contains("var("), "{}", standalone_style());
    }
}
