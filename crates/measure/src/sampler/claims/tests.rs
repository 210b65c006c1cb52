//! Tests of claims that are refuted and of claims that are not.

use super::*;
use crate::meters::{MeterError, MeterReadings, WholeTurnCounts};
use crate::sampler::testing::{self, metered_turn, turn};
use readlab_system::process::CounterError;

const MS: u64 = 1_000_000;

fn claiming_turn(cpu: Option<(u64, u64)>, peak_rss_bytes: Option<u64>) -> Turn {
    let (cpu_user_ns, cpu_system_ns) = cpu.unzip();
    let line =
        SampleLine { wall_ns: MS, cpu_user_ns, cpu_system_ns, peak_rss_bytes, ..SampleLine::default() };
    Turn { lab_wall_ns: 2 * MS, ..turn(vec![line]) }
}

fn meter_readings(cpu_ns: Result<u64, MeterError>, alone: bool) -> MeterReadings {
    let cpu_error_ns = if alone { 0 } else { 2 * tick_ns() };
    let unmetered = testing::unread_meters();
    let whole = WholeTurnCounts { cpu_ns, cpu_error_ns, was_alone: alone, ..unmetered.whole_turn };
    MeterReadings { peak_rss_bytes: Ok(8 << 20), whole_turn: whole, ..unmetered }
}

fn refute_turn(answer: Turn, metered: MeterReadings) -> Option<String> {
    refute_claims(&metered_turn(answer, metered))
}

/// The refutation of a claimed CPU time where the kernel counted `counted_ns`.
fn refute_cpu_claim(cpu: (u64, u64), counted_ns: u64) -> Option<String> {
    refute_turn(claiming_turn(Some(cpu), None), meter_readings(Ok(counted_ns), true))
}

#[test]
fn cpu_time_may_exceed_the_kernels_count_by_two_ticks_and_a_hundredth() {
    let slack_ns = 2 * tick_ns() + 3 * MS;
    assert_eq!(refute_cpu_claim((200 * MS, 100 * MS + slack_ns), 300 * MS), None);
    let why = refute_cpu_claim((200 * MS, 100 * MS + slack_ns + 1), 300 * MS).unwrap();
    let claimed_ns = 300 * MS + slack_ns + 1;
    let both =
        format!("it claims {claimed_ns} ns of CPU time in a turn for which the kernel counted 300000000 ns");
    assert_eq!(why, both);
    assert!(
        refute_cpu_claim((u64::MAX, u64::MAX), 300 * MS).unwrap().contains(&u64::MAX.to_string()),
        "no overflow"
    );
}

#[test]
fn without_a_count_of_the_kernel_all_processors_bound_the_claim() {
    let unknown = || meter_readings(Err(MeterError::from(CounterError::Ended { pid: 1 })), true);
    assert_eq!(refute_turn(claiming_turn(Some((2 * MS, 0)), None), unknown()), None);
    let why = refute_turn(claiming_turn(Some((u64::MAX, 0)), None), unknown()).unwrap();
    assert!(why.contains("all processors together had"), "{why}");
}

#[test]
fn much_work_without_cpu_time_is_refused() {
    assert_eq!(refute_cpu_claim((0, 0), 4 * 2 * tick_ns()), None, "too little to judge");
    let why = refute_cpu_claim((0, 0), 1000 * MS).unwrap();
    assert_eq!(why, "it claims 0 ns of CPU time in readings for which the kernel counted 1000000000 ns");
    let mut half = metered_turn(claiming_turn(Some((90 * MS, 0)), None), meter_readings(Ok(1000 * MS), true));
    half.request.lead = 9;
    assert_eq!(refute_claims(&half), None, "untimed readings have their part");
}

#[test]
fn without_a_claim_nothing_is_refused() {
    assert_eq!(refute_turn(claiming_turn(None, None), meter_readings(Ok(1000 * MS), true)), None);
}

#[test]
fn latencies_must_count_all_reads_of_the_turn_and_none_may_exceed_its_window() {
    let blocks = BlockReads { read_count: 3, repeated_bytes: 0, file_bytes: 1 << 20 };
    let of = |times_ns: &[u64], blocks: Option<BlockReads>| {
        let sample = SampleLine { wall_ns: 1000, ..SampleLine::default() };
        let latencies = Some(readlab_record::testing::latencies(times_ns.iter().copied()));
        refute_latencies(&Turn { latencies, ..turn(vec![sample; 2]) }, blocks)
    };
    assert_eq!(of(&[100, 200, 300, 100, 200, 1000], Some(blocks)), None);
    let fewer = of(&[100, 200, 300], Some(blocks)).unwrap();
    assert_eq!(fewer, "its latencies are of 3 reads, and it read 6 blocks");
    let longer = of(&[100, 200, 300, 100, 200, 1100], Some(blocks)).unwrap();
    assert!(longer.ends_with("in a window of 1000 ns"), "{longer}");
    let untimed = of(&[0, 0, 300, 100, 200, 1000], Some(blocks)).unwrap();
    assert_eq!(untimed, "2 of its 6 reads took 0 ns, which no read does");
    assert!(of(&[100], None).is_some(), "of a file that is read whole nothing is said");
    assert_eq!(refute_latencies(&turn(Vec::new()), Some(blocks)), None);
}

#[test]
fn a_claimed_peak_is_bounded_by_the_kernels_high_water_mark_or_by_all_memory() {
    let peak = |bytes, alone| refute_turn(claiming_turn(None, Some(bytes)), meter_readings(Ok(0), alone));
    assert_eq!(peak(8 << 20, true), None);
    let why =
        "it claims a peak of 67108864 bytes of memory where the kernel's high-water mark was 12582912 bytes";
    assert_eq!(peak(64 << 20, true).as_deref(), Some(why));
    assert_eq!(peak(64 << 20, false), None, "it may be that of a program that it ran");
    assert!(peak(1 << 60, false).unwrap().contains("this machine has"));
}

#[test]
fn reads_must_claim_at_least_the_different_bytes_of_the_blocks() {
    let of = |read_bytes: Option<u64>, useful_bytes| {
        let samples =
            [Some(9000), read_bytes].map(|read_bytes| SampleLine { read_bytes, ..SampleLine::default() });
        refute_read_bytes(&turn(samples.to_vec()), useful_bytes)
    };
    assert_eq!([of(Some(8192), Some(8192)), of(None, Some(8192))], [None, None]);
    let fewer = of(Some(8191), Some(8192)).unwrap();
    assert_eq!(fewer, "it says that its reads asked for 8191 bytes, and the blocks have 8192");
    assert!(of(None, None).is_some(), "of a file that is read whole nothing is said");
    assert_eq!(refute_read_bytes(&turn(vec![SampleLine::default()]), None), None);
}
