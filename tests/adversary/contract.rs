//! Tests of contenders that break the contract during a race. Only that contender ends, and the
//! others continue.

use crate::fake::{at_second_turn, roster, shell_entry};
use crate::home::{Home, Trials, items};

#[test]
fn a_contender_that_breaks_the_contract_in_a_race_ends_alone() {
    let home = Home::with_file("f.txt", "a\nb\n");
    let second = at_second_turn;
    let sample = |fields: &str| {
        format!("say '{{\"say\":\"sample\",{fields}}}'; say '{{\"say\":\"done\",\"count\":1}}'")
    };
    // The flood is at the warm-up. In a turn, its time would be missing from the windows.
    let flood = "if [ $turns = 1 ]; then head -c 3000000 /dev/zero | tr '\\0' y >&2; fi; answer";
    let cases = [
        ("honest", "answer".to_owned(), "measured", ""),
        ("absent", "answer".to_owned(), "unavailable", "io_uring is switched off on this machine"),
        ("dies", second("echo out of luck >&2; exit 7"), "failed", "it exited with 7: out of luck"),
        ("mapped", second("kill -BUS $$"), "failed", "SIGBUS"),
        ("floods", flood.to_owned(), "measured", ""),
        ("wrong", sample("\"wall_ns\":1,\"newlines\":3"), "refused", "it answered 3 newlines; right is"),
        ("liar", sample("\"wall_ns\":3600000000000,\"newlines\":2"), "refused", "it claims 3600000000000 ns"),
    ];
    let fakes: Vec<(&str, &str)> = cases.iter().map(|(name, turn, ..)| (*name, turn.as_str())).collect();
    let roster = roster(&home, &fakes);
    let later = r#"echo '{"say":"hello","protocol":2,"contender":"later","version":"1","runtime":""}'"#;
    home.file("roster.toml", home.read("roster.toml") + &shell_entry(&home, "later", later));
    let words = format!("--roster {roster} --method */read --method rust/read/scalar --state warm");
    let run = home.race_json("f.txt", words).exits(1);
    assert_eq!(run["end"]["reason"], "settled");
    for (name, _, outcome, why) in cases {
        run.ended(&format!("{name}/read"), "warm", outcome, why);
    }
    for id in ["rust/read/scalar", "command/wc -l"] {
        run.measured(id, "warm");
    }
    // A contender without a receipt is a warning with the reason.
    let why = "later does not take part: it speaks protocol 2, this readlab speaks 1";
    let warnings = items(&run["warnings"]);
    assert!(warnings.iter().any(|text| text.as_str().unwrap().contains(why)), "{warnings:?}");
}
