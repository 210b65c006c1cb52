//! Fake contenders of a few lines of shell. They keep the contract, or break it at a turn that a
//! test chooses.

use crate::home::Home;

/// The fields of a fake's method, unless a test chooses others.
const FILE_METHOD: &str = r#""method":"read","scans":{"newlines":["-"]}"#;

/// Writes a roster of contenders, each with a name and the lines of shell by which it answers `go`.
/// The line `answer` gives the right answer. Returns the path of the roster.
pub(crate) fn roster(home: &Home, fakes: &[(&str, &str)]) -> String {
    roster_of(home, FILE_METHOD, fakes)
}

/// Writes a roster of contenders whose method has these fields in its line.
pub(crate) fn roster_of(home: &Home, method: &str, fakes: &[(&str, &str)]) -> String {
    let entries = fakes.iter().map(|(name, turn)| shell_entry(home, name, &script(name, method, turn)));
    let roster = home.file("roster.toml", entries.collect::<String>());
    roster.to_str().unwrap().to_owned()
}

/// Writes a script, and returns the roster entry of the contender that it is.
pub(crate) fn shell_entry(home: &Home, name: &str, script: &str) -> String {
    let script = home.file(format!("{name}.sh"), script);
    entry(name, &["/bin/sh", script.to_str().unwrap()])
}

/// The roster entry of a contender that is started by these words.
pub(crate) fn entry(name: &str, run: &[&str]) -> String {
    format!("[[contender]]\nname = \"{name}\"\nabout = \"a fake\"\nrun = {run:?}\n")
}

/// The script of a fake. A shell has no clock, so it claims 1000 ns for each reading. This is less
/// than an open, six calls and the output of a line take on any machine, and the missing time is
/// far less than a turn may leave out.
fn script(name: &str, method: &str, turn: &str) -> String {
    let ready = match name {
        "absent" => {
            r#"say '{"say":"unavailable","reason":"io_uring is switched off on this machine"}'; exit 1"#
        }
        _ => r#"say '{"say":"ready","params":{}}'"#,
    };
    format!(
        r#"say() {{ printf '%s\n' "$1"; }}
say '{{"say":"hello","protocol":1,"contender":"{name}","version":"1","runtime":"sh"}}'
if [ "$1" = methods ]; then
    say '{{"say":"method",{method},"about":"a fake","cache":"through"}}'
    exit
fi
target=$5 turns=0
visit() {{
    newlines=0
    while read -r line; do newlines=$((newlines + 1)); done < "$target"
}}
answer() {{
    left=$lead
    while [ "$left" -gt 0 ]; do left=$((left - 1)); visit; done
    left=$count
    while [ "$left" -gt 0 ]; do
        left=$((left - 1))
        visit
        say '{{"say":"sample","wall_ns":1000,"newlines":'"$newlines"'}}'
    done
    say '{{"say":"done","count":'"$count"'}}'
}}
{ready}
while read -r go lead count; do
    turns=$((turns + 1))
    {turn}
done
"#
    )
}

/// The turns of a contender that keeps the contract, except for this deed at its second turn.
pub(crate) fn at_second_turn(deed: &str) -> String {
    format!("if [ $turns = 2 ]; then {deed}; fi; answer")
}
