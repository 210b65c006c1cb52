//! Tests of the first screen: it answers what to use, how sure that is, in which language, and what
//! stops it, without scrolling.

use super::{Browser, page};
use serde_json::{Value, json};

/// The lowest edge of what is selected.
fn bottom(browser: &mut Browser, selector: &str) -> f64 {
    let lowest = format!(
        "Math.max(...[...document.querySelectorAll('{selector}')].map(it => it.getBoundingClientRect().bottom))"
    );
    browser.ask(&lowest).as_f64().unwrap_or_else(|| panic!("there is no {selector}"))
}

#[test]
fn the_first_screen_answers() {
    let Some(mut browser) = Browser::start() else { return };
    for name in ["made/race", "race", "byte-stream"] {
        let (_folder, file) = page(name);
        browser.screen(1280, 800);
        browser.open(&file);
        assert!(bottom(&mut browser, ".claim") <= 800.0, "{name}: the answer needs scrolling");
        let cards = browser.ask(
            "[...document.querySelectorAll('.claim')].map(it => ['.who', '.figure', '.language', 'dl'].map(part => it.querySelector(part).textContent))",
        );
        for card in cards.as_array().unwrap() {
            let parts: Vec<&str> = card.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(parts.len() == 4 && parts.iter().all(|part| !part.is_empty()), "{name}: {card}");
            assert!(parts[3].contains("How sure"), "{name}: {card}");
        }
        browser.screen(390, 844);
        browser.open(&file);
        assert!(
            bottom(&mut browser, ".claim:first-child .who") <= 844.0
                && bottom(&mut browser, ".claim:first-child dl") <= 844.0,
            "{name}: what to use needs scrolling on a telephone"
        );
    }
}

#[test]
fn warnings_are_below_the_answer_and_it_names_them() {
    let Some(mut browser) = Browser::start() else { return };
    let (_folder, file) = page("made/race");
    browser.open(&file);
    let link = browser.ask("document.querySelector('.warned a').getAttribute('href')");
    assert_eq!(link, "#warnings");
    let is_below = "document.getElementById('warnings').getBoundingClientRect().top > document.querySelector('.claims').getBoundingClientRect().bottom";
    assert_eq!(browser.ask(is_below), true);
}

#[test]
fn a_table_with_drawings_stays_a_table_on_a_telephone_and_shows_what_stops_a_method() {
    let Some(mut browser) = Browser::start() else { return };
    let (_folder, file) = page("made/race");
    for width in [390, 1280] {
        browser.width(width);
        browser.open(&file);
        let tree = browser.call("Accessibility.getFullAXTree", json!({}));
        let roles: Vec<&str> =
            tree["nodes"].as_array().unwrap().iter().filter_map(|it| it["role"]["value"].as_str()).collect();
        let rows = browser.ask("document.querySelectorAll('#ranking tbody tr').length").as_u64().unwrap();
        let found = roles.iter().filter(|role| **role == "rowheader").count();
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
    let Some(mut browser) = Browser::start() else { return };
    let (_folder, file) = page("made/race");
    browser.screen(1000, 1400);
    browser.open(&file);
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let controls = "[...document.querySelectorAll('.top, #filter')].map(it => getComputedStyle(it).display)";
    assert_eq!(browser.ask(controls), json!(["none", "none"]));
    let hidden = browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(hidden, 0, "cut at the right");
    let paper = browser.ask("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, "rgb(252, 251, 249)", "light on paper");
    // What is folded is printed as well.
    browser.ask("window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.ask("document.querySelectorAll('details:not([open])').length"), 0);
}
