//! Tests of the filter by language and text. It hides rows of tables and charts alike, shows how
//! many, works by keyboard, and leaves everything visible if scripts are off.

use super::Browser;
use crate::home::items;
use serde_json::{Value, json};

/// The names of the visible rows of all tables and all charts.
const VISIBLE_ROWS: &str = "[...document.querySelectorAll('tr[data-trial], g.row')].filter(it => it.checkVisibility({ contentVisibilityAuto: true }) \
    || it.closest('details:not([open])') && !it.hidden).map(it => it.dataset.trial)";

fn type_text(browser: &mut Browser, text: &str) {
    browser.ask("document.getElementById('filter-text').focus()");
    browser.call("Input.insertText", json!({ "text": text }));
}

#[test]
fn a_text_hides_rows_of_tables_and_charts_and_closes_the_gaps() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let all = browser.count(VISIBLE_ROWS);
    let height = "document.querySelector('#rates svg.chart').viewBox.baseVal.height";
    let before = browser.ask(height).as_f64().unwrap();
    type_text(&mut browser, "mmap");
    let seen = browser.count(VISIBLE_ROWS);
    assert!(0 < seen && seen < all, "{seen} of {all}");
    let others = "[...document.querySelectorAll('tr[data-trial], g.row')].filter(it => it.getBoundingClientRect().height > 0 \
        && !document.querySelector(`#methods [data-trial='${it.dataset.trial}']`).textContent.includes('mmap'))";
    assert_eq!(browser.count(others), 0, "only what was asked for");
    assert!(browser.ask(height).as_f64().unwrap() < before, "a chart becomes shorter");
    let tops = browser.ask(
        "[...document.querySelector('#rates svg.chart').querySelectorAll('g.row')].filter(it => it.style.display !== 'none') \
         .map(it => Number(/,([\\d.]+)/.exec(it.getAttribute('transform'))[1]))",
    );
    let tops: Vec<f64> = tops.as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    let expected: Vec<f64> = (0_u32..).map(|n| 30.0 + 40.0 * f64::from(n)).take(tops.len()).collect();
    assert_eq!(tops, expected, "no gap is left");
    let said = browser.text("document.getElementById('filter-count').textContent");
    assert!(said.contains(" methods shown, ") && said.ends_with(" hidden"), "{said}");
    browser.ask("document.querySelector('#filter button').click()");
    browser.ask("new Promise(done => setTimeout(done, 20))");
    while browser.ask("document.querySelector('#filter button').hidden") != json!(true) {}
    assert_eq!(browser.count(VISIBLE_ROWS), all);
    assert_eq!(browser.ask(height).as_f64().unwrap().to_bits(), before.to_bits());
    browser.assert_quiet();
}

#[test]
fn a_language_is_chosen_by_keyboard_and_every_control_has_a_name() {
    let Some(mut browser) = Browser::with_page("suite") else { return };
    browser.ask("document.getElementById('filter-text').focus()");
    browser.press("Tab", 9, "");
    let first = browser.ask("document.activeElement.value");
    assert_eq!(browser.ask("document.activeElement.type"), "checkbox");
    browser.press(" ", 32, " ");
    assert_eq!(browser.ask("document.activeElement.checked"), true);
    let seen = browser.ask(
        "[...new Set([...document.querySelectorAll('#ranking tr[data-trial]')].filter(it => !it.hidden) \
         .map(it => document.querySelector(`#methods [data-trial='${it.dataset.trial}']`).dataset.language))]",
    );
    assert_eq!(seen, json!([first]));
    let outline = browser.ask("getComputedStyle(document.activeElement.closest('label')).outlineStyle");
    assert_eq!(outline, "solid", "the focus is seen");
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let named = |role: &str| -> Vec<&str> {
        let nodes = items(&tree["nodes"]).iter().filter(|node| node["role"]["value"] == role);
        nodes.map(|node| node["name"]["value"].as_str().unwrap_or_default()).collect()
    };
    assert_eq!(named("searchbox"), ["Filter methods by name"]);
    assert!(named("checkbox").contains(&"Rust") && !named("checkbox").contains(&""));
    assert_eq!(named("search"), ["Filter the methods in tables and charts"]);
    assert_eq!(named("status").len(), 1);
    browser.assert_quiet();
}

#[test]
fn without_scripts_everything_is_visible() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let all = browser.count(VISIBLE_ROWS);
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.reload();
    assert_eq!(browser.ask("document.getElementById('filter').getBoundingClientRect().height"), 0);
    assert_eq!(browser.count(VISIBLE_ROWS), all);
    browser.assert_quiet();
}
