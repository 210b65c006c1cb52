//! Hand-made sweeps with known lines, rates and bands.

use super::*;

/// Files that take `1 ms + size / 1 GB/s`, except those of one size, which take `bent_ns`.
fn series_with_bent_size(bent_size: u64, bent_ns: u64, device_share: f64) -> Series {
    let sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    let point = |pass: u32, size_bytes: u64| {
        let is_bent = size_bytes == bent_size;
        let device = float(size_bytes) * if is_bent { device_share } else { 1.0 };
        let wall_ns = if is_bent { bent_ns } else { 1_000_000 + size_bytes };
        SweepPoint {
            target: TargetIndex::new(0),
            size_bytes,
            wall_ns,
            device_read_bytes: Some(device as u64),
            pass,
        }
    };
    fitted_series("rust/read", (0..4).flat_map(|pass| sizes.map(|size| point(pass, size))).collect())
}

fn fitted_series(name: &str, points: Vec<SweepPoint>) -> Series {
    let series = SweepSeries { name: name.to_owned(), is_write: name == "write plain", points };
    Series::new(series, SeriesFacts::default(), 1)
}

#[test]
fn files_on_a_line_show_its_rate_and_fixed_cost_and_leave_no_band() {
    let straight = series_with_bent_size(0, 0, 1.0);
    let (rate, ends) = straight.rate().unwrap();
    assert!((rate.0 - 1e9).abs() < 1.0, "{rate}");
    assert!(ends.is_some());
    assert!((straight.fit.unwrap().line.intercept - 0.001).abs() < 1e-9);
    assert_eq!(straight.band_sentences, Vec::<String>::new());
}

#[test]
fn a_size_that_came_from_a_cache_is_shown_with_its_share() {
    let [band] = &series_with_bent_size(10_000_000, 2_000_000, 0.25).band_sentences[..] else {
        panic!("one band")
    };
    assert!(band.starts_with("10.0 MB: up to 5.5"), "{band}");
    assert!(band.contains("only 25.0 % of the bytes came from the device"), "{band}");
}

#[test]
fn a_deviation_without_a_metered_reason_is_called_unexplained() {
    let strange = series_with_bent_size(10_000_000, 2_000_000, 1.0);
    assert!(
        strange.band_sentences[0].ends_with("not explained by anything measured"),
        "{:?}",
        strange.band_sentences
    );
    let slow = series_with_bent_size(10_000_000, 40_000_000, 1.0);
    assert!(slow.band_sentences[0].contains("slower than the line says"), "{:?}", slow.band_sentences);
}

#[test]
fn a_single_size_has_no_line() {
    let points = vec![
        SweepPoint {
            target: TargetIndex::new(0),
            size_bytes: 5,
            wall_ns: 7,
            device_read_bytes: None,
            pass: 0
        };
        3
    ];
    let series = fitted_series("write plain", points);
    assert_eq!((series.fit, series.rate(), series.band_sentences.len()), (None, None, 0));
    assert_eq!(series.sizes[0].median_ns, 7);
}

#[test]
fn a_negative_fixed_cost_has_the_minus_sign_of_all_texts() {
    let points = [(1_000_000, 100_000), (10_000_000, 9_000_000), (100_000_000, 99_000_000)];
    let point = |(size_bytes, wall_ns)| SweepPoint {
        target: TargetIndex::new(0),
        size_bytes,
        wall_ns,
        device_read_bytes: None,
        pass: 0,
    };
    let words = fitted_series("rust/read", points.map(point).to_vec()).line_words().unwrap();
    assert!(words.starts_with("fixed cost −") && !words.contains(" -") && !words.contains("[-"), "{words}");
}
