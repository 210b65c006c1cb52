//! Draws the last ranking that a terminal showed during a race. `readlab-picture COLUMNS ROWS <
//! TYPESCRIPT` reads a typescript of script(1), and prints an SVG of the last ranking before the
//! tables. `make pictures` records and draws.

use anyhow::{Context, bail};
use avt::{Cell, Color, Line, Pen, Terminal};
use readlab_system::markup::{Element, element};
use std::io::Read;

/// The words with which a drawing of the ranking ends.
const RANKING_END: &str = "q ends: what is decided stands";
/// Width of a character, height of a line, and margin, in units of the picture.
const CHAR_WIDTH: usize = 8;
const LINE_HEIGHT: usize = 18;
const MARGIN: usize = 14;

/// Colours of a dark terminal, by their number: black, red, green, yellow, blue, magenta, cyan,
/// white.
const COLOURS: [&str; 8] =
    ["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"];
const STYLE: &str = "text { font: 13px ui-monospace, monospace; fill: #c9d1d9; white-space: pre; }";

fn main() -> anyhow::Result<()> {
    let words: Vec<usize> = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [columns, rows] = words[..] else { bail!("usage: readlab-picture COLUMNS ROWS < TYPESCRIPT") };
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let end = text.rfind(RANKING_END).context("no ranking was shown")? + RANKING_END.len();
    let mut terminal = Terminal::new(columns, rows).context("no terminal has this size")?;
    terminal.feed(&text[..end]);
    let lines: Vec<&Line> = terminal.screen().visible_lines().collect();
    let first = lines.iter().position(|line| line.text().contains("readlab")).unwrap_or(0);
    println!("{}", draw_lines(&lines[first..], columns));
    Ok(())
}

fn draw_lines(lines: &[&Line], columns: usize) -> String {
    let used = lines.iter().rposition(|line| !line.text().trim().is_empty()).map_or(0, |last| last + 1);
    let (width, height) = (2 * MARGIN + columns * CHAR_WIDTH, 2 * MARGIN + used * LINE_HEIGHT);
    let paper = element("rect").set("width", width).set("height", height).set("rx", 8).set("fill", "#0d1117");
    let texts = lines[..used].iter().enumerate().flat_map(|(row, line)| draw_line(row, line));
    element("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format!("0 0 {width} {height}"))
        .with(element("style").verbatim(STYLE))
        .with(paper)
        .with_all(texts)
        .render()
}

/// Draws the runs of a line with the same pen, each at its column.
fn draw_line(row: usize, line: &Line) -> Vec<Element> {
    let mut found = Vec::new();
    let mut column = 0;
    for run in line.cells().chunk_by(|a, b| a.pen() == b.pen()) {
        let text: String = run.iter().filter(|cell| cell.width() > 0).map(Cell::char).collect();
        if !text.trim().is_empty() {
            let (x, y) = (MARGIN + column * CHAR_WIDTH, MARGIN + row * LINE_HEIGHT + 13);
            let drawn = element("text").set("x", x).set("y", y).set("textLength", run.len() * CHAR_WIDTH);
            found.push(with_pen(drawn, run[0].pen()).text(&text));
        }
        column += run.len();
    }
    found
}

fn with_pen(drawn: Element, pen: &Pen) -> Element {
    let colour = match pen.foreground() {
        Some(Color::Indexed(number)) => COLOURS.get(usize::from(number) % 8).copied(),
        Some(Color::RGB(_)) | None => None,
    };
    drawn
        .set_if_some("style", colour.map(|colour| format!("fill: {colour}")))
        .set_if_some("font-weight", pen.is_bold().then_some("bold"))
        .set_if_some("opacity", pen.is_faint().then_some("0.6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coloured_line_is_drawn_at_its_columns() {
        let mut terminal = Terminal::new(20, 3).unwrap();
        terminal.feed("a \x1b[32m<b>\x1b[0m\r\n\r\n");
        let lines: Vec<&Line> = terminal.screen().visible_lines().collect();
        let svg = draw_lines(&lines, 20);
        assert!(svg.contains("style=\"fill: #7ee787\">&lt;b&gt;</text>"), "{svg}");
        assert!(svg.contains(&format!("x=\"{}\"", MARGIN + 2 * CHAR_WIDTH)), "{svg}");
        assert!(svg.contains(&format!("viewBox=\"0 0 188 {}\"", 2 * MARGIN + LINE_HEIGHT)), "{svg}");
    }
}
