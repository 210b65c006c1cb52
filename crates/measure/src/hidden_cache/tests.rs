//! Decisions of the probe about readings whose times come from a script.

use super::*;
use rand::RngExt;
use rand_distr::StandardNormal;
use std::collections::BTreeSet;

/// A device that reads a place in 1 ms, and a place that was read before `reread_speedup` times
/// faster. `noise` is the standard deviation of the logarithm of the time.
struct ScriptedDevice {
    read_offsets: BTreeSet<u64>,
    reread_speedup: f64,
    noise: f64,
    random: Xoshiro256PlusPlus,
    /// Ratio of the time of each reading to that of the reading before.
    drift: f64,
    offsets_in_order: Vec<u64>,
}

impl ScriptedDevice {
    fn new(reread_speedup: f64, noise: f64, seed: u64) -> ScriptedDevice {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        ScriptedDevice {
            read_offsets: BTreeSet::new(),
            reread_speedup,
            noise,
            random,
            drift: 1.0,
            offsets_in_order: Vec::new(),
        }
    }

    fn read(&mut self, offset: u64) -> io::Result<Duration> {
        let times = if self.read_offsets.insert(offset) { 1.0 } else { self.reread_speedup };
        let drift = self.drift.powi(i32::try_from(self.offsets_in_order.len()).unwrap());
        self.offsets_in_order.push(offset);
        let normal: f64 = self.random.sample(StandardNormal);
        Ok(Duration::from_secs_f64(1e-3 * drift / times * (self.noise * normal).exp()))
    }
}

const FILE_BYTES: u64 = 64 << 20;

fn probe_device(mut places: ScriptedDevice, seed: u64) -> HiddenCache {
    measure_places(|offset| places.read(offset), &place_offsets(FILE_BYTES, seed))
}

#[test]
fn places_clearly_faster_the_second_time_show_a_cache_with_its_factor() {
    for seed in 0..20 {
        let HiddenCache::Seen(times) = probe_device(ScriptedDevice::new(3.0, 0.2, seed), seed) else {
            panic!("seed {seed}")
        };
        assert_eq!(times.pairs, PLACE_COUNT as u64 - 2);
        assert!((2.0..4.5).contains(&times.estimate), "{times:?}");
        assert!(times.ci95[0] <= times.estimate && times.estimate <= times.ci95[1], "{times:?}");
    }
}

#[test]
fn no_cache_is_claimed_where_both_readings_take_the_same_time_however_noisy() {
    for (seed, noise) in (0..100).zip([0.0, 0.05, 0.3, 1.0].into_iter().cycle()) {
        let found = probe_device(ScriptedDevice::new(1.0, noise, seed), seed);
        assert!(matches!(found, HiddenCache::NoneSeen(_)), "seed {seed}, noise {noise}: {found:?}");
    }
}

#[test]
fn a_slightly_faster_second_reading_and_a_steady_drift_show_no_cache() {
    let found = probe_device(ScriptedDevice::new(1.1, 0.01, 1), 1);
    assert!(matches!(found, HiddenCache::NoneSeen(times) if times.ci95[0] > 1.0), "{found:?}");
    let found = probe_device(ScriptedDevice { drift: 0.95, ..ScriptedDevice::new(1.0, 0.05, 1) }, 1);
    assert!(matches!(found, HiddenCache::NoneSeen(_)), "{found:?}");
}

#[test]
fn all_places_but_the_first_and_the_last_are_read_twice_with_another_between() {
    let mut places = ScriptedDevice::new(1.0, 0.0, 1);
    let offsets = place_offsets(FILE_BYTES, 1);
    measure_places(|offset| places.read(offset), &offsets);
    let order = &places.offsets_in_order;
    for (at, offset) in offsets.iter().enumerate() {
        let visits: Vec<usize> = (0..order.len()).filter(|&it| order[it] == *offset).collect();
        let once = at == 0 || at == PLACE_COUNT - 1;
        assert_eq!(visits.len(), if once { 1 } else { 2 }, "place {at}");
        assert!(once || visits[1] > visits[0] + 1, "place {at}: {visits:?}");
    }
}

#[test]
fn places_do_not_overlap_and_begin_on_whole_pages_of_the_file() {
    let sizes = [STRETCH_BYTES_MIN * PLACE_COUNT as u64, FILE_BYTES, (1 << 40) + 12_345];
    for (seed, size) in (0..50).zip(sizes.into_iter().cycle()) {
        let mut offsets = place_offsets(size, seed);
        offsets.sort_unstable();
        assert_eq!(offsets.len(), PLACE_COUNT);
        assert!(offsets.iter().all(|offset| offset % 4096 == 0), "{offsets:?}");
        let place = PLACE_BYTES as u64;
        assert!(offsets.windows(2).all(|pair| pair[0] + place <= pair[1]), "{size}: {offsets:?}");
        assert!(offsets[PLACE_COUNT - 1] + place <= size, "{size}: {offsets:?}");
    }
    assert_ne!(place_offsets(FILE_BYTES, 1), place_offsets(FILE_BYTES, 2));
}

#[test]
fn too_few_pairs_and_failed_readings_give_a_reason() {
    let pair = (Duration::from_millis(9), Duration::from_millis(1));
    let found = hidden_cache_from_pairs(&[pair; PAIRS_MIN - 1]);
    assert_eq!(found, HiddenCache::NotProbed { why: NotProbed::SlowDevice });
    let cause = "no such thing".to_owned();
    let expected = HiddenCache::NotProbed { why: NotProbed::NoDirectReads { cause } };
    let broken = |_| Err(io::Error::other("no such thing"));
    assert_eq!(measure_places(broken, &place_offsets(FILE_BYTES, 1)), expected);
}
