//! Tests of contenders that break the contract during a race: only that contender ends, and the
//! others continue.

use super::fake::{Fake, at_second_turn, roster};
use super::home::{Home, trials};

#[test]
fn a_contender_that_breaks_the_contract_in_a_race_ends_alone() {
    let home = Home::new();
    let file = home.file("f.txt", "a\nb\n");
    let second = at_second_turn;
    let sample = |fields: &str| {
        format!("say '{{\"say\":\"sample\",{fields}}}'; say '{{\"say\":\"done\",\"count\":1}}'")
    };
    // At its warm-up: in its turns it would leave out of its windows what that takes.
    let flood = "if [ $turns = 1 ]; then head -c 3000000 /dev/zero | tr '\\0' y >&2; fi; answer";
    let cases = [
        ("honest", "answer".to_owned(), "measured", ""),
        ("absent", "answer".to_owned(), "unavailable", "io_uring is switched off on this machine"),
        ("dies", second("echo out of luck >&2; exit 7"), "failed", "it exited with 7: out of luck"),
        ("mapped", second("kill -BUS $$"), "failed", "SIGBUS"),
        ("floods", flood.to_owned(), "measured", ""),
        ("babbles", second("say hello"), "failed", "not a line of protocol 1"),
        ("endless", second("head -c 1000000 /dev/zero | tr '\\0' y"), "failed", "a line of more than"),
        ("wrong", sample("\"wall_ns\":1,\"newlines\":3"), "refused", "it answered 3 newlines; right is"),
        ("liar", sample("\"wall_ns\":3600000000000,\"newlines\":2"), "refused", "it claims 3600000000000 ns"),
        ("miser", "say '{\"say\":\"done\",\"count\":1}'".to_owned(), "failed", "asked for 1 samples, got 0"),
        ("sorry", second("say '{\"say\":\"failed\",\"reason\":\"f: broken\"}'"), "failed", "f: broken"),
    ];
    let fakes: Vec<Fake> = cases.iter().map(|(name, turn, ..)| Fake { name, turn }).collect();
    let roster = roster(&home, &fakes);
    let words =
        ["--roster", &roster, "--method", "*/read", "--method", "rust/read/scalar", "--state", "warm"];
    let (json, said) = home.race_json(&file, &words);
    assert_eq!(said.code, Some(1), "{said}");
    assert_eq!(json["end"]["reason"], "settled");
    for (name, _, outcome, reason) in cases {
        let trial = trials(&json, &format!("{name}/read"), "warm");
        assert_eq!(trial["outcome"], outcome, "{name}: {}", trial["reason"]);
        assert!(trial["reason"].as_str().unwrap_or_default().contains(reason), "{name}: {}", trial["reason"]);
    }
    for id in ["rust/read/scalar", "command/wc -l"] {
        assert_eq!(trials(&json, id, "warm")["outcome"], "measured", "{id}");
    }
}

#[test]
fn who_shows_no_receipt_is_a_warning_with_the_reason() {
    let home = Home::new();
    let file = home.file("f.txt", "a\nb\n");
    let script = home.file(
        "later.sh",
        r#"echo '{"say":"hello","protocol":2,"contender":"later","version":"1","runtime":""}'"#,
    );
    let text = format!(
        "[[contender]]\nname = \"later\"\nabout = \"\"\nrun = [\"/bin/sh\", \"{}\"]\n",
        script.display()
    );
    let roster = home.file("roster.toml", text);
    let words = ["--roster", roster.to_str().unwrap(), "--method", "rust/read/scalar", "--state", "warm"];
    let (json, said) = home.race_json(&file, &words);
    assert_eq!(said.code, Some(0), "{said}");
    let warnings = json["warnings"].to_string();
    assert!(
        warnings.contains("later does not take part: it speaks protocol 2, this readlab speaks 1"),
        "{warnings}"
    );
}

mod ring2 {
    use super::*;

    /// The lab waits ten seconds at least.
    #[test]
    fn a_contender_that_hangs_in_a_race_ends_alone() {
        let home = Home::new();
        let file = home.file("f.txt", "a\nb\n");
        let roster = roster(&home, &[Fake { name: "hangs", turn: &at_second_turn("sleep 600") }]);
        let methods = ["--roster", &roster, "--method", "hangs/read", "--method", "rust/read/scalar"];
        let (json, said) = home.race_json(&file, &[&methods[..], &["--state", "warm"]].concat());
        assert_eq!(said.code, Some(1), "{said}");
        let trial = trials(&json, "hangs/read", "warm");
        assert_eq!(trial["outcome"], "failed", "{trial}");
        assert!(trial["reason"].as_str().unwrap().contains("no answer within"), "{trial}");
        assert_eq!(trials(&json, "rust/read/scalar", "warm")["outcome"], "measured");
    }
}
