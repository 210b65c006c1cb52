//! The colours of charts and pages, each with its name in the style sheets and its values for the
//! light and the dark theme.
//!
//! In a chart, colour means the language of a method and nothing else; all other distinctions are
//! shapes, positions and words. The colours of the languages can be distinguished with any kind of
//! colour vision, and each row also names its language in words. A page refers to colours as
//! variables of CSS. A chart in its own file contains their values, because few programs other than
//! browsers support such variables.

struct ThemeColor {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn color(name: &'static str, light: &'static str, dark: &'static str) -> ThemeColor {
    ThemeColor { name, light, dark }
}

const PALETTE: [ThemeColor; 18] = [
    color("paper", "#fcfbf9", "#15181c"),
    color("card", "#ffffff", "#1c2026"),
    color("ink", "#1d2329", "#e9ebee"),
    color("soft", "#59636e", "#a5afba"),
    color("rule", "#e6e3dd", "#2d333b"),
    color("grid", "#e4e1da", "#2f363e"),
    color("wash", "#f3f1ec", "#20252b"),
    color("edge", "#8a929b", "#7a8590"),
    color("rust", "#bd7a4c", "#ed8422"),
    color("c", "#124abe", "#65befe"),
    color("cpp", "#9c74f1", "#7b67e4"),
    color("go", "#289eb6", "#32f2ff"),
    color("java", "#a0044f", "#d14513"),
    color("javascript", "#876319", "#feb805"),
    color("python", "#1f4f0d", "#bbe5a6"),
    color("swift", "#7c1582", "#a35d90"),
    color("commands", "#6b7480", "#98a2ad"),
    color("other", "#6b7480", "#98a2ad"),
];

/// The languages that have their own colour, with the CSS class of each.
const LANGUAGE_CLASSES: [(&str, &str); 9] = [
    ("Rust", "rust"),
    ("C", "c"),
    ("C++", "cpp"),
    ("Go", "go"),
    ("Java", "java"),
    ("JavaScript", "javascript"),
    ("Python", "python"),
    ("Swift", "swift"),
    ("commands", "commands"),
];

/// The CSS class that sets the colour of a language. Languages without their own colour are grey,
/// like commands.
pub(super) fn language_class(language: &str) -> &'static str {
    LANGUAGE_CLASSES.iter().find(|(name, _)| *name == language).map_or("other", |(_, class)| *class)
}

/// The style sheet of charts, which refers to the colours of the palette as variables.
pub(super) const CHART_STYLE: &str = include_str!("chart.css");

/// The colour variables of a page: light by default and on paper; dark if the reader's system
/// prefers the dark theme, or if the reader chose it with the button.
pub(super) fn color_variables() -> String {
    let (light, dark) = (declarations(|color| color.light), declarations(|color| color.dark));
    format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
         @media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )
}

pub(super) fn standalone_style() -> String {
    let written_in = |of: fn(&ThemeColor) -> &'static str| {
        PALETTE.iter().fold(CHART_STYLE.to_owned(), |style, color| {
            style.replace(&format!("var(--{})", color.name), of(color))
        })
    };
    let (light, dark) = (written_in(|color| color.light), written_in(|color| color.dark));
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

fn declarations(of: fn(&ThemeColor) -> &'static str) -> String {
    PALETTE.iter().map(|color| format!("--{}:{};", color.name, of(color))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The linear intensities of red, green and blue of a colour `#rrggbb`.
    fn linear_rgb(hex: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(hex: &str) -> f64 {
        let [red, green, blue] = linear_rgb(hex);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn palette_color(name: &str) -> &'static ThemeColor {
        PALETTE.iter().find(|color| color.name == name).unwrap()
    }

    #[test]
    fn text_can_be_read_in_both_themes() {
        for text in ["ink", "soft"] {
            for background in ["paper", "card", "wash"] {
                let (text, background) = (palette_color(text), palette_color(background));
                let shown = [contrast(text.light, background.light), contrast(text.dark, background.dark)];
                assert!(shown.iter().all(|&it| it >= 4.5), "{} on {}: {shown:?}", text.name, background.name);
            }
        }
    }

    /// The matrices of colour vision without a deficiency, and with a complete deficiency of the
    /// cones for long, medium and short wavelengths (Machado, Oliveira and Fernandes 2009).
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn matrix_times(matrix: &[[f64; 3]; 3], to: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(to).map(|(a, b)| a * b).sum())
    }

    /// The Oklab coordinates (Ottosson 2020) of a colour as this vision sees it.
    fn oklab_as_seen(hex: &str, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let light = matrix_times(vision, linear_rgb(hex)).map(|it| it.clamp(0.0, 1.0));
        let cones = [
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ];
        let lab = [
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ];
        matrix_times(&lab, matrix_times(&cones, light).map(f64::cbrt))
    }

    #[test]
    fn colours_of_languages_differ_for_all_colour_visions_and_on_paper() {
        for theme in [|it: &ThemeColor| it.light, |it: &ThemeColor| it.dark] {
            for (at, (_, name)) in LANGUAGE_CLASSES.iter().enumerate() {
                let own = theme(palette_color(name));
                for background in ["paper", "card"] {
                    let background = theme(palette_color(background));
                    assert!(contrast(own, background) >= 3.0, "{name} {own} on {background}");
                }
                let others = LANGUAGE_CLASSES[at + 1..].iter().map(|(_, other)| other);
                for (other, vision) in others.flat_map(|it| VISIONS.iter().map(move |v| (it, v))) {
                    let [a, b] = [own, theme(palette_color(other))].map(|hex| oklab_as_seen(hex, vision));
                    let distance = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(distance > 0.085, "{name} and {other}: {distance}");
                }
            }
        }
    }

    #[test]
    fn every_language_has_a_colour() {
        assert_eq!(language_class("Fortran"), "other");
        for class in LANGUAGE_CLASSES.iter().map(|(_, class)| class).chain(&["other"]) {
            assert!(CHART_STYLE.contains(&format!(".{class}{{color:var(--{class})}}")), "{class}");
        }
    }

    #[test]
    fn a_chart_that_stands_alone_has_no_variables_left() {
        assert!(!standalone_style().contains("var("), "{}", standalone_style());
    }
}
