//! Tests of contenders and other programs that keep the file in memory between turns, and of
//! contenders whose device bytes cannot be read: the contender that does so is refused, the others
//! are measured, and unproven samples are counted separately.

use super::home::{AS_NOBODY, Home, QUICK, READLAB, Said, no_other_user, trials};
use readlab_targets::target::filesystem::{Backing, Filesystem};
use serde_json::Value;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A foreign program; it ends with the test.
struct Outsider(Child);

impl Drop for Outsider {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A home with the contender under test, and a file that can be cold; `None` with a message if that
/// is impossible.
fn scene() -> Option<(Home, PathBuf, PathBuf)> {
    let home = Home::new();
    let keeper = home.at("keeper");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/adversary/keeper.c");
    match Command::new("cc").args(["-O1", "-o"]).arg(&keeper).arg(source).status() {
        Ok(status) => assert!(status.success(), "keeper.c does not compile"),
        Err(error) => {
            eprintln!("SKIPPED: cc: {error}");
            return None;
        }
    }
    let file = home.file("f.txt", "0123456789abcde\n".repeat(1 << 18));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let filesystem = Filesystem::read(&File::open(&file).unwrap()).unwrap();
    if filesystem.backing != Backing::Device {
        eprintln!("SKIPPED: the build folder is on {filesystem}, where nothing can be proven cold");
        return None;
    }
    Some((home, keeper, file))
}

/// The arguments for the contenders that break the contract, and two that keep it.
fn with_liars(home: &Home, keeper: &Path, liars: &[&str]) -> Vec<String> {
    let mut roster = String::new();
    for liar in liars {
        writeln!(roster, "[[contender]]\nname = \"{liar}\"\nabout = \"a liar\"").unwrap();
        writeln!(roster, "run = [\"{}\", \"{liar}\"]", keeper.display()).unwrap();
    }
    let roster = home.file("roster.toml", roster).to_str().unwrap().to_owned();
    let methods = liars.iter().map(|liar| format!("{liar}/read")).chain(["rust/read/scalar".to_owned()]);
    let methods = methods.flat_map(|method| ["--method".to_owned(), method]);
    let words = ["--roster".to_owned(), roster, "-c".to_owned(), "wc -l {}".to_owned()];
    words.into_iter().chain(methods).collect()
}

fn outcome<'a>(json: &'a Value, id: &str, state: &str) -> (&'a str, &'a str) {
    let trial = trials(json, id, state);
    (trial["outcome"].as_str().unwrap(), trial["reason"].as_str().unwrap_or_default())
}

/// Whether a process with this program still runs.
fn is_running(program: &Path) -> bool {
    let links = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("exe"));
    links.into_iter().any(|link| fs::read_link(link).is_ok_and(|running| running == program))
}

#[test]
fn who_keeps_the_file_between_turns_is_refused_and_the_others_are_measured() {
    let Some((home, keeper, file)) = scene() else { return };
    let words = with_liars(&home, &keeper, &["mapped", "opened", "late", "child"]);
    let (json, said) = home.race_json(&file, &words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(said.code, Some(1), "{said}");
    for state in ["cold", "warm"] {
        let (mapped, reason) = outcome(&json, "mapped/read", state);
        assert_eq!(mapped, "refused", "{state}: {reason}");
        assert!(
            reason.contains("f.txt mapped between turns (process ") && reason.contains("(keeper)"),
            "{reason}"
        );
        let (opened, reason) = outcome(&json, "opened/read", state);
        assert_eq!(opened, "refused", "{state}: {reason}");
        assert!(reason.contains("f.txt open between turns (process "), "{reason}");
        for late in ["late/read", "child/read"] {
            let (refused, reason) = outcome(&json, late, state);
            assert_eq!(refused, "refused", "{late} {state}: {reason}");
            assert!(
                reason.contains("so the cache cannot be emptied for any trial"),
                "{late} {state}: {reason}"
            );
        }
        for honest in ["rust/read/scalar", "command/wc -l"] {
            assert_eq!(outcome(&json, honest, state), ("measured", ""), "{state}");
        }
    }
    assert!(!json["warnings"].to_string().contains("mapped"), "{}", json["warnings"]);
    assert!(!is_running(&keeper), "a child outlives its contender");
}

#[test]
fn a_foreign_program_is_named_once_and_the_rest_is_measured() {
    let Some((home, keeper, file)) = scene() else { return };
    let mut command = Command::new(&keeper);
    let mut outsider = Outsider(command.arg("hold").arg(&file).stdout(Stdio::piped()).spawn().unwrap());
    let mut held = String::new();
    BufReader::new(outsider.0.stdout.take().unwrap()).read_line(&mut held).unwrap();
    assert_eq!(held, "held\n");
    let words = ["--method", "rust/read/scalar", "--method", "rust/direct/scalar", "-c", "wc -l {}"];
    let (json, said) = home.race_json(&file, &words);
    let named = format!("process {} (keeper)", outsider.0.id());
    let all = json.to_string();
    assert_eq!(all.matches(&named).count(), 1, "{said}");
    let warnings = json["warnings"].as_array().unwrap();
    let warning = |warning: &&Value| warning.as_str().unwrap().contains(&format!("{named} has it mapped"));
    assert_eq!(warnings.iter().filter(warning).count(), 1, "{warnings:?}");
    for through in ["rust/read/scalar", "command/wc -l"] {
        let (cold, reason) = outcome(&json, through, "cold");
        assert!(cold == "refused" && reason.contains("another program has it mapped"), "{cold}: {reason}");
        assert_eq!(outcome(&json, through, "warm"), ("measured", ""));
    }
    match outcome(&json, "rust/direct/scalar", "cold") {
        ("unavailable", why) => eprintln!("SKIPPED: O_DIRECT: {why}"),
        direct => assert_eq!(direct, ("measured", ""), "its bytes come from the device all the same"),
    }
    for fill in json["fills"].as_array().unwrap() {
        assert!(fill["how"].as_str().unwrap().starts_with("not evicted, for another program"), "{fill}");
    }
}

/// A cold race as a user who owns only the file, with programs that this user may run but not read,
/// so that they cannot be inspected. Returns the JSON export and the output.
fn race_unseen(liars: &[&str]) -> Option<(Value, Said)> {
    if let Some(why) = no_other_user() {
        eprintln!("SKIPPED: {why}");
        return None;
    }
    let (home, keeper, file) = scene()?;
    fs::set_permissions(&keeper, fs::Permissions::from_mode(0o711)).unwrap();
    std::os::unix::fs::chown(&file, Some(65534), Some(65534)).unwrap();
    let export = home.temporary().join("export.json");
    let mut command = home.command("setpriv");
    command.args(AS_NOBODY).args([READLAB, "race"]).arg(&file).args(QUICK).args(["--state", "cold"]);
    command.args(with_liars(&home, &keeper, liars)).arg("--export-json").arg(&export);
    let said = Said::by(&mut command);
    if said.err.contains("setpriv:") || said.err.contains("no permission") {
        eprintln!("SKIPPED: other users may not reach the build folder: {}", said.err);
        return None;
    }
    let text = fs::read_to_string(&export).unwrap_or_else(|error| panic!("{error}: {said}"));
    Some((serde_json::from_str(&text).unwrap(), said))
}

#[test]
fn a_cold_reading_that_no_meter_saw_must_leave_the_file_in_the_cache() {
    let unseen = race_unseen(&["honest", "remembers", "direct"]);
    let Some((json, said)) = unseen else { return };
    assert_eq!(said.code, Some(1), "{said}");
    let honest = trials(&json, "honest/read", "cold");
    assert_eq!(honest["outcome"], "measured", "{}", honest["reason"]);
    for sample in honest["samples"].as_array().unwrap() {
        assert!(sample["device_read_bytes"].is_null() && sample["resident_after"] == 1.0, "{sample}");
    }
    let missing = honest["missing"]["device_read_bytes"].as_str().unwrap();
    assert!(missing.contains("permission denied"), "{missing}");
    for (liar, why) in [
        ("remembers/read", "pages resident after the reading: it need not have read the file"),
        ("direct/read", "a method past the page cache leaves no other trace"),
    ] {
        let (refused, reason) = outcome(&json, liar, "cold");
        assert_eq!(refused, "refused", "{liar}: {reason}");
        assert!(
            reason.contains("how many bytes came from the device cannot be read") && reason.contains(why),
            "{reason}"
        );
    }
    assert_eq!(outcome(&json, "rust/read/scalar", "cold"), ("measured", ""));
    let proof = &json["proofs"][0];
    let (known, samples) =
        (proof["device_bytes_known"].as_u64().unwrap(), proof["samples"].as_u64().unwrap());
    let unknown = honest["samples"].as_array().unwrap().len() as u64;
    assert_eq!(samples - known, unknown, "{proof}");
    assert!(said.out.contains(&format!("(device bytes known for {known} of {samples})")), "{said}");
}

#[test]
fn who_cannot_be_looked_into_is_found_by_what_its_end_sets_free() {
    let Some((json, said)) = race_unseen(&["mapped"]) else { return };
    let (refused, reason) = outcome(&json, "mapped/read", "cold");
    assert_eq!(refused, "refused", "{reason}: {said}");
    assert!(reason.contains("could be evicted only when its process was ended, 2 times"), "{reason}");
    assert_eq!(outcome(&json, "rust/read/scalar", "cold"), ("measured", ""), "{said}");
    assert_eq!(outcome(&json, "command/wc -l", "cold"), ("measured", ""), "{said}");
}
