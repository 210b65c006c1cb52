// The messages of this contender to the lab: one flat JSON object a line, as in PROTOCOL.md. This file reads no file
// and has no clock. A line is one write, so lines never mix.

import Foundation

/// The receipt, and the first line of every session.
struct Hello: Encodable {
    let say = "hello"
    let `protocol` = 1
    let contender = "swift"
    let version = "0.1.0"
    let runtime = "\(Build.compiler), \(Hello.foundation), \(Build.flags) (never -Ounchecked)"

    #if canImport(Darwin)
    static let foundation = "Apple's Foundation"
    #else
    static let foundation = "swift-corelibs-foundation"
    #endif
}

/// One setting of a method, with its unit in its name.
struct Parameter: Encodable {
    let name: String
    let `default`: UInt64
    let min: UInt64
    let max: UInt64
}

/// A method, as the lab lists it.
struct MethodLine: Encodable {
    let say = "method"
    let method: String
    let scans: [String: [String]]
    let params: [Parameter]
    let about: String
    let cache = "through"
    let reads: Reads
    let parts: Bool?
    let tls: Bool?
}

/// What a method can read.
enum Reads: String, Encodable {
    case file, both, folder
}

/// Ready for turns, with these parameters in force.
struct Ready: Encodable {
    let say = "ready"
    let params: [String: UInt64]
}

/// One timed reading and its proof.
struct Sample: Encodable {
    let say = "sample"
    let wall_ns: UInt64
    let cpu_user_ns: UInt64
    let cpu_system_ns: UInt64
    let bytes: UInt64
    let newlines: UInt64?
    let sum: UInt8?
    let files: UInt64?
    let products: UInt64?
}

/// The turn is over.
struct Done: Encodable {
    let say = "done"
    let count: Int
}

/// Why a reading failed, or a method is unavailable.
struct Refusal: Encodable {
    let say: String
    let reason: String
}

/// The lines of one answer, sent together.
struct Lines {
    private var bytes = Data()
    private let encoder: JSONEncoder

    init() {
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    mutating func add(_ message: some Encodable) throws {
        bytes.append(try encoder.encode(message))
        bytes.append(0x0A)
    }

    func send() throws {
        try FileHandle.standardOutput.write(contentsOf: bytes)
    }
}

/// Sends one line by itself.
func say(_ message: some Encodable) throws {
    var lines = Lines()
    try lines.add(message)
    try lines.send()
}
