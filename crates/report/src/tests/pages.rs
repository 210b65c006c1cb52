//! Pages and charts of hand-made records: well-formed, safe, small, and consistent with their
//! intervals.

use super::page_records::{
    all_pages, page_with_limit, race_of_buffer_sizes, race_of_many_readings, race_with_counts,
    scripted_records, sweep_page, swept_record, swept_record_above_a_cache,
};
use super::*;
use crate as report;
use crate::svg_files;
use readlab_record::testing::latencies;
use readlab_record::{LeftBehind, TurnLatencies};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::{BTreeMap, BTreeSet};

fn parse_xml(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn elements_named<'a, 'i>(
    document: &'a Document<'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    document.descendants().filter(move |node| node.tag_name().name() == name)
}

/// The page as terminal text, Markdown and HTML, with ordinary spaces in place of non-breaking
/// ones.
fn text_in_each_format(page: &Page) -> [String; 3] {
    let terminal = terminal_page(page, Style { width: 120, may_use_color: false }, None);
    [terminal, markdown(page), report::html(page)].map(|text| text.replace('\u{a0}', " "))
}

fn chart(page: &Page, name: &str) -> String {
    let found = svg_files(page).into_iter().find(|(slug, _)| slug == name);
    let (_, text) = found.unwrap_or_else(|| panic!("no chart {name}"));
    // The style is the same in all charts and has its own tests.
    let (front, rest) = text.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    format!("{front}{rest}").replace("><", ">\n<")
}

#[test]
fn the_charts_of_a_race() {
    let page = Page::from_record(&race_with_counts());
    insta::assert_snapshot!("chart_ranking", chart(&page, "ranking-1-warm"));
    insta::assert_snapshot!("chart_effort", chart(&page, "effort-0-cold"));
    insta::assert_snapshot!("chart_rounds", chart(&page, "rounds-1-warm"));
    insta::assert_snapshot!("chart_bounded", chart(&page_with_limit(), "ranking-1-warm"));
}

#[test]
fn the_charts_of_a_sweep_and_of_settings() {
    insta::assert_snapshot!("chart_sweep_rate", chart(&sweep_page(), "sweep-0-rate"));
    insta::assert_snapshot!("chart_sweep_time", chart(&sweep_page(), "sweep-1-time"));
    insta::assert_snapshot!(
        "chart_settings",
        chart(&Page::from_record(&race_of_buffer_sizes(10)), "parameter-0-warm")
    );
}

#[test]
fn the_body_of_a_page() {
    for (name, record) in [("page_race", race_with_counts()), ("page_failures", failures())] {
        let text = report::html(&Page::from_record(&record));
        let (_, main) = text.split_once("<main>").unwrap();
        let (main, _) = main.split_once("<script>").unwrap();
        let mut outside = String::new();
        for part in main.split("<svg") {
            outside += part.rsplit("</svg>").next().unwrap();
        }
        insta::assert_snapshot!(name, outside.replace("><", ">\n<"));
    }
}

#[test]
fn every_page_and_chart_is_well_formed_with_ids_of_its_own() {
    for (name, page) in all_pages() {
        let text = report::html(&page);
        let document = parse_xml(&text);
        let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        let set: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), set.len(), "{name}: {ids:?}");
        for node in document.descendants() {
            let labels = node.attribute("aria-labelledby").into_iter().flat_map(str::split_whitespace);
            let link = node.attribute("href").and_then(|href| href.strip_prefix('#'));
            for id in labels.chain(link) {
                assert!(set.contains(id), "{name}: nothing has the id {id}");
            }
        }
        for (slug, chart) in svg_files(&page) {
            let title = parse_xml(&chart).root_element().first_element_child().unwrap().text().map(str::len);
            assert!(title > Some(0), "{name} {slug} has no title");
        }
    }
}

#[test]
fn every_coordinate_is_a_number_inside_its_chart() {
    for (name, page) in all_pages() {
        for (slug, chart) in svg_files(&page) {
            let document = parse_xml(&chart);
            for node in document.descendants() {
                for attribute in ["x", "y", "x1", "y1", "x2", "y2", "width", "height"] {
                    let Some(text) = node.attribute(attribute) else { continue };
                    let value: f64 =
                        text.parse().unwrap_or_else(|_| panic!("{name} {slug}: {attribute}={text}"));
                    assert!(value.is_finite() && value.abs() < 5_000.0, "{name} {slug}: {attribute}={text}");
                }
                let path = node.attribute("d").unwrap_or("");
                let numbers =
                    path.split(|c: char| c.is_alphabetic() || c == ' ').filter(|part| !part.is_empty());
                assert!(
                    numbers.clone().all(|it| it.parse::<f64>().is_ok_and(f64::is_finite)),
                    "{name} {slug}: {path}"
                );
                assert!(!path.contains("NaN") && !path.contains("inf"), "{name} {slug}: {path}");
            }
        }
        let text = report::html(&page);
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| ["NaN", "inf"].contains(word));
        assert_eq!(words.count(), 0, "{name}");
    }
}

#[test]
fn names_of_files_and_commands_stay_text() {
    let page = Page::from_record(&failures());
    let text = report::html(&page);
    let document = parse_xml(&text);
    assert_eq!(elements_named(&document, "script").count(), 3, "the theme, the sorting and the filter");
    let shown = |part: &str| document.descendants().filter_map(|it| it.text()).any(|it| it.contains(part));
    assert!(shown("<script>alert(1)</script>\\u{1b}[31m"), "the file's name is shown as it is");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn a_page_loads_nothing_from_anywhere() {
    for (name, page) in all_pages() {
        let text = report::html(&page).replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", "src=", "url(", "@import"] {
            assert!(!text.contains(word), "{name} has {word}");
        }
        assert!(text.contains("default-src &#39;none&#39;"), "{name}");
    }
}

#[test]
fn only_the_names_of_leading_trials_are_bold() {
    let leads = |page: &Page| {
        let rates = svg_files(page).into_iter().filter(|(slug, _)| slug.starts_with("ranking"));
        rates.map(|(_, text)| text.matches("class=\"name start strong\"").count()).collect::<Vec<_>>()
    };
    assert_eq!(leads(&Page::from_record(&race_of_buffer_sizes(1))), [0], "one round shows no difference");
    assert_eq!(leads(&Page::from_record(&race_of_buffer_sizes(10))), [2], "two buffers tie, two are slower");
    let warm = leads(&Page::from_record(&race()))[1];
    assert_eq!(warm, 2, "mmap and pread tie, wc is slower");
}

#[test]
fn no_two_rows_of_a_chart_or_table_look_the_same() {
    let names = |whole: Node, name: &str| {
        let is_name = |node: &Node| match name {
            "svg" => node.attribute("class").is_some_and(|class| class.starts_with("name ")),
            _ => node.tag_name().name() == "th" && node.attribute("scope") == Some("row"),
        };
        let text =
            |node: Node| node.children().filter(Node::is_text).filter_map(|it| it.text()).collect::<String>();
        whole.descendants().filter(is_name).map(text).collect::<Vec<String>>()
    };
    for (name, record) in scripted_records() {
        let page = Page::from_record(&record);
        let (html, charts) = (report::html(&page), svg_files(&page));
        let document = parse_xml(&html);
        let tables =
            elements_named(&document, "table").filter(|it| it.attribute("class") == Some("sortable plots"));
        let in_tables: Vec<Vec<String>> = tables.map(|table| names(table, "table")).collect();
        let in_charts = charts.iter().map(|(_, text)| names(parse_xml(text).root_element(), "svg"));
        for names in in_charts.chain(in_tables) {
            let set: BTreeSet<&String> = names.iter().collect();
            assert_eq!(set.len(), names.len(), "{name}: {names:?}");
        }
    }
}

#[test]
fn colour_means_the_language_and_each_row_names_its_trial() {
    for (name, record) in scripted_records() {
        let page = Page::from_record(&record);
        let languages: BTreeMap<String, &str> = page
            .rankings
            .iter()
            .flat_map(|it| it.rows.iter().chain(&it.searched))
            .map(|row| (row.index.to_string(), report::palette::language_class(&row.language)))
            .collect();
        let text = report::html(&page);
        for node in parse_xml(&text).descendants() {
            let Some(class) = node.attribute("data-trial").and_then(|trial| languages.get(trial)) else {
                continue;
            };
            let coloured = match node.tag_name().name() {
                "g" => node,
                "tr" => node.descendants().find(|it| it.tag_name().name() == "i").unwrap(),
                _ => continue,
            };
            let classes = coloured.attribute("class").unwrap();
            assert!(classes.split(' ').any(|it| it == *class), "{name}: {classes} is not {class}");
        }
    }
}

#[test]
fn without_scripts_all_rows_are_visible_and_the_controls_are_not() {
    let text = report::html(&Page::from_record(&race()));
    let document = parse_xml(&text);
    let hidden: Vec<&str> = document
        .descendants()
        .filter(|node| node.attribute("hidden").is_some())
        .filter_map(|node| node.attribute("id").or(node.attribute("type")))
        .collect();
    assert_eq!(hidden, ["theme", "filter", "reset", "methods"]);
    let listed = document.descendants().filter(|it| it.attribute("data-language").is_some());
    let listed: Vec<&str> =
        listed.filter(|it| it.tag_name().name() == "li").filter_map(|it| it.text()).collect();
    assert!(listed.contains(&"rust/mmap/avx2@threads=2 mmap avx2 · threads=2"), "{listed:?}");
}

#[test]
fn the_limit_of_a_method_is_visible_without_a_click() {
    let page = Page::from_record(&testing::scripted::record("inside"));
    let text = report::html(&page);
    let document = parse_xml(&text);
    let table = elements_named(&document, "table")
        .find(|it| it.attribute("class") == Some("sortable plots"))
        .unwrap();
    assert!(table.ancestors().all(|it| it.tag_name().name() != "details"));
    let cells =
        table.descendants().filter(|it| it.has_tag_name("td") && it.attribute("class") == Some("word"));
    let shown: Vec<&str> = cells.filter_map(|it| it.text()).collect();
    let judged: Vec<String> = page.rankings[0]
        .rows
        .iter()
        .map(|it| it.diagnosis.as_ref().unwrap().short_cause().replace(" %", "\u{a0}%"))
        .collect();
    assert_eq!(shown, judged);
    assert!(page.headlines.iter().all(|it| !it.stops_at.is_empty()), "{:?}", page.headlines);
}

#[test]
fn the_answer_names_the_fastest_its_rate_and_its_certainty() {
    let answer = |record: &Record| Page::from_record(record).answer;
    assert_eq!(
        answer(&race()),
        "Cold, direct · buffer=1MiB is the fastest at 2.50 GB/s, 2.00 [2.00, 2.00] times as fast as wc -l; \
         warm, mmap avx2 · threads=2 ties for the fastest with 1 more at 20.0 GB/s, 4.00 [4.00, 4.00] times as fast as wc -l."
    );
    assert!(answer(&race_of_buffer_sizes(1)).contains("has the best median"));
    assert_eq!(answer(&failures()), "Nothing was measured.");
    assert_eq!(answer(&Record::new(header())), "Nothing was measured.");
}

#[test]
fn three_settings_of_a_method_make_a_curve() {
    let page = Page::from_record(&race_of_buffer_sizes(10));
    let [curve] = &page.curves[..] else { panic!("one parameter: {:?}", page.curves) };
    assert_eq!((curve.method.as_str(), curve.parameter.as_str()), ("read avx2", "buffer"));
    let spelled: Vec<&str> = curve.points.iter().map(|point| point.spelled_value.as_str()).collect();
    assert_eq!(spelled, ["4KiB", "16KiB", "64KiB", "256KiB"]);
    let mut two = race_of_buffer_sizes(10);
    two.trials = two.trials.into_iter().take(2).collect();
    assert!(Page::from_record(&two).curves.is_empty());
}

#[test]
fn a_sweep_is_answered_by_its_slopes_and_named_by_folder() {
    let page = sweep_page();
    let answer = "By the slope of time on size: write plain 2.00 GB/s, rust/direct@buffer=1MiB 2.50 GB/s.";
    assert_eq!(page.answer, answer);
    assert_eq!(page.target_titles, ["/data/sweep · 12 files · 10.0 kB to 2.00 GB, 6.30 GB in all"]);
    let text = report::html(&page);
    assert!(text.contains("id=\"sizes\"") && !text.contains("id=\"ranking\""));
}

#[test]
fn ten_thousand_readings_make_a_small_page_that_says_what_a_dot_is() {
    let text = report::html(&Page::from_record(&race_of_many_readings()));
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
    assert!(text.contains("one dot shows those that are side by side"));
    let document = parse_xml(&text);
    let strips = elements_named(&document, "path").filter(|it| it.attribute("class") == Some("dots"));
    let dots: Vec<usize> = strips.map(|it| it.attribute("d").unwrap().matches('M').count()).collect();
    assert!(dots.len() == 20 && dots.iter().all(|&dots| dots > 50 && dots <= 201), "{dots:?}");
    assert!(!report::html(&Page::from_record(&race())).contains("one dot shows"));
}

#[test]
fn short_names_are_unique() {
    let mut record = race();
    trial_mut(&mut record, 1).trial.label = Some("mmap avx2 · threads=2".into());
    let page = Page::from_record(&record);
    let names: BTreeMap<&str, TrialIndex> =
        page.rankings[1].rows.iter().map(|row| (row.short_name.as_str(), row.index)).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains_key("rust/mmap/avx2@threads=2") && names.contains_key("wc -l"), "{names:?}");
    let mut several = race();
    trial_mut(&mut several, 1).trial.id = "java/pread".parse().unwrap();
    let page = Page::from_record(&several);
    assert_eq!(page.rankings[1].rows[0].short_name, "rust mmap avx2 · threads=2");
}

#[test]
fn a_sweep_in_markdown_has_a_table_and_the_line_of_each_series() {
    let text = report::markdown(&sweep_page());
    assert_eq!(text.matches("| size | files |").count(), 2, "{text}");
    assert!(text.contains("### <code>rust/direct@buffer=1MiB</code>"), "{text}");
    assert!(text.contains("| 2.00 GB | 3 |") && text.contains("fixed cost "), "{text}");
}

#[test]
fn a_sweep_above_a_cache_names_the_cache_beside_every_number_of_its_readings() {
    let record = swept_record_above_a_cache();
    let page = Page::from_record(&record);
    assert!(page.answer.contains("rust/direct@buffer=1MiB (cold above a cache) "), "{}", page.answer);
    assert!(page.answer.contains("write plain 2.00 GB/s"), "{}", page.answer);
    let titles: Vec<&str> = page.headlines.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["Writes", "Reads · cold above a cache"]);
    let [write, read] = &page.sweep.as_ref().unwrap().series[..] else { panic!("two series") };
    assert_eq!((write.title().as_str(), &write.facts.proof), ("write plain", &None));
    let cache = "the cache of the server of nas";
    let (title, line) = (read.title(), read.line_words().unwrap());
    assert_eq!(title, "rust/direct@buffer=1MiB, cold above a cache");
    let ending = format!(" by ordinary least squares, as published; cold is cold above {cache}");
    assert!(line.ends_with(&ending), "{line}");
    assert!(
        read.band_sentences.iter().any(|it| it.contains(&format!("perhaps held by {cache}"))),
        "{:?}",
        read.band_sentences
    );
    for text in text_in_each_format(&page) {
        for said in [
            ", cold above a cache",
            &format!("cold above: {cache}"),
            "layers: nfs → nas (not evicted)",
            "by the line that outliers cannot bend; ",
            " by ordinary least squares, as published",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.contains("not probed: the device is too slow"), "{text}");
    }
    let charts = svg_files(&page).into_iter().filter(|(slug, _)| slug.starts_with("sweep-1"));
    let charts: Vec<bool> = charts.map(|(_, text)| text.contains(&format!("{title}: "))).collect();
    assert_eq!(charts, [true; 3]);
    let json = document(&record);
    let series = &json["sweep"]["series"];
    assert_eq!((series[1]["cold_above"].as_str(), series[0].get("cold_above")), (Some(cache), None));
    assert_eq!(json["limits"], serde_json::Value::Null, "none of a device");
    let side = readlab_analysis::compare::Side::of_record(&record, "a", "a");
    let whole =
        |name: &str| side.cases.iter().find(|case| case.name == format!("{name} over all sizes")).unwrap();
    let above = ["write plain", "rust/direct@buffer=1MiB"].map(|name| whole(name).key.is_above_cache);
    assert_eq!(above, [None, Some(true)]);
    let plain = report::markdown(&sweep_page());
    assert!(!plain.contains("above") && !plain.contains("layers:"), "{plain}");
}

#[test]
fn a_sweep_reports_proofs_and_side_effects_of_its_contender() {
    let mut record = swept_record();
    for (trial, processes, readings) in [(0, 2, 2), (5, 1, 1)] {
        let trial = TrialIndex::new(trial);
        record.add(Line::LeftBehind { trial, left: LeftBehind { processes, readings } });
    }
    let samples = &mut trial_mut(&mut record, 3).samples;
    *samples = samples.iter().map(|sample| Sample { device_read_bytes: None, ..sample }).collect();
    let times = SecondReadingRatio { estimate: 3.0, ci95: [2.5, 3.5], pairs: 12 };
    record.targets[TargetIndex::new(0)].hidden_cache = Some(HiddenCache::Seen(times));
    let page = Page::from_record(&record);
    assert!(page.machine.contains("a cache lies below: second cold readings are 3.00"), "{}", page.machine);
    let proof = "from the device 100 % of the size (device bytes known for 11 of 12)";
    let conduct = "rust/direct@buffer=1MiB †: left 1 process behind after each of 3 readings: ended";
    for text in text_in_each_format(&page) {
        assert_eq!((text.matches(proof).count(), text.matches(conduct).count()), (1, 1), "{text}");
        let heads = [
            "rust/direct@buffer=1MiB †: 2.50 GB/s",
            "### <code>rust/direct@buffer=1MiB</code> †",
            "<h3>rust/direct@buffer=1MiB †</h3>",
        ];
        assert!(heads.iter().any(|head| text.contains(head)), "{text}");
    }
    let json = document(&record);
    let [write, read] = &json["sweep"]["series"].as_array().unwrap()[..] else { panic!("two series") };
    let counted = (&read["proof"]["samples"], &read["proof"]["device_bytes_known"]);
    assert_eq!(counted, (&12.into(), &11.into()), "{read}");
    assert_eq!(read["conduct"]["left_behind"]["processes"], 3);
    assert!(write.get("proof").is_none() && write.get("conduct").is_none(), "{write}");
}

#[test]
fn latencies_of_single_reads_are_shown_for_each_quantile_with_enough_reads() {
    let mut record = race_with_counts();
    let is_of_reads = |(slug, _): &(String, String)| slug.starts_with("latency");
    assert!(!svg_files(&Page::from_record(&record)).iter().any(is_of_reads));
    let warm = |it: &&mut TrialRecord| it.trial.state == CacheState::Warm && !it.trial.is_control();
    for (times, trial) in (1..).zip(record.trials.iter_mut().filter(warm)) {
        // 1000 reads are enough for p99, and 100,000 for p99.99.
        let reads = if times == 1 { 1_000 } else { 100_000 };
        let latencies = latencies((1..=reads).map(|read| times * (10_000 + read)));
        trial.latencies = vec![TurnLatencies { fill: 0, round: 0, latencies }];
    }
    let page = Page::from_record(&record);
    let (slug, text) = svg_files(&page).into_iter().find(is_of_reads).unwrap();
    let (_, described) = text.split_once("<desc").unwrap();
    let methods: Vec<&str> = described.split("</desc>").next().unwrap().split("; ").collect();
    assert_eq!((slug.as_str(), methods.len()), ("latency-1-warm", 3), "{methods:?}");
    assert!(methods[0].ends_with(" p50 10.6 µs p99 11.0 µs"), "{methods:?}");
    assert!(methods[1].ends_with(" p50 120 µs p99 218 µs p99.99 220 µs"), "{methods:?}");
    assert!(report::html(&page).contains("Single reads"));
}
