// Why a reading failed, in one line with the target and the cause.

import Foundation

enum Failure: Error, CustomStringConvertible {
    /// The kernel refused a call on a file.
    case system(path: String, call: String, code: Int32)
    /// The server answered, but not with the bytes.
    case status(url: String, code: Int)
    /// The server answered with other bytes than those that were asked for.
    case different(url: String, what: String)
    /// The connection ended before the promised bytes were there.
    case truncated(url: String, received: UInt64, promised: Int64)
    /// Concurrent readers of one target got different bytes.
    case disagreement(target: String)
    /// Foundation failed, with its own message.
    case foundation(target: String, cause: String)
    /// The command line or a turn is invalid.
    case usage(String)
    /// This method cannot read this kind of target.
    case unsuitable(String)

    var description: String {
        switch self {
        case .system(let path, let call, let code): "\(path): \(call): \(String(cString: strerror(code)))"
        case .status(let url, let code): "\(url): the server answered with status \(code)"
        case .different(let url, let what): "\(url): the answer has \(what)"
        case .truncated(let url, let received, let promised):
            "\(url): the connection ended after \(received) of \(promised) bytes"
        case .disagreement(let target): "\(target): concurrent readers got different bytes"
        case .foundation(let target, let cause): "\(target): \(cause)"
        case .usage(let why), .unsuitable(let why): why
        }
    }

    /// An API's error as a failure with the target's name.
    static func wrap(_ error: any Error, target: String) -> Failure {
        if let failure = error as? Failure { return failure }
        let cause = error as NSError
        let text = cause.userInfo[NSLocalizedDescriptionKey] as? String ?? cause.localizedDescription
        // Foundation's text can have the URL, whose query can be a secret.
        let line = text.replacingOccurrences(of: "\n", with: " ")
            .replacingOccurrences(of: #"\?\S*"#, with: "", options: .regularExpression)
        // Of a file that is not there Foundation does not say what the kernel said.
        let isAbsent = cause.domain == NSCocoaErrorDomain && cause.code == CocoaError.fileReadNoSuchFile.rawValue
        let kernel = isAbsent ? ": \(String(cString: strerror(ENOENT)))" : ""
        return .foundation(target: target, cause: "\(line) (\(cause.domain) \(cause.code)\(kernel))")
    }
}
