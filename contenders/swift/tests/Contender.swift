// Starts the contender as the lab does: with arguments, turns, and a reader of its lines. A deadline ends it.

import Foundation

/// One line of the contender.
typealias Line = [String: Any]

struct Conversation {
    let lines: [Line]
    let status: Int32
    let signalled: Bool

    var samples: [Line] { lines.filter { $0["say"] as? String == "sample" } }
    var last: Line { lines.last ?? [:] }
    var reason: String { last["reason"] as? String ?? "" }
}

struct Contender {
    let program: URL
    static let deadline = 60.0

    func talk(_ words: [String], turns: String = "", environment: [String: String] = [:]) throws -> Conversation {
        let settings = environment.map { "\($0.key)=\($0.value)" }
        return try environment.isEmpty
            ? run(program, words, turns)
            : run(URL(fileURLWithPath: "/usr/bin/env"), settings + [program.path] + words, turns)
    }

    /// The same with a target whose bytes are not a string: the shell makes them from `\0ooo` escapes.
    func talk(_ words: [String], escapedTarget: String, turns: String) throws -> Conversation {
        let script = #"target=$(printf '%b' "$2"); exec "$1" read "$3" "$4" "$5" "$target""#
        return try run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, "sh", program.path, escapedTarget] + words, turns)
    }

    private func run(_ executable: URL, _ words: [String], _ turns: String) throws -> Conversation {
        let (process, input, output) = try start(executable, words)
        try input.write(contentsOf: Data(turns.utf8))
        try input.close()
        let said = try output.readToEnd() ?? Data()
        process.waitUntilExit()
        return Conversation(
            lines: Self.parse(said), status: process.terminationStatus,
            signalled: process.terminationReason == .uncaughtSignal)
    }

    /// The descriptors and mappings of `file` that the contender keeps after a turn.
    func held(of file: String, _ words: [String]) throws -> [String] {
        let (process, input, output) = try start(program, words)
        defer {
            try? input.close()
            process.waitUntilExit()
        }
        try input.write(contentsOf: Data("go 1 2\n".utf8))
        var said = Data()
        while !String(decoding: said, as: UTF8.self).contains("\"say\":\"done\"") {
            let more = output.availableData
            if more.isEmpty { return ["no end of the turn: \(String(decoding: said, as: UTF8.self))"] }
            said.append(more)
        }
        let folder = "/proc/\(process.processIdentifier)"
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
        let open = descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)") }
        let maps = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/maps")), as: UTF8.self)
        return open.filter { $0 == file } + maps.split(separator: "\n").map(String.init).filter { $0.hasSuffix(file) }
    }

    private func start(_ executable: URL, _ words: [String]) throws -> (Process, FileHandle, FileHandle) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = executable
        process.arguments = words
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.deadline) {
            if process.isRunning { process.terminate() }
        }
        return (process, input.fileHandleForWriting, output.fileHandleForReading)
    }

    private static func parse(_ said: Data) -> [Line] {
        said.split(separator: 0x0A).map { line in
            (try? JSONSerialization.jsonObject(with: Data(line))) as? Line ?? ["say": String(decoding: line, as: UTF8.self)]
        }
    }
}
