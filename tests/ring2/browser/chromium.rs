//! A Chromium that the test controls over a pipe (the DevTools protocol), so no port is open.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Where distributions keep the program; the one on the path may be a wrapper, which serves as
/// well.
const PROGRAMS: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// A browser with one page.
pub(super) struct Browser {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    session: String,
    calls: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it, or prints that there is none.
    pub(super) fn start() -> Option<Browser> {
        let Some(program) = PROGRAMS.into_iter().find(|path| Path::new(path).exists()) else {
            eprintln!("SKIPPED: no Chromium at {}: pages are not tried in a browser", PROGRAMS.join(", "));
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The browser talks over descriptors 3 and 4; the shell puts our pipes there.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
            ])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // What it leaves in the folder for temporary files when it is killed goes with the profile.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let session = String::new();
        let mut browser =
            Browser { child, to, from, session, calls: 0, events: Vec::new(), _profile: profile };
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
        self.to.as_mut().unwrap().write_all(&text).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    pub(super) fn open(&mut self, file: &Path) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    pub(super) fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
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

    pub(super) fn press_enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({ "type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13 });
            self.call("Input.dispatchKeyEvent", key);
        }
    }

    /// Only this file was requested, and no error was logged.
    pub(super) fn assert_quiet(&mut self, file: &Path) {
        self.ask("1");
        let own = format!("file://{}", file.display());
        for event in &self.events {
            let method = event["method"].as_str().unwrap_or("");
            assert!(method != "Runtime.exceptionThrown" && method != "Log.entryAdded", "{event}");
            assert!(method != "Runtime.consoleAPICalled", "{event}");
            if method == "Network.requestWillBeSent" {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                assert!(
                    url.split('#').next() == Some(own.as_str()) || url.starts_with("data:"),
                    "asks for {url}"
                );
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends when its pipe does; the kill is for one that does not.
        drop(self.to.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
