//! Tests of the first screen. Without scrolling, it shows which method to use in which language,
//! how certain that is, and what limits it.

use super::Browser;
use crate::home::items;
use serde_json::{Value, json};

/// The lowest edge of the selected elements.
fn bottom(browser: &mut Browser, selector: &str) -> f64 {
    let lowest = format!(
        "Math.max(...[...document.querySelectorAll('{selector}')].map(it => it.getBoundingClientRect().bottom))"
    );
    browser.ask(&lowest).as_f64().unwrap_or_else(|| panic!("there is no {selector}"))
}

#[test]
fn the_first_screen_shows_the_answer() {
    let Some(mut browser) = Browser::start() else { return };
    for name in ["race", "suite", "stopped"] {
        browser.screen(1280, 800);
        browser.show(name);
        assert!(bottom(&mut browser, ".claim") <= 800.0, "{name}: the answer needs scrolling");
        let cards = browser.ask(
            "[...document.querySelectorAll('.claim')].map(it => ['.who', '.figure', '.language', 'dl'].map(part => it.querySelector(part).textContent))",
        );
        for card in items(&cards) {
            let parts: Vec<&str> = items(card).iter().filter_map(Value::as_str).collect();
            assert!(parts.len() == 4 && parts.iter().all(|part| !part.is_empty()), "{name}: {card}");
            assert!(parts[3].contains("How sure"), "{name}: {card}");
        }
        browser.screen(390, 844);
        browser.reload();
        for part in [".claim:first-child .who", ".claim:first-child dl"] {
            assert!(bottom(&mut browser, part) <= 844.0, "{name}: {part} needs scrolling on a telephone");
        }
    }
}

#[test]
fn warnings_are_below_the_answer_and_it_names_them() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    let link = browser.ask("document.querySelector('.warned a').getAttribute('href')");
    assert_eq!(link, "#warnings");
    let is_below = "document.getElementById('warnings').getBoundingClientRect().top > document.querySelector('.claims').getBoundingClientRect().bottom";
    assert_eq!(browser.ask(is_below), true);
}

#[test]
fn a_table_with_drawings_stays_a_table_on_a_telephone_and_shows_the_limits() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    for width in [390, 1280] {
        browser.width(width);
        browser.reload();
        let tree = browser.call("Accessibility.getFullAXTree", json!({}));
        let rows = browser.count("document.querySelectorAll('#ranking tbody tr')");
        let found = items(&tree["nodes"]).iter().filter(|it| it["role"]["value"] == "rowheader").count();
        assert!(found as u64 >= rows, "{width}: {found} rows of {rows}");
        let hidden = browser.ask(
            "[...document.querySelectorAll('#ranking td.word')].filter(it => it.getBoundingClientRect().width < 10).length",
        );
        assert_eq!(hidden, 0, "{width}: what stops a method is not seen");
        let narrow = browser.ask(
            "[...document.querySelectorAll('#ranking .strip')].filter(it => it.getBoundingClientRect().width < 150).length",
        );
        assert_eq!(narrow, 0, "{width}: no room for the intervals");
    }
}

#[test]
fn on_paper_there_are_no_controls_and_nothing_is_cut() {
    let Some(mut browser) = Browser::with_page("race") else { return };
    browser.screen(1000, 1400);
    browser.reload();
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let controls = "[...document.querySelectorAll('.top, #filter')].map(it => getComputedStyle(it).display)";
    assert_eq!(browser.ask(controls), json!(["none", "none"]));
    browser.assert_fits();
    let paper = browser.ask("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, "rgb(252, 251, 249)", "light on paper");
    // Folded content is printed as well.
    browser.ask("window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.ask("document.querySelectorAll('details:not([open])').length"), 0);
}
