//! A Chromium that the test controls over a pipe (the DevTools protocol), so that no port is open.

use crate::home::Home;
use crate::machine::skip;
use crate::processes::KilledOnDrop;
use crate::repository::record_file;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// Paths of the program in distributions. The one on the PATH may be a wrapper, which works as
/// well.
const PROGRAMS: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

pub(super) struct Browser {
    // The browser ends when its pipe is closed. The kill is for a browser that does not.
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _process: KilledOnDrop,
    session: String,
    calls: u64,
    events: Vec<Value>,
    /// The file that was opened last.
    file: PathBuf,
    /// The home of the browser and of the pages that it shows.
    pub(super) home: Home,
}

impl Browser {
    pub(super) fn start() -> Option<Browser> {
        let Some(program) = PROGRAMS.into_iter().find(|path| Path::new(path).exists()) else {
            skip(format!("no Chromium at {}: pages are not tried in a browser", PROGRAMS.join(", ")));
            return None;
        };
        let home = Home::new();
        let profile = home.folder("profile");
        // The browser communicates over descriptors 3 and 4, where the shell puts our pipes.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", program])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            // Temporary files that it leaves when it is killed are removed with the profile.
            .env("TMPDIR", profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (session, events, file) = (String::new(), Vec::new(), PathBuf::new());
        let process = KilledOnDrop(child);
        let mut browser = Browser { to, from, _process: process, session, calls: 0, events, file, home };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser went away");
        serde_json::from_slice(&message).unwrap()
    }

    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Starts a browser with the page of a scripted record.
    pub(super) fn with_page(name: &str) -> Option<Browser> {
        let mut browser = Browser::start()?;
        browser.show(name);
        Some(browser)
    }

    /// Makes the page of a scripted record and its charts, and opens it.
    pub(super) fn show(&mut self, name: &str) {
        self.home
            .readlab(format!("report {} -o page.html --svg charts", record_file(name).display()))
            .exits(0);
        self.open(&self.home.at("page.html"));
    }

    /// Opens the current file again.
    pub(super) fn reload(&mut self) {
        self.open(&self.file.clone());
    }

    pub(super) fn open(&mut self, file: &Path) {
        file.clone_into(&mut self.file);
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    pub(super) fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub(super) fn text(&mut self, expression: &str) -> String {
        self.ask(expression).as_str().unwrap().to_owned()
    }

    pub(super) fn prefer(&mut self, theme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub(super) fn width(&mut self, pixels: u32) {
        self.screen(pixels, 900);
    }

    pub(super) fn screen(&mut self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub(super) fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// The number of elements of an expression in the page.
    pub(super) fn count(&mut self, elements: &str) -> u64 {
        self.ask(&format!("({elements}).length")).as_u64().unwrap()
    }

    /// Asserts that the page does not scroll sideways.
    #[track_caller]
    pub(super) fn assert_fits(&mut self) {
        let hidden = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(self.ask(hidden), 0, "{} is cut at the right", self.file.display());
    }

    /// Asserts that only this file was requested, and that no error was logged.
    #[track_caller]
    pub(super) fn assert_quiet(&mut self) {
        self.ask("1");
        let own = format!("file://{}", self.file.display());
        for event in &self.events {
            let method = event["method"].as_str().unwrap_or("");
            assert!(method != "Runtime.exceptionThrown" && method != "Log.entryAdded", "{event}");
            assert!(method != "Runtime.consoleAPICalled", "{event}");
            if method == "Network.requestWillBeSent" {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                let is_own = url.split('#').next() == Some(own.as_str()) || url.starts_with("data:");
                assert!(is_own, "asks for {url}");
            }
        }
    }
}
