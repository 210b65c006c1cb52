// The source's APIs over one URLSession: data(from:), a task with a completion handler, a task with a delegate. The
// session is made once for the process, as the source does; a reading starts at the making of its task.

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How the session gets a file if Foundation has no `file://`.
enum Delivery {
    case whole
    case pieces(bytes: Int)
}

/// One session and its request.
struct Fetch: Sendable {
    let session: URLSession
    private let request: URLRequest
    private let switchboard = Switchboard()
    let url: URL
    /// The name of the target, for messages.
    let name: String

    init(_ target: Target, _ delivery: Delivery) throws {
        url = try target.url()
        name = target.name
        try Self.refuseOtherCertificates(for: url)
        let configuration = URLSessionConfiguration.ephemeral
        // A second reading must not be answered from the first one's bytes.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpAdditionalHeaders = Self.headers
        // Every method must use the same server.
        Environment.ignoreProxies()
        configuration.connectionProxyDictionary = [:]
        #if canImport(Darwin)
        request = URLRequest(url: url)
        #else
        switch (target, delivery) {
        case (.file, .whole):
            configuration.protocolClasses = [WholeFileProtocol.self]
            request = URLRequest(url: url)
        case (.file, .pieces(let bytes)):
            configuration.protocolClasses = [PieceFileProtocol.self]
            request = PieceFileProtocol.request(url, chunkBytes: bytes)
        case (.web, _):
            request = URLRequest(url: url)
        }
        #endif
        session = URLSession(configuration: configuration, delegate: switchboard, delegateQueue: nil)
    }

    /// Starts a task whose pieces go to `receiver`.
    func start(_ receiver: any Receiver) {
        let task = session.dataTask(with: request)
        switchboard.connect(task, to: receiver)
        task.resume()
    }

    private static var headers: [String: String] {
        let always = ["Accept-Encoding": "identity", "Connection": "close"]
        return always.merging(Environment.etag.map { ["If-Match": $0] } ?? [:]) { $1 }
    }

    /// On Linux, URLSession has libcurl verify a server by the system's certificates: no setting names others, and the
    /// delegate is not asked about servers.
    private static func refuseOtherCertificates(for url: URL) throws {
        if url.scheme == "https" && Environment.certificates != nil {
            throw Failure.unsuitable("URLSession only trusts the system's certificates here, and READLAB_CACERT names others")
        }
    }

    /// Throws unless the response is a success with all of its bytes.
    func check(_ response: URLResponse?, received: UInt64) throws {
        guard let response = response as? HTTPURLResponse else { return }
        guard response.statusCode == 200 else { throw Failure.status(url: name, code: response.statusCode) }
        let encoding = response.value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        guard encoding == "identity" else { throw Failure.different(url: name, what: "the content encoding \(encoding)") }
        if let etag = Environment.etag, response.value(forHTTPHeaderField: "ETag") != etag {
            throw Failure.different(url: name, what: "another ETag")
        }
        let promised = response.expectedContentLength
        if promised >= 0 && UInt64(promised) != received {
            throw Failure.truncated(url: name, received: received, promised: promised)
        }
    }
}

/// data(from:).
struct DataReader: Reader {
    let fetch: Fetch
    let visit: Visit

    func read() async throws -> Tally {
        let (data, response) = try await fetch.session.data(from: fetch.url)
        try fetch.check(response, received: UInt64(data.count))
        return visit(data)
    }
}

/// dataTask(with:completionHandler:); the bytes are visited in the handler.
struct CompletionReader: Reader {
    let fetch: Fetch
    let visit: Visit

    func read() async throws -> Tally {
        try await withCheckedThrowingContinuation { continuation in
            let task = fetch.session.dataTask(with: fetch.url) { data, response, error in
                continuation.resume(with: Result {
                    if let error { throw error }
                    let data = data ?? Data()
                    try fetch.check(response, received: UInt64(data.count))
                    return visit(data)
                })
            }
            task.resume()
        }
    }
}

/// dataTask(with:) and a delegate that visits each piece as it comes.
struct DelegateReader: Reader {
    let fetch: Fetch
    let visit: Visit

    func read() async throws -> Tally {
        try await withCheckedThrowingContinuation { continuation in
            fetch.start(Incremental(fetch: fetch, visit: visit) { continuation.resume(with: $0) })
        }
    }
}

/// Adds up one task's pieces. The waiting caller is resumed once, with the answer or the error.
///
/// `@unchecked Sendable`: the session calls its delegate one call at a time, from its serial delegate queue.
private final class Incremental: Receiver, @unchecked Sendable {
    private let fetch: Fetch
    private let visit: Visit
    private let finish: @Sendable (Result<Tally, any Error>) -> Void
    private var tally = Tally()

    init(fetch: Fetch, visit: @escaping Visit, finish: @escaping @Sendable (Result<Tally, any Error>) -> Void) {
        self.fetch = fetch
        self.visit = visit
        self.finish = finish
    }

    func receive(_ piece: Data) {
        tally.add(visit(piece))
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        finish(Result {
            if let error { throw error }
            try fetch.check(response, received: tally.bytes)
            return tally
        })
    }
}
