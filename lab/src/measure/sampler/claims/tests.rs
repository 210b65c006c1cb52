//! Claims with known answers.

use super::*;
use crate::linux::process::Unavailable;
use crate::measure::meters::{Missing, Whole};

const MS: u64 = 1_000_000;
const ASK: TurnRequest = TurnRequest { lead: 0, count: 1 };

fn turn(cpu: Option<(u64, u64)>, peak_rss_bytes: Option<u64>) -> Turn {
    let (cpu_user_ns, cpu_system_ns) = cpu.unzip();
    let line =
        SampleLine { wall_ns: MS, cpu_user_ns, cpu_system_ns, peak_rss_bytes, ..SampleLine::default() };
    Turn { samples: vec![line], counts: Vec::new(), seen_ns: 2 * MS }
}

fn metered(cpu_ns: Result<u64, Missing>, alone: bool) -> Metered {
    let none = Missing::from(Unavailable::Ended { pid: 1 });
    Metered {
        cpu_total_ns: Err(none.clone()),
        cpu_split: Err(none.clone()),
        peak_rss_bytes: Ok(8 << 20),
        minor_faults: Err(none.clone()),
        child_minor_faults: Err(none.clone()),
        major_faults: Err(none.clone()),
        device_read_bytes: Err(none.clone()),
        whole: Whole {
            cpu_ns,
            cpu_error_ns: if alone { 0 } else { 2 * tick_ns() },
            passed_bytes: Err(none.clone()),
            delayed_ns: Err(none.clone()),
            lab_delayed_ns: Err(none),
            alone,
        },
    }
}

fn said(cpu: (u64, u64), counted_ns: u64) -> Option<String> {
    refuted(ASK, &turn(Some(cpu), None), &metered(Ok(counted_ns), true))
}

#[test]
fn cpu_time_may_exceed_the_kernels_count_by_two_ticks_and_a_hundredth() {
    let slack_ns = 2 * tick_ns() + 3 * MS;
    assert_eq!(said((200 * MS, 100 * MS + slack_ns), 300 * MS), None);
    let why = said((200 * MS, 100 * MS + slack_ns + 1), 300 * MS).unwrap();
    let both = format!(
        "it claims {} ns of CPU time in a turn for which the kernel counted 300000000 ns",
        300 * MS + slack_ns + 1
    );
    assert_eq!(why, both);
    assert!(said((u64::MAX, u64::MAX), 300 * MS).unwrap().contains(&u64::MAX.to_string()), "no overflow");
}

#[test]
fn where_the_kernel_does_not_tell_all_processors_bound_it() {
    let unknown = metered(Err(Missing::from(Unavailable::Ended { pid: 1 })), true);
    assert_eq!(refuted(ASK, &turn(Some((2 * MS, 0)), None), &unknown), None);
    let why = refuted(ASK, &turn(Some((u64::MAX, 0)), None), &unknown).unwrap();
    assert!(why.contains("all processors together had"), "{why}");
}

#[test]
fn no_cpu_time_for_much_work_is_refused() {
    assert_eq!(said((0, 0), 4 * 2 * tick_ns()), None, "too little to tell");
    let why = said((0, 0), 1000 * MS).unwrap();
    assert_eq!(why, "it claims 0 ns of CPU time in readings for which the kernel counted 1000000000 ns");
    let half = refuted(
        TurnRequest { lead: 9, count: 1 },
        &turn(Some((90 * MS, 0)), None),
        &metered(Ok(1000 * MS), true),
    );
    assert_eq!(half, None, "untimed readings have their part");
}

#[test]
fn nothing_claimed_is_nothing_to_refuse() {
    assert_eq!(refuted(ASK, &turn(None, None), &metered(Ok(1000 * MS), true)), None);
}

#[test]
fn a_peak_is_bounded_by_the_high_water_mark_of_who_is_alone_and_by_all_memory() {
    let peak = |claimed, alone| refuted(ASK, &turn(None, Some(claimed)), &metered(Ok(0), alone));
    assert_eq!(peak(8 << 20, true), None);
    let why =
        "it claims a peak of 67108864 bytes of memory where the kernel's high-water mark was 12582912 bytes";
    assert_eq!(peak(64 << 20, true).as_deref(), Some(why));
    assert_eq!(peak(64 << 20, false), None, "of a program that it ran");
    assert!(peak(1 << 60, false).unwrap().contains("this machine has"));
}
