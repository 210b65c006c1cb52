// The tests of the Swift contender: every method, scan and work against an answer computed here by the simplest loop,
// over files and over HTTP; then failures and their messages. Prints `N passed, N failed` and exits 0 if none failed.

import Foundation

struct Report {
    private(set) var passed = 0
    private(set) var failed = 0

    mutating func expect(_ holds: Bool, _ name: String, _ found: @autoclosure () -> String) {
        if holds { passed += 1 } else {
            failed += 1
            print("FAILED: \(name): \(found())")
        }
    }
}

struct Method {
    let name: String
    let scans: [String: [String]]
    let parameters: [String]
    let readsURLs: Bool
    let readsFolders: Bool

    init(_ line: Line) {
        name = line["method"] as? String ?? ""
        scans = line["scans"] as? [String: [String]] ?? [:]
        parameters = (line["params"] as? [Line] ?? []).compactMap { $0["name"] as? String }
        readsURLs = line["reads"] as? String == "both"
        readsFolders = line["reads"] as? String == "folder"
    }
}

struct Tests {
    let contender: Contender
    let folder: URL
    let server: Server
    let bodies: [String: Data]
    var report = Report()

    /// The line of a correct answer, computed byte by byte.
    private func answer(_ work: String, _ body: Data) -> [String: Int] {
        var (sum, newlines) = (0, 0)
        for byte in body {
            sum = (sum + Int(byte)) % 256
            newlines += byte == 10 ? 1 : 0
        }
        switch work {
        case "sum": return ["bytes": body.count, "sum": sum]
        case "newlines": return ["bytes": body.count, "newlines": newlines]
        default: return ["bytes": body.count]
        }
    }

    private mutating func right(_ words: [String], _ work: String, _ body: Data, escaped: String? = nil) throws {
        let turns = "go 1 2\ngo 0 1\n"
        let talk = try escaped.map { try contender.talk(words, escapedTarget: $0, turns: turns) }
            ?? contender.talk(["read"] + words, turns: turns)
        let keys = ["hello", "ready", "sample", "sample", "done", "sample", "done"]
        let expected = answer(work, body)
        let found = talk.samples.map { $0.compactMapValues { $0 as? Int }.filter { ["bytes", "sum", "newlines", "lines"].contains($0.key) } }
        let holds = talk.lines.map { $0["say"] as? String ?? "" } == keys && found.allSatisfy { $0 == expected } && talk.status == 0
        report.expect(holds, words.joined(separator: " "), "expected \(expected), got \(talk.lines)")
    }

    private mutating func fails(_ words: [String], say: String = "failed", with part: String) throws {
        let talk = try contender.talk(["read"] + words, turns: "go 0 1\n")
        let holds = talk.last["say"] as? String == say && talk.reason.contains(part) && !talk.signalled && talk.samples.isEmpty
        report.expect(holds, words.joined(separator: " "), "expected \(say) with '\(part)', got \(talk.lines)")
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    mutating func everyAnswer(_ methods: [Method]) throws {
        for method in methods {
            for (work, scans) in method.scans {
                for scan in scans {
                    for (name, body) in bodies {
                        try right([method.name, scan, work, path(name)], work, body)
                        if method.readsURLs { try right([method.name, scan, work, server.url("whole/\(name)")], work, body) }
                    }
                }
            }
        }
    }

    /// Piece and buffer sizes from one byte to far more than the file, an unsized body, and the bytes kept between
    /// turns.
    mutating func settings(_ methods: [Method]) throws {
        let body = bodies["mixed"]!
        for method in methods {
            let words = [method.name, method.scans["sum"]![0], "sum"]
            if method.parameters.contains("readers") { try concurrent(method) }
            for parameter in method.parameters where parameter != "readers" {
                for size in [7, 65_535, 1 << 24] { try right(words + [path("mixed"), "\(parameter)=\(size)"], "sum", body) }
                try fails(words + [path("mixed"), "\(parameter)=0"], with: "must be from 1")
            }
            if method.readsURLs { try right(words + [server.url("unsized/mixed")], "sum", body) }
            let held = try contender.held(of: path("mixed"), ["read"] + words + [path("mixed")])
            report.expect(held.isEmpty, "\(method.name) between turns", "it holds \(held)")
        }
    }

    /// Each of several readers gets all bytes; the answer is that of one.
    private mutating func concurrent(_ method: Method) throws {
        let body = bodies["mixed"]!
        for scan in method.scans["sum"]! {
            for target in [path("mixed"), server.url("whole/mixed")] {
                try right([method.name, scan, "sum", target, "readers=3"], "sum", body)
            }
        }
        for readers in [0, 65] {
            try fails([method.name, "for", "sum", path("mixed"), "readers=\(readers)"], with: "must be from 1")
        }
        try fails([method.name, "for", "sum", server.url("short/mixed"), "readers=2"], with: server.url("short/mixed"))
    }

    mutating func names(_ methods: [Method]) throws {
        let body = bodies["mixed"]!
        for name in ["a space", "100%25#?&=+;", "u\u{308} \u{FC}", "line\nbreak", "http:"] {
            try body.write(to: URL(fileURLWithPath: path(name)))
            for method in methods { try right([method.name, method.scans["sum"]![0], "sum", path(name)], "sum", body) }
        }
        let raw = path("latin-").utf8CString.dropLast() + [CChar(bitPattern: 0xE9), 0]
        let made = Array(raw).withUnsafeBufferPointer { open($0.baseAddress!, O_WRONLY | O_CREAT, 0o600) }
        guard made >= 0 else { return print("SKIPPED: this file system takes no names that are not UTF-8") }
        close(made)
        for method in methods {
            let words = [method.name, "for", "sum"]
            let talk = try contender.talk(words, escapedTarget: path("latin-") + "\\0351", turns: "go 0 1\n")
            let holds = method.name == "read"
                ? talk.samples.count == 1 : talk.last["say"] as? String == "unavailable" && talk.reason.contains("UTF-8")
            report.expect(holds, "\(method.name) of a name that is not UTF-8", "\(talk.lines)")
        }
    }

    mutating func badInput(_ methods: [Method]) throws {
        for method in methods {
            let words = [method.name, "for", "sum"]
            try fails(words + [path("missing")], with: "missing")
            try fails(words + [folder.path], with: folder.path)
            try fails(words + [path("mixed"), "nonsense=1"], with: "no parameter nonsense")
            try fails([method.name, "avx2", "sum", path("mixed")], with: "no scan avx2")
            guard method.readsURLs else {
                try fails(words + [server.url("whole/mixed")], say: "unavailable", with: "not URLs")
                continue
            }
            try fails(words + [server.url("404/mixed")], with: "status 404")
            try fails(words + [server.url("short/mixed")], with: server.url("short/mixed"))
            try fails(words + [server.url("half/mixed")], with: server.url("half/mixed"))
            try fails(words + [server.url("moved/mixed")], with: "status 302")
            try right(words + [server.url("chunked/mixed")], "sum", bodies["mixed"]!)
            try fails(words + [server.url("cut/mixed")], with: server.url("cut/mixed"))
            try fails(words + ["http://127.0.0.1:1/mixed"], with: "127.0.0.1:1")
            try fails(words + [server.url("gzip/mixed")], with: server.url("gzip/mixed"))
            try secrets(words)
        }
        try fails(["nothing", "for", "sum", path("mixed")], with: "no method nothing")
        try fails(["read", "for", "lines", path("mixed")], with: "no work lines")
        let talk = try contender.talk(["read", "read", "for", "sum", path("mixed")], turns: "stop\n")
        report.expect(talk.reason.contains("go LEAD COUNT"), "a line that is no turn", "\(talk.lines)")
    }
}

/// What a session takes from its environment.
extension Tests {
    mutating func secrets(_ words: [String]) throws {
        let url = server.url("whole/mixed") + "?secret=1"
        let right = ["READLAB_TARGET": url, "READLAB_ETAG": "\"one\"", "http_proxy": "http://127.0.0.1:1"]
        try environment(words + ["-"], right, say: "done", with: "")
        try environment(words + ["-"], right.merging(["READLAB_ETAG": "\"two\""]) { $1 }, say: "failed", with: "status 412")
        try environment(words + ["-"], ["READLAB_TARGET": "http:///?secret=1"], say: "failed", with: "not a URL")
        try environment(words + [server.url("404/mixed") + "?secret=1"], ["X": "y"], say: "failed", with: "status 404")
        let encrypted = ["READLAB_TARGET": "https://127.0.0.1:1/?secret=1"]
        try environment(words + ["-"], encrypted, say: "failed", with: "https://127.0.0.1:1/")
        let certificates = encrypted.merging(["READLAB_CACERT": "/certificates.pem"]) { $1 }
        try environment(words + ["-"], certificates, say: "unavailable", with: "the system's certificates")
    }

    private mutating func environment(
        _ words: [String], _ environment: [String: String], say: String, with part: String
    ) throws {
        let talk = try contender.talk(["read"] + words, turns: "go 0 1\n", environment: environment)
        let silent = !"\(talk.lines)".contains("secret")
        let holds = talk.last["say"] as? String == say && (part.isEmpty || talk.reason.contains(part)) && silent
        report.expect(holds, words.joined(separator: " "), "expected \(say) with '\(part)', got \(talk.lines)")
    }
}

/// Bytes from a small linear generator, the same at every run.
func mixed(_ count: Int) -> Data {
    var state: UInt32 = 1
    return Data((0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(state >> 24)
    })
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readlab-swift-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
let bodies = ["empty": Data(), "one": Data([10]), "mixed": mixed(200_003)]
for (name, body) in bodies { try body.write(to: folder.appendingPathComponent(name)) }
let contender = Contender(program: URL(fileURLWithPath: CommandLine.arguments[1]))
var tests = Tests(contender: contender, folder: folder, server: try Server(bodies: bodies), bodies: bodies)
do {
    let said = try contender.talk(["methods"]).lines
    // Those of folders are tested by several_files.sh.
    let methods = said.dropFirst().map { Method($0) }.filter { !$0.readsFolders }
    tests.report.expect(said.first?["say"] as? String == "hello" && methods.count == 8 && methods.count(where: \.readsURLs) == 4, "methods", "\(said)")
    try tests.everyAnswer(methods)
    try tests.settings(methods)
    try tests.names(methods)
    try tests.badInput(methods)
} catch {
    tests.report.expect(false, "the tests ran to their end", "\(error)")
}
try FileManager.default.removeItem(at: folder)
print("\(tests.report.passed) passed, \(tests.report.failed) failed")
exit(tests.report.failed == 0 ? 0 : 1)
