//! Tests that `readlab verify` finds and names each fault of contenders that read URLs. They are
//! the contenders of Python and Node.js, in which one line is replaced.

use crate::fake::entry;
use crate::home::Home;
use crate::machine::succeeds_or_skip;
use crate::repository;
use std::process::Command;

/// Faults of the Python contender, one in each paragraph: its name, the file of the contender, the
/// method with the fault, the words that the report must contain, the right line in the file, and
/// the wrong line.
const PYTHON_FAULTS: &str = r#"accepts-encodings url.py urllib: accepts encodings; gzip
- "Accept-Encoding": "identity"
+ "Accept-Encoding": "gzip"
asks-for-any-version url.py http.client: If-Match
- sent["If-Match"] = etag()
+ pass
takes-any-version url.py urllib: a server that sends another version; it sent a sample
- received != etag()
+ False
takes-any-status url.py http.client: a server that answers 404; it answered 104 bytes
- response.status != 200
+ False
takes-any-length url.py urllib: a server that ends the connection within a body
- if response.length:
+ if False:
takes-any-encoding url.py urllib: a server that encodes its answer
- encoding.lower() != "identity"
+ False
counts-too-many-requests urls.py urllib: it counts 4 requests, and the server saw 2
- "requests": 1,
+ "requests": 2,
shows-the-query url.py urllib: what it wrote has a secret
- {parts.path}"\n        self.secure
+ {parts.path}?{parts.query}"\n        self.secure
writes-the-query url.py urllib: what it wrote has a secret
- parts = urlsplit(self.text)
+ import sys; print(self.text, file=sys.stderr)\n        parts = urlsplit(self.text)
leaves-out-the-query url.py http.client: 403
- (f"?{parts.query}" if parts.query else "")
+ ""
keeps-no-connection urls.py http.client: kept=1; it keeps no connection
-         reconnect_if_dropped(request.client)
+         request.client.close()
trusts-anybody url.py urllib: a certificate of an unknown authority
- return ssl.create_default_context(cafile=authorities or None)
+ return ssl._create_unverified_context()
follows-redirects urls.py urllib: it followed a redirect
- [urllib.request.ProxyHandler({}), NoRedirects]
+ [urllib.request.ProxyHandler({})]
asks-a-proxy urls.py urllib: through a proxy
- [urllib.request.ProxyHandler({}), NoRedirects]
+ [NoRedirects]
"#;

/// Faults of the Node.js contender, in the same format.
const NODE_FAULTS: &str = r#"takes-any-range server.js https.get-ranged: a server that sends another range
- if (Number(first) !== start || Number(last) !== end - 1)
+ if (false)
takes-the-whole-for-a-part server.js https.get-ranged: a server that sends the whole for a range
- if (answer.status === OK) throw new Error('the server answers a range with the whole');
+ if (answer.status === OK) return { length: null, size: Number(answer.header('content-length')) };
requests-bytes-twice parts.js https.get-ranged: were requested
- const start = next;
+ const start = next - 1;
leaves-connections-open https.js https.get-ranged: kept=0; it keeps a connection open between turns
- if (agent !== request.agent) await close(agent);
+
"#;

struct InjectedFault<'a> {
    name: &'a str,
    file: &'a str,
    method: &'a str,
    words: Vec<&'a str>,
    right: String,
    wrong: String,
}

impl<'a> InjectedFault<'a> {
    fn parse(lines: &[&'a str]) -> InjectedFault<'a> {
        let [head, right, wrong] = lines else { panic!("{lines:?}") };
        let (names, words) = head.split_once(": ").unwrap();
        let names: Vec<&str> = names.split(' ').collect();
        let [name, file, method] = names[..] else { panic!("{head}") };
        let line =
            |sign: char, line: &str| line.strip_prefix(sign).unwrap().trim_ascii().replace("\\n", "\n");
        let (right, wrong) = (line('-', right), line('+', wrong));
        InjectedFault { name, file, method, words: words.split("; ").collect(), right, wrong }
    }

    /// Copies a contender with the fault, and writes a roster with only this contender.
    fn build(&self, home: &Home, language: &str) {
        let name = self.name;
        let sources = repository::path("contenders").join(language);
        let copied = Command::new("cp").arg("-r").arg(sources).arg(home.at(name)).status().unwrap();
        assert!(copied.success());
        let replace = |file: &str, right: &str, wrong: &str| {
            let file = format!("{name}/{file}");
            let text = home.read(&file);
            assert!(text.contains(right), "{file} has no {right:?} any more");
            home.file(file, text.replace(right, wrong));
        };
        replace(self.file, &self.right, &self.wrong);
        let reader = |file: &str| home.at(name).join(file).display().to_string();
        let roster = if language == "python" {
            replace("say.py", "\"python\"", &format!("\"{name}\""));
            entry(name, &["python3", &reader("reader.py")])
        } else {
            replace("reader.js", "name: 'node'", &format!("name: '{name}'"));
            entry(name, &["node", "--expose-gc", &reader("reader.js")])
        };
        home.file(format!("{name}.toml"), roster);
    }

    /// A message if the fault is not found, or not named.
    fn missed(&self, home: &Home) -> Option<String> {
        let InjectedFault { name, method, .. } = self;
        let said = home.readlab(format!("verify {name} --roster {name}.toml --method {method}"));
        let again = format!("to repeat it: readlab verify {name} --roster ");
        let is_named = self.words.iter().all(|words| said.out.contains(words)) && said.out.contains(&again);
        (said.code != Some(1) || !is_named).then(|| format!("{name}: {said}"))
    }
}

fn assert_each_fault_is_named(language: &str, program: &str, faults: &str) {
    if !succeeds_or_skip(&format!("{program} --version")) {
        return;
    }
    let home = Home::new();
    let lines: Vec<&str> = faults.lines().collect();
    let missed = lines.chunks(3).map(InjectedFault::parse).filter_map(|fault| {
        fault.build(&home, language);
        fault.missed(&home)
    });
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn each_fault_of_the_python_contender_is_found_and_named() {
    assert_each_fault_is_named("python", "python3", PYTHON_FAULTS);
}

#[test]
fn each_fault_of_the_node_contender_is_found_and_named() {
    assert_each_fault_is_named("node", "node", NODE_FAULTS);
}
