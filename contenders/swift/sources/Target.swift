// The target: a file by the raw bytes of its path, or a URL. Foundation's file APIs take strings, so a path that is
// not UTF-8 is refused there; a repaired string could be the name of another file.

import Foundation

enum Target: Sendable {
    case file(Path)
    case web(URL)

    init(word: UnsafePointer<CChar>) throws {
        let path = Path(word: word)
        let secret = path.text == "-" ? Environment.target : nil
        guard let text = secret ?? path.text, secret != nil || Self.isURL(text) else {
            self = .file(path)
            return
        }
        guard Self.isURL(text), let url = URL(string: text), url.host?.isEmpty == false else {
            throw Failure.usage("\(secret == nil ? Self.shown(text) : "READLAB_TARGET"): not a URL")
        }
        self = .web(url)
    }

    private static func isURL(_ text: String) -> Bool { text.hasPrefix("http://") || text.hasPrefix("https://") }

    /// A URL without its query, which can be a secret.
    private static func shown(_ url: String) -> String {
        String(url.prefix { $0 != "?" && $0 != "#" })
    }

    /// The file, for methods without network.
    func file(for method: String) throws -> Path {
        guard case .file(let path) = self else { throw Failure.unsuitable("\(method) reads files, not URLs") }
        return path
    }

    /// For messages.
    var name: String {
        switch self {
        case .file(let path): path.shown
        case .web(let url): Self.shown(url.absoluteString)
        }
    }

    /// The URL for the session.
    func url() throws -> URL {
        switch self {
        case .web(let url): url
        case .file(let path): try path.url()
        }
    }
}

/// The bytes of a file that are read; all, if nothing else was requested.
struct Part: Sendable {
    var start = 0
    var length = Int.max
}

/// A path as the bytes for the kernel.
struct Path: Sendable {
    let raw: ContiguousArray<CChar>
    /// The path as a string, if it is one.
    let text: String?

    init(word: UnsafePointer<CChar>) {
        raw = ContiguousArray(UnsafeBufferPointer(start: word, count: strlen(word) + 1))
        text = String(validatingCString: word)
    }

    /// For messages: repaired if it is not UTF-8.
    var shown: String { raw.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } }

    /// The path for an API that takes strings.
    func string() throws -> String {
        guard let text else { throw Failure.unsuitable("\(shown): Foundation cannot spell a path that is not UTF-8") }
        return text
    }

    /// The path for an API that takes URLs.
    func url() throws -> URL {
        URL(fileURLWithPath: try string(), isDirectory: false)
    }
}
