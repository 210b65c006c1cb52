//! Tests of the harness for `cargo bench`, by the example crate: it is built and started by cargo
//! as its user would.

use super::{Home, READLAB, Said};

/// `cargo bench` in the example, with these words for the benchmark.
fn bench(home: &Home, words: &[&str]) -> Said {
    cargo(home, &["bench", "--profile", "dev"], words)
}

fn cargo(home: &Home, verb: &[&str], words: &[&str]) -> Said {
    let mut cargo = home.command(env!("CARGO"));
    cargo.args(verb).args([
        "--quiet",
        "--locked",
        "--package",
        "readlab-harness-example",
        "--bench",
        "readers",
        "--",
    ]);
    // The home is the test's own: cargo and rustup keep theirs.
    for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let own = std::env::var_os(variable).map(std::path::PathBuf::from);
        let default = std::env::home_dir().map(|home| home.join(folder));
        cargo.env(variable, own.or(default).unwrap());
    }
    cargo.args(words).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).env("READLAB", READLAB);
    Said::by(&mut cargo)
}

const SHORT: [&str; 8] = ["--", "--state", "warm", "--runs", "5", "--no-progress", "--budget", "5m"];

mod ring2 {
    use super::*;

    #[test]
    fn readers_are_raced_kept_and_compared() {
        let home = Home::new();
        let first = bench(&home, &[&["--save-baseline", "first"], &SHORT[..]].concat());
        assert_eq!(first.code, Some(0), "{first}");
        assert!(first.out.contains("own-readers/"), "{first}");
        let second = bench(&home, &[&["strings", "--baseline", "first"], &SHORT[..]].concat());
        assert_eq!(second.code, Some(0), "{second}");
        assert!(second.out.contains("own-readers/strings"), "{second}");
        assert!(
            second.out.contains("only in ") && second.out.contains("own-readers/one-buffer (warm)"),
            "{second}"
        );
    }

    #[test]
    fn under_cargo_test_each_reader_reads_once_and_the_answers_agree() {
        let said = cargo(&Home::new(), &["test"], &[]);
        assert_eq!(said.code, Some(0), "{said}");
        for reader in ["own-readers/strings: 2000 lines", "own-readers/one-buffer: 2000 lines"] {
            assert!(said.out.contains(reader), "{said}");
        }
    }

    #[test]
    fn wrong_usage_is_named() {
        let home = Home::new();
        for (words, named) in [
            (&["no-such-reader"][..], "there are strings, one-buffer"),
            (&["--fast"], "no option '--fast'"),
            (&["--baseline", "never-saved"], "no baseline of this name"),
        ] {
            let said = bench(&home, words);
            assert!(said.code != Some(0) && said.err.contains(named), "{said}");
        }
    }
}
