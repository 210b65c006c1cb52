// One session: from the command line to a reading, and its timed turns.

import Foundation

/// `read METHOD SCAN WORK TARGET [name=value …]`, checked against the catalogue.
struct Session {
    private let method: Method
    private let request: Request

    init(words: ArraySlice<String>, target: UnsafePointer<CChar>) throws {
        guard words.count >= 4 else { throw Failure.usage("expected: read METHOD SCAN WORK TARGET [name=value …]") }
        let words = Array(words)
        guard let method = Method.all.first(where: { $0.name == words[0] }) else {
            throw Failure.usage("no method \(words[0])")
        }
        guard let work = Work(rawValue: words[2]), let scans = method.line.scans[words[2]] else {
            throw Failure.usage("\(method.name) does no work \(words[2])")
        }
        guard scans.contains(words[1]) else {
            throw Failure.usage("\(method.name) has no scan \(words[1]) for \(work.rawValue)")
        }
        let target = try Target(word: target)
        self.method = method
        var settings = words[4...]
        let part = method.parts ? try Self.takePart(from: &settings) : Part()
        let params = try Self.resolve(settings, method, target)
        request = Request(scan: Scan(rawValue: words[1]), work: work, target: target, part: part, params: params)
    }

    /// The part that some of the words ask for, which are taken out.
    private static func takePart(from words: inout ArraySlice<String>) throws -> Part {
        var part = Part()
        var bounds = Set<Substring>()
        words.removeAll { word in
            let pair = word.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let value = Int(pair[1]), value >= 0 else { return false }
            switch pair[0] {
            case "start_bytes": part.start = value
            case "length_bytes": part.length = value
            default: return false
            }
            bounds.insert(pair[0])
            return true
        }
        guard bounds.count != 1 else { throw Failure.usage("a part needs both start_bytes and length_bytes") }
        return part
    }

    /// Defaults and given values. Over the network, the server and libcurl decide the size of pieces, so there is no
    /// parameter for it.
    private static func resolve(_ words: ArraySlice<String>, _ method: Method, _ target: Target) throws -> [String: UInt64] {
        var known = method.params
        if case .web = target { known.removeAll { $0.name == "chunk_bytes" } }
        var values = Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0.default) })
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = UInt64(parts[1]) else { throw Failure.usage("\(word): not name=value") }
            guard let parameter = known.first(where: { $0.name == parts[0] }) else {
                throw Failure.usage("\(method.name) has no parameter \(parts[0]) for this target")
            }
            guard parameter.min...parameter.max ~= value else {
                throw Failure.usage("\(parameter.name) must be from \(parameter.min) to \(parameter.max), got \(value)")
            }
            values[parameter.name] = value
        }
        return values
    }

    /// Answers turns until the input ends.
    func run() async throws {
        let reader = try method.make(request)
        try say(Ready(params: request.params))
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "go", let lead = UInt32(words[1]), let count = UInt32(words[2]), count > 0
            else { throw Failure.usage("expected `go LEAD COUNT`, got \(line)") }
            for _ in 0..<lead { _ = try await reader.read() }
            var lines = Lines()
            for _ in 0..<count { try lines.add(try await timed(reader)) }
            try lines.add(Done(count: Int(count)))
            giveBack()
            try lines.send()
        }
    }

    private func timed(_ reader: any Reader) async throws -> Sample {
        let clock = ContinuousClock()
        let before = try Usage.now()
        let start = clock.now
        let tally = try await reader.read()
        let wall = clock.now - start
        let after = try Usage.now()
        return Sample(
            wall_ns: UInt64(wall / .nanoseconds(1)), cpu_user_ns: after.userNs - before.userNs,
            cpu_system_ns: after.systemNs - before.systemNs, bytes: tally.bytes,
            newlines: request.work == .newlines ? tally.newlines : nil, sum: request.work == .sum ? tally.sum : nil,
            files: tally.proof?.files, products: tally.proof?.products)
    }

    /// The name of the target in failures.
    var name: String { request.target.name }
}

/// CPU time of all threads of this process so far.
struct Usage {
    let userNs: UInt64
    let systemNs: UInt64

    static func now() throws -> Usage {
        var usage = rusage()
        #if canImport(Darwin)
        let failed = getrusage(RUSAGE_SELF, &usage) != 0
        #else
        let failed = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) != 0
        #endif
        if failed { throw Failure.system(path: "getrusage", call: "self", code: errno) }
        return Usage(userNs: nanoseconds(usage.ru_utime), systemNs: nanoseconds(usage.ru_stime))
    }

    private static func nanoseconds(_ time: timeval) -> UInt64 {
        UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
    }
}

/// Returns what has been freed to the kernel: otherwise the allocator would keep the freed pieces of the file
/// resident after HTTP, until the next turn. Foundation's view of the C library has no name for the call, so it is
/// named here.
private func giveBack() {
    #if canImport(Glibc)
    _ = mallocTrim(0)
    #endif
}

#if canImport(Glibc)
@_silgen_name("malloc_trim")
private func mallocTrim(_ pad: Int) -> Int32
#endif
