//! A real server that a script of the tests starts, and that runs until it is dropped.

use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The scripts, of this checkout.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/servers");

#[derive(Debug)]
pub(crate) struct ScriptServer {
    process: Child,
    script: String,
    places: BTreeMap<String, String>,
}

impl ScriptServer {
    /// The server of a script, over a folder.
    pub(crate) fn start(script: &str, folder: &Path) -> anyhow::Result<ScriptServer> {
        let mut command = Command::new(Path::new(SCRIPTS).join(script));
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| script.to_owned())?;
        let said = BufReader::new(process.stdout.take().context("its output")?);
        let mut server = ScriptServer { process, script: script.to_owned(), places: BTreeMap::new() };
        for line in said.lines() {
            let line = line?;
            match line.split_once('=') {
                Some((name, value)) => drop(server.places.insert(name.to_owned(), value.to_owned())),
                None if line == "ready" => return Ok(server),
                None => bail!("{script} says {line}"),
            }
        }
        // Why, it has said on standard error.
        bail!("{script} ended with {}", server.process.wait()?)
    }

    /// Where something is, by its name in the script.
    pub(crate) fn at(&self, name: &str) -> anyhow::Result<&str> {
        let place = self.places.get(name).map(String::as_str);
        place.with_context(|| format!("{} does not say {name}", self.script))
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        // It ends with its standard input; how does not matter here.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
