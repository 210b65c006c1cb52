//! The probe's decision, with readings that take as long as a script says.

use super::*;
use rand::RngExt;
use rand_distr::StandardNormal;
use std::collections::BTreeSet;

/// A device that needs so long for a place, and so many times less for one that it has read before;
/// noise as given.
struct ScriptedDevice {
    read: BTreeSet<u64>,
    again: f64,
    noise: f64,
    random: Xoshiro256PlusPlus,
    /// Each reading takes so much longer than the one before.
    drift: f64,
    order: Vec<u64>,
}

impl ScriptedDevice {
    fn new(again: f64, noise: f64, seed: u64) -> ScriptedDevice {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        ScriptedDevice { read: BTreeSet::new(), again, noise, random, drift: 1.0, order: Vec::new() }
    }
}

impl Places for ScriptedDevice {
    fn read(&mut self, offset: u64) -> io::Result<Duration> {
        let times = if self.read.insert(offset) { 1.0 } else { self.again };
        let drift = self.drift.powi(i32::try_from(self.order.len()).unwrap());
        self.order.push(offset);
        let normal: f64 = self.random.sample(StandardNormal);
        Ok(Duration::from_secs_f64(1e-3 * drift / times * (self.noise * normal).exp()))
    }
}

const SIZE: u64 = 64 << 20;

fn run(mut places: ScriptedDevice, seed: u64) -> HiddenCache {
    measure(&mut places, &offsets(SIZE, seed))
}

#[test]
fn what_is_clearly_faster_the_second_time_is_a_cache_with_its_factor() {
    for seed in 0..20 {
        let HiddenCache::Seen(times) = run(ScriptedDevice::new(3.0, 0.2, seed), seed) else {
            panic!("seed {seed}")
        };
        assert_eq!(times.pairs, PLACES as u64 - 2);
        assert!((2.0..4.5).contains(&times.estimate), "{times:?}");
        assert!(times.ci95[0] <= times.estimate && times.estimate <= times.ci95[1], "{times:?}");
    }
}

#[test]
fn nothing_is_claimed_where_both_readings_take_the_same_however_noisy() {
    for (seed, noise) in (0..100).zip([0.0, 0.05, 0.3, 1.0].into_iter().cycle()) {
        let found = run(ScriptedDevice::new(1.0, noise, seed), seed);
        assert!(matches!(found, HiddenCache::NoneSeen(_)), "seed {seed}, noise {noise}: {found:?}");
    }
}

#[test]
fn a_little_faster_and_faster_all_the_time_are_no_cache() {
    let found = run(ScriptedDevice::new(1.1, 0.01, 1), 1);
    assert!(matches!(found, HiddenCache::NoneSeen(times) if times.ci95[0] > 1.0), "{found:?}");
    let found = run(ScriptedDevice { drift: 0.95, ..ScriptedDevice::new(1.0, 0.05, 1) }, 1);
    assert!(matches!(found, HiddenCache::NoneSeen(_)), "{found:?}");
}

#[test]
fn all_places_but_the_first_and_the_last_are_read_twice_with_another_between() {
    let mut places = ScriptedDevice::new(1.0, 0.0, 1);
    let offsets = offsets(SIZE, 1);
    measure(&mut places, &offsets);
    let order = &places.order;
    for (at, offset) in offsets.iter().enumerate() {
        let visits: Vec<usize> = (0..order.len()).filter(|&it| order[it] == *offset).collect();
        let once = at == 0 || at == PLACES - 1;
        assert_eq!(visits.len(), if once { 1 } else { 2 }, "place {at}");
        assert!(once || visits[1] > visits[0] + 1, "place {at}: {visits:?}");
    }
}

#[test]
fn places_lie_apart_within_the_file_on_whole_pages() {
    let sizes = [STRETCH_BYTES * PLACES as u64, SIZE, (1 << 40) + 12_345];
    for (seed, size) in (0..50).zip(sizes.into_iter().cycle()) {
        let mut offsets = offsets(size, seed);
        offsets.sort_unstable();
        assert_eq!(offsets.len(), PLACES);
        assert!(offsets.iter().all(|offset| offset % 4096 == 0), "{offsets:?}");
        let place = PLACE_BYTES as u64;
        assert!(offsets.windows(2).all(|pair| pair[0] + place <= pair[1]), "{size}: {offsets:?}");
        assert!(offsets[PLACES - 1] + place <= size, "{size}: {offsets:?}");
    }
    assert_ne!(offsets(SIZE, 1), offsets(SIZE, 2));
}

#[test]
fn too_few_pairs_and_readings_that_fail_say_so() {
    let pair = (Duration::from_millis(9), Duration::from_millis(1));
    let found = judge(&[pair; PLACES_MIN - 1]);
    assert_eq!(found, HiddenCache::NotProbed { why: NotProbed::SlowDevice });
    struct Broken;
    impl Places for Broken {
        fn read(&mut self, _: u64) -> io::Result<Duration> {
            Err(io::Error::other("no such thing"))
        }
    }
    let cause = "no such thing".to_owned();
    let expected = HiddenCache::NotProbed { why: NotProbed::NoDirectReads { cause } };
    assert_eq!(measure(&mut Broken, &offsets(SIZE, 1)), expected);
}
