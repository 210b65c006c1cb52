//! Tests of pages in a real browser. They sort, have two themes, fit a telephone, make no requests
//! and log no errors.

mod chromium;
mod filter;
mod first_screen;

use crate::home::{items, paths_in};
use crate::repository::record_file;
use chromium::Browser;
use readlab_record::testing::scripted;
use serde_json::{Value, json};

/// The texts of a column of the first table, from top to bottom.
fn column(n: u32) -> String {
    format!(
        "[...document.querySelectorAll('#ranking table')[0].tBodies[0].rows].map(row => row.cells[{n}].textContent)"
    )
}

/// Column numbers in a table of the ranking.
const RATIO_COLUMN: u32 = 3;
const RATE_COLUMN: u32 = 4;

#[test]
fn a_table_sorts_by_mouse_and_by_key() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let fastest_first = browser.ask(&column(0));
    assert_eq!(fastest_first[0], "mmap avx2 · threads=2");
    let head = |n: u32| format!("document.querySelectorAll('#ranking table')[0].tHead.rows[0].cells[{n}]");
    let click = |n: u32| format!("{}.querySelector('button').click()", head(n));
    let order = |n: u32| format!("{}.getAttribute('aria-sort')", head(n));
    // The largest rate is the best, so the first click brings the smallest to the top.
    browser.ask(&click(RATE_COLUMN));
    assert_eq!(browser.ask(&order(RATE_COLUMN)), "ascending");
    assert_eq!(browser.ask(&column(0))[0], "wc -l", "by value, not by the first digit");
    browser.ask(&format!("{}.querySelector('button').focus()", head(RATE_COLUMN)));
    browser.press("Enter", 13, "\r");
    assert_eq!(browser.ask(&order(RATE_COLUMN)), "descending");
    assert_eq!(browser.ask(&column(0)), fastest_first);
    browser.ask(&click(0));
    assert_eq!(browser.ask(&order(RATE_COLUMN)), "none");
    let by_name = browser.ask(&column(0));
    let names: Vec<&str> = items(&by_name).iter().filter_map(Value::as_str).collect();
    let reads = ["read avx2 · buffer=1MiB", "read avx2 · buffer=4KiB", "read avx2 · buffer=64KiB"];
    assert_eq!(names, [&["mmap avx2 · threads=2"], &reads[..], &["wc -l"]].concat());
    // The baseline has no ratio to itself, so it stays at the end in both orders.
    for _ in 0..2 {
        browser.ask(&click(RATIO_COLUMN));
        assert_eq!(browser.ask(&column(0))[4], "wc -l");
    }
    browser.assert_quiet();
}

#[test]
fn both_themes_are_drawn_and_the_button_changes_them() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let background = "getComputedStyle(document.body).backgroundColor";
    let bar = "getComputedStyle(document.querySelector('.chart .bar')).fill";
    let mut seen = Vec::new();
    for theme in ["light", "dark"] {
        browser.prefer(theme);
        browser.reload();
        seen.push((browser.ask(background), browser.ask(bar)));
        assert_eq!(browser.ask("getComputedStyle(document.documentElement).colorScheme"), theme);
    }
    assert!(seen[0].0 != seen[1].0 && seen[0].1 != seen[1].1, "{seen:?}");
    assert_eq!(browser.ask("document.getElementById('theme').textContent"), "Light");
    browser.ask("document.getElementById('theme').click()");
    assert_eq!((browser.ask(background), browser.ask(bar)), seen[0], "the button goes against the system");
    assert_eq!(browser.ask("document.getElementById('theme').textContent"), "Dark");
    browser.assert_quiet();
}

#[test]
fn pages_fit_their_window_and_can_be_read_on_a_telephone() {
    let Some(mut browser) = Browser::start() else { return };
    for name in ["race", "sweep", "suite", "failures"] {
        browser.show(name);
        for width in [390, 768, 1280] {
            browser.width(width);
            browser.reload();
            browser.ask("document.querySelectorAll('details').forEach(part => { part.open = true })");
            browser.assert_fits();
            let smallest = browser.ask(
                "Math.min(99, ...[...document.querySelectorAll('svg text')].map(it => it.getBoundingClientRect().height))",
            );
            assert!(smallest.as_f64().unwrap() >= 9.0, "{name}: letters of {smallest} pixels at {width}");
        }
        browser.assert_quiet();
    }
}

/// An expression for texts that a line of the same chart crosses, or that are cut off.
const CROSSED_TEXTS: &str = "[...document.querySelectorAll('svg.chart')].flatMap(chart => { \
    const box = it => it.getBoundingClientRect(); \
    const lines = [...chart.querySelectorAll('.bound')].map(box); \
    return [...chart.querySelectorAll('text')].filter(text => { const t = box(text); \
        return lines.some(l => l.left > t.left + 1 && l.left < t.right - 1 && l.top < t.bottom - 2 && l.bottom > t.top + 2); \
    }).map(text => text.textContent) })";

#[test]
fn no_line_of_a_limit_goes_through_a_text() {
    let Some(mut browser) = Browser::with_page("inside") else { return };
    assert!(browser.count("document.querySelectorAll('.bound')") > 1, "a limit is drawn");
    assert_eq!(browser.ask(CROSSED_TEXTS), json!([]));
}

#[test]
fn calls_without_bytes_are_not_counted_among_those_with_bytes() {
    let Some(mut browser) = Browser::with_page("inside") else { return };
    let sizes = browser.text(
        "[...document.querySelectorAll('#inside svg')].find(it => it.querySelector('title').textContent.includes('brought any')).querySelector('desc').textContent",
    );
    // `wc` makes 27 calls and `read` 3. The last of them find the end of the file.
    assert!(sizes.contains("wc -l: 26 calls") && sizes.contains("read memchr: 2 calls"), "{sizes}");
    assert!(browser.text("document.getElementById('inside').textContent").contains("27 × 2.56 µs"));
}

#[test]
fn every_section_can_be_reached_and_no_number_is_broken() {
    let Some(mut browser) = Browser::start() else { return };
    for name in ["race", "inside", "sweep"] {
        browser.show(name);
        for width in [320, 390, 700, 1000, 1280] {
            browser.width(width);
            browser.reload();
            let hidden = browser.ask(
                "[...document.querySelectorAll('.top a')].filter(it => { \
                    const link = it.getBoundingClientRect(); \
                    const there = document.elementFromPoint(link.right - 2, (link.top + link.bottom) / 2); \
                    return there !== it }).map(it => it.textContent)",
            );
            assert_eq!(hidden, json!([]), "{name}: cut at {width}");
            // A number and its unit are on one line, so each word of a card has one box.
            let broken = browser.ask(
                "[...document.querySelectorAll('.claim .figure, .claim small, .claim .against')].flatMap(it => \
                    [...it.childNodes].filter(node => node.nodeType === 3).flatMap(node => \
                        [...node.data.matchAll(/[^ ]+/g)].filter(word => { const range = document.createRange(); \
                            range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length); \
                            return range.getClientRects().length > 1 }).map(word => word[0])))",
            );
            assert_eq!(broken, json!([]), "{name}: broken at {width}");
            let spaces = browser.ask(
                "[...document.querySelectorAll('.claim .figure, .claim .against')].map(it => it.textContent).filter(it => /[0-9] [A-Za-z]+\\/s/.test(it))",
            );
            assert_eq!(spaces, json!([]), "{name}: a number may part from its unit");
        }
    }
}

#[test]
fn a_comparison_is_a_separate_page() {
    let Some(mut browser) = Browser::start() else { return };
    let slower = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "sample" && line["trial"] == 4 {
            line["wall_ns"] = (line["wall_ns"].as_u64().unwrap() * 2).into();
        }
        line.to_string() + "\n"
    };
    let race = scripted::text("race").replace("Example CPU", "<b>Other</b> CPU");
    let other = browser.home.file("other.jsonl", race.lines().map(slower).collect::<String>());
    let words = "--export-html page.html --metric wall,cpu";
    let (one, other) = (record_file("race"), other.display());
    browser.home.readlab(format!("compare {} {other} {words}", one.display())).exits(0);
    let page = browser.home.at("page.html");
    for (width, theme) in [(390, "dark"), (1280, "light")] {
        browser.width(width);
        browser.prefer(theme);
        browser.open(&page);
        browser.assert_fits();
        browser.assert_quiet();
    }
    let told = "By wall time, B is better than A in 0, worse in 1 and not clearly either in 9 of 10 cases.";
    assert_eq!(browser.text("document.querySelector('h1').textContent"), told);
    let row = browser.ask(
        "[...document.querySelectorAll('#wall tbody tr')].map(row => [...row.cells].map(it => it.textContent)).filter(row => row[3].startsWith('0.5'))",
    );
    assert!(row[0][3].as_str().unwrap().starts_with("0.500 ["), "a ratio with its interval: {row}");
    assert_eq!(browser.ask("document.querySelectorAll('#wall svg, #cpu svg').length"), 4);
    let machines = browser.text("document.getElementById('machines').textContent");
    assert!(machines.contains("<b>Other</b> CPU"), "{machines}");
    let head = "document.querySelector('#wall table').tHead.rows[0].cells[3]";
    browser.ask(&format!("{head}.querySelector('button').click()"));
    assert_eq!(browser.ask(&format!("{head}.getAttribute('aria-sort')")), "ascending");
    browser.assert_quiet();
}

#[test]
fn a_record_of_failures_shows_names_as_text() {
    let Some(mut browser) = Browser::with_page("failures") else { return };
    assert_eq!(browser.ask("document.querySelectorAll('script').length"), 3);
    assert_eq!(browser.ask("document.title.includes('owned')"), false);
    let text = browser.text("document.getElementById('unmeasured').textContent");
    assert!(text.contains("cat <script>alert(1)</script>"), "{text}");
    assert_eq!(browser.ask("document.querySelector('h1').textContent"), "Nothing was measured.");
    browser.assert_quiet();
}

#[test]
fn every_control_has_a_name_and_the_first_tab_skips_to_the_answer() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let nameless = "[...document.querySelectorAll('button, a, svg:not([aria-hidden]), input, form, [role=region], nav, table')].filter(it => !(it.getAttribute('aria-label') || it.getAttribute('aria-labelledby') || it.textContent.trim() || (it.labels || [])[0]?.textContent.trim())).length";
    assert_eq!(browser.ask(nameless), 0);
    assert_eq!(browser.ask("document.querySelectorAll('table:not(:has(caption))').length"), 0);
    browser.press("Tab", 9, "");
    assert_eq!(browser.ask("document.activeElement.textContent"), "Skip to the answer");
}

#[test]
fn charts_open_without_their_page() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    for chart in paths_in(browser.home.at("charts")) {
        browser.open(&chart);
        assert_eq!(browser.ask("document.documentElement.nodeName"), "svg");
        assert_eq!(browser.count("document.querySelectorAll('parsererror')"), 0, "{}", chart.display());
        let paper = browser.ask("getComputedStyle(document.querySelector('.paper')).fill");
        assert_eq!(paper, "rgb(252, 251, 249)", "{}", chart.display());
        browser.assert_quiet();
    }
}
