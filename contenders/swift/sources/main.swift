// The Swift contender of readlab: URLSession's and Foundation's ways of reading a file, with the protocol of
// PROTOCOL.md. This file parses the command line and starts one session.

import Foundation

var target = "swift"
do {
    let words = CommandLine.arguments.dropFirst()
    switch words.first {
    case "hello" where words.count == 1:
        try say(Hello())
    case "methods" where words.count == 1:
        try say(Hello())
        for method in Method.all { try say(method.line) }
    case "read" where words.count >= 5:
        try say(Hello())
        let session = try Session(words: words.dropFirst(), target: CommandLine.unsafeArgv[5]!)
        target = session.name
        try await session.run()
    default:
        try FileHandle.standardError.write(contentsOf: Data("expected: hello, methods, or read METHOD SCAN WORK TARGET\n".utf8))
        exit(2)
    }
} catch Failure.unsuitable(let reason) {
    try say(Refusal(say: "unavailable", reason: reason))
    exit(1)
} catch {
    try say(Refusal(say: "failed", reason: Failure.wrap(error, target: target).description))
    exit(1)
}
