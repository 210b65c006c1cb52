//! Fake contenders of a few lines of shell: they keep the contract, or break it at a turn that a
//! test chooses.

use crate::home::Home;
use std::fmt::Write;

/// A contender whose answer to `go` is a few lines of shell; `answer` is the right one.
pub(crate) struct Fake<'a> {
    pub(crate) name: &'a str,
    pub(crate) turn: &'a str,
}

/// Writes a roster of these contenders; returns its path.
pub(crate) fn roster(home: &Home, fakes: &[Fake]) -> String {
    let mut roster = String::new();
    for Fake { name, turn } in fakes {
        let script = home.file(format!("{name}.sh"), script(name, turn));
        let script = script.to_str().unwrap();
        writeln!(roster, "[[contender]]\nname = \"{name}\"\nabout = \"a fake\"").unwrap();
        writeln!(roster, "run = [\"/bin/sh\", \"{script}\"]").unwrap();
    }
    home.file("roster.toml", roster).to_str().unwrap().to_owned()
}

/// A shell has no clock: it claims 1000 ns for each reading, less than the opening, six calls and
/// the line of one take on any machine, and less by far than what a turn may leave out.
fn script(name: &str, turn: &str) -> String {
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
    say '{{"say":"method","method":"read","scans":{{"newlines":["-"]}},"about":"a fake","cache":"through"}}'
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

/// A contender that keeps the contract but for one deed at its second turn.
pub(crate) fn at_second_turn(deed: &str) -> String {
    format!("if [ $turns = 2 ]; then {deed}; fi; answer")
}
