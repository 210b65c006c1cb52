//! Contenders that read URLs with one fault each: `readlab verify` finds and names it. They are
//! those of Python and Node.js, in which a line is replaced.

use crate::home::{Home, Said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is wrong with a contender.
struct Fault {
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
    method: &'static str,
    /// What the report has.
    words: &'static [&'static str],
}

const OF_PYTHON: [Fault; 14] = [
    Fault {
        name: "accepts-encodings",
        file: "url.py",
        right: "\"Accept-Encoding\": \"identity\"",
        wrong: "\"Accept-Encoding\": \"gzip\"",
        method: "urllib",
        words: &["accepts encodings", "gzip"],
    },
    Fault {
        name: "asks-for-any-version",
        file: "url.py",
        right: "sent[\"If-Match\"] = etag()",
        wrong: "pass",
        method: "http.client",
        words: &["If-Match"],
    },
    Fault {
        name: "takes-any-version",
        file: "url.py",
        right: "received != etag()",
        wrong: "False",
        method: "urllib",
        words: &["a server that sends another version", "it sent a sample"],
    },
    Fault {
        name: "takes-any-status",
        file: "url.py",
        right: "response.status != 200",
        wrong: "False",
        method: "http.client",
        words: &["a server that answers 404", "it answered 104 bytes"],
    },
    Fault {
        name: "takes-any-length",
        file: "url.py",
        right: "if response.length:",
        wrong: "if False:",
        method: "urllib",
        words: &["a server that ends the connection within a body"],
    },
    Fault {
        name: "takes-any-encoding",
        file: "url.py",
        right: "encoding.lower() != \"identity\"",
        wrong: "False",
        method: "urllib",
        words: &["a server that encodes its answer"],
    },
    Fault {
        name: "counts-too-many-requests",
        file: "urls.py",
        right: "\"requests\": 1,",
        wrong: "\"requests\": 2,",
        method: "urllib",
        words: &["it counts 4 requests, and the server saw 2"],
    },
    Fault {
        name: "shows-the-query",
        file: "url.py",
        right: "{parts.path}\"\n        self.secure",
        wrong: "{parts.path}?{parts.query}\"\n        self.secure",
        method: "urllib",
        words: &["what it wrote has a secret"],
    },
    Fault {
        name: "writes-the-query",
        file: "url.py",
        right: "        parts = urlsplit(self.text)",
        wrong: "        import sys; print(self.text, file=sys.stderr)\n        parts = urlsplit(self.text)",
        method: "urllib",
        words: &["what it wrote has a secret"],
    },
    Fault {
        name: "leaves-out-the-query",
        file: "url.py",
        right: "(f\"?{parts.query}\" if parts.query else \"\")",
        wrong: "\"\"",
        method: "http.client",
        words: &["403"],
    },
    Fault {
        name: "keeps-no-connection",
        file: "urls.py",
        right: "        reconnect_if_dropped(request.client)",
        wrong: "        request.client.close()",
        method: "http.client",
        words: &["kept=1", "it keeps no connection"],
    },
    Fault {
        name: "trusts-anybody",
        file: "url.py",
        right: "return ssl.create_default_context(cafile=authorities or None)",
        wrong: "return ssl._create_unverified_context()",
        method: "urllib",
        words: &["a certificate of an unknown authority"],
    },
    Fault {
        name: "follows-redirects",
        file: "urls.py",
        right: "[urllib.request.ProxyHandler({}), NoRedirects]",
        wrong: "[urllib.request.ProxyHandler({})]",
        method: "urllib",
        words: &["it followed a redirect"],
    },
    Fault {
        name: "asks-a-proxy",
        file: "urls.py",
        right: "[urllib.request.ProxyHandler({}), NoRedirects]",
        wrong: "[NoRedirects]",
        method: "urllib",
        words: &["through a proxy"],
    },
];

const OF_NODE: [Fault; 4] = [
    Fault {
        name: "takes-any-range",
        file: "server.js",
        right: "if (Number(first) !== start || Number(last) !== end - 1)",
        wrong: "if (false)",
        method: "https.get-ranged",
        words: &["a server that sends another range"],
    },
    Fault {
        name: "takes-the-whole-for-a-part",
        file: "server.js",
        right: "if (answer.status === OK) throw new Error('the server answers a range with the whole');",
        wrong: "if (answer.status === OK) return { length: null, size: Number(answer.header('content-length')) };",
        method: "https.get-ranged",
        words: &["a server that sends the whole for a range"],
    },
    Fault {
        name: "requests-bytes-twice",
        file: "parts.js",
        right: "const start = next;",
        wrong: "const start = next - 1;",
        method: "https.get-ranged",
        words: &["were requested"],
    },
    Fault {
        name: "leaves-connections-open",
        file: "https.js",
        right: "if (agent !== request.agent) await close(agent);",
        wrong: "",
        method: "https.get-ranged",
        words: &["kept=0", "it keeps a connection open between turns"],
    },
];

/// Copies a contender with the fault, and writes a roster that has it alone.
fn broken(home: &Home, language: &str, fault: &Fault) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contenders").join(language);
    let folder = home.at(fault.name);
    let copied = Command::new("cp").arg("-r").arg(&sources).arg(&folder).status().unwrap();
    assert!(copied.success());
    let replace = |file: &str, right: &str, wrong: &str| {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{file} has no {right:?} any more");
        fs::write(&path, text.replace(right, wrong)).unwrap();
    };
    replace(fault.file, fault.right, fault.wrong);
    let (name, reader) = (fault.name, folder.display());
    let run = if language == "python" {
        replace("say.py", "\"python\"", &format!("\"{name}\""));
        format!("[\"python3\", \"{reader}/reader.py\"]")
    } else {
        replace("reader.js", "name: 'node'", &format!("name: '{name}'"));
        format!("[\"node\", \"--expose-gc\", \"{reader}/reader.js\"]")
    };
    let roster = format!("[[contender]]\nname = \"{name}\"\nabout = \"a test of verify\"\nrun = {run}\n");
    home.file(format!("{name}.toml"), roster)
}

fn verified(home: &Home, language: &str, fault: &Fault) -> Said {
    let roster = broken(home, language, fault);
    let roster = roster.to_str().unwrap();
    home.readlab(["verify", fault.name, "--roster", roster, "--method", fault.method])
}

/// Every fault that is not found, or not named.
fn missed(language: &str, faults: &[Fault]) -> Vec<String> {
    if Command::new(language.replace("python", "python3")).arg("--version").output().is_err() {
        eprintln!("SKIPPED: readers of URLs with faults: no {language} on the PATH");
        return Vec::new();
    }
    let home = Home::new();
    let is_missed = |fault: &Fault| {
        let said = verified(&home, language, fault);
        let again = format!("to repeat it: readlab verify {} --roster ", fault.name);
        let is_named = fault.words.iter().all(|words| said.out.contains(words)) && said.out.contains(&again);
        (said.code != Some(1) || !is_named).then(|| format!("{}: {said}", fault.name))
    };
    faults.iter().filter_map(is_missed).collect()
}

#[test]
fn each_fault_of_a_reader_of_urls_is_found_and_named() {
    let missed = missed("python", &OF_PYTHON);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn each_fault_of_a_reader_of_ranges_is_found_and_named() {
    let missed = missed("node", &OF_NODE);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
