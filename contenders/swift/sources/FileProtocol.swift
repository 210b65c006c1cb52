// `file://` for URLSession if Foundation lacks it: our own URLProtocol, based on read(2). It is not Apple's, and the
// methods that use it say so.
//
// There are two kinds: the completion handler and data(from:) keep only the last piece that a protocol loads, so they
// get the whole file in one piece; a delegate gets it piece by piece. The pieces are in a few buffers that return
// when the receiver releases them, so a slow delegate slows the reading, and memory does not grow.

#if !canImport(Darwin)
import Foundation
import FoundationNetworking

/// `@unchecked Sendable`: the queue is written once, before the loading starts, and read after.
class FileProtocol: URLProtocol, @unchecked Sendable {
    private var queue: DispatchQueue?

    override class func canInit(with request: URLRequest) -> Bool { request.url?.isFileURL ?? false }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    // Called on the queue of the task, which must stay free for the calls of all tasks: a loading
    // that waits for its receiver would hold them up.
    override func startLoading() {
        guard let queue = task.flatMap(Self.queue) else {
            let failure = Failure.unsuitable("this Foundation keeps the queue of a task elsewhere")
            return client?.urlProtocol(self, didFailWithError: failure) ?? ()
        }
        self.queue = queue
        DispatchQueue.global(qos: .userInitiated).async { self.load() }
    }

    /// The queue on which the protocols of FoundationNetworking call their client. It is not
    /// public, but a client that is called elsewhere looks into the session's table of tasks while
    /// the end of the task before changes it, without a lock: one process in 1,500 ended by a
    /// segmentation fault.
    private static func queue(of task: URLSessionTask) -> DispatchQueue? {
        let classes = sequence(first: Mirror(reflecting: task), next: \.superclassMirror)
        return classes.lazy.flatMap(\.children).first { $0.label == "workQueue" }?.value as? DispatchQueue
    }

    // No task is cancelled here; a session that is torn down ignores the rest of the file.
    override func stopLoading() {}

    /// Passes all bytes of the file to the client.
    func deliver(_ file: Descriptor) throws {
        fatalError("a kind of delivery is chosen by a subclass")
    }

    func hand(_ piece: Data) {
        call { $0.urlProtocol(self, didLoad: piece) }
    }

    /// Calls the client, where it may be called, after all calls so far.
    private func call(_ event: @escaping @Sendable (any URLProtocolClient) -> Void) {
        queue?.async { self.client.map(event) }
    }

    private func load() {
        do {
            try answer()
            call { $0.urlProtocolDidFinishLoading(self) }
        } catch {
            call { $0.urlProtocol(self, didFailWithError: error) }
        }
    }

    // The file is closed on return, before the client learns that the loading is over.
    private func answer() throws {
        guard let url = request.url else { throw Failure.usage("a request without a URL") }
        let path = url.withUnsafeFileSystemRepresentation { $0.map { Path(word: $0) } }
        guard let path else { throw Failure.usage("\(url): no path for the kernel") }
        let file = try Descriptor(opening: path)
        let response = URLResponse(
            url: url, mimeType: "application/octet-stream", expectedContentLength: try file.size(), textEncodingName: nil)
        call { $0.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
        try deliver(file)
    }
}

/// The whole file in one piece.
final class WholeFileProtocol: FileProtocol, @unchecked Sendable {
    override func deliver(_ file: Descriptor) throws {
        // One byte more than the file has, so that its end is reached without growing.
        var capacity = try file.size() + 1
        var start = try Memory.allocate(capacity)
        var count = 0
        do {
            while true {
                if count == capacity {
                    capacity = max(2 * capacity, 64 * 1024)
                    start = try Memory.resize(start, capacity)
                }
                let room = UnsafeMutableRawBufferPointer(start: start + count, count: capacity - count)
                let more = try file.read(into: room)
                if more == 0 { break }
                count += more
            }
        } catch {
            free(start)
            throw error
        }
        hand(Data(bytesNoCopy: start, count: count, deallocator: .free))
    }
}

/// The file in pieces of the size that the request carries.
final class PieceFileProtocol: FileProtocol, @unchecked Sendable {
    // A header field, since the properties that URLProtocol can attach to a request do not reach the protocol here.
    private static let field = "Readlab-Chunk-Bytes"

    /// A request for a file in pieces of this size.
    static func request(_ url: URL, chunkBytes: Int) -> URLRequest {
        var request = URLRequest(url: url)
        request.setValue(String(chunkBytes), forHTTPHeaderField: field)
        return request
    }

    override func deliver(_ file: Descriptor) throws {
        guard let chunkBytes = request.value(forHTTPHeaderField: Self.field).flatMap({ Int($0) }) else {
            throw Failure.usage("a request without the size of its pieces")
        }
        let pool = BufferPool(bytes: chunkBytes)
        while true {
            let start = try pool.take()
            do {
                let count = try file.read(into: UnsafeMutableRawBufferPointer(start: start, count: chunkBytes))
                if count == 0 { return pool.give(start) }
                hand(Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in pool.give(start) }))
            } catch {
                pool.give(start)
                throw error
            }
        }
    }
}

/// A pool of a few buffers of one size, which are filled and released in turn.
///
/// The condition protects all mutable state. The pool lives until the last of its buffers has returned.
private final class BufferPool: @unchecked Sendable {
    /// One is being filled, one waits, one is being visited, and URLSession keeps the latest.
    private static let most = 4

    private let bytes: Int
    private let returned = NSCondition()
    private var idle: [UnsafeMutableRawPointer] = []
    private var made = 0

    init(bytes: Int) { self.bytes = bytes }

    deinit { idle.forEach { free($0) } }

    /// A buffer of the pool's size; waits until one is idle when all have been made.
    func take() throws -> UnsafeMutableRawPointer {
        returned.lock()
        defer { returned.unlock() }
        while idle.isEmpty && made == Self.most { returned.wait() }
        if let buffer = idle.popLast() { return buffer }
        let buffer = try Memory.allocate(bytes)
        made += 1
        return buffer
    }

    func give(_ buffer: UnsafeMutableRawPointer) {
        returned.lock()
        idle.append(buffer)
        returned.signal()
        returned.unlock()
    }
}

/// malloc and realloc that throw errors.
private enum Memory {
    static func allocate(_ bytes: Int) throws -> UnsafeMutableRawPointer {
        guard let start = malloc(bytes) else { throw Failure.usage("no memory for \(bytes) bytes") }
        return start
    }

    static func resize(_ start: UnsafeMutableRawPointer, _ bytes: Int) throws -> UnsafeMutableRawPointer {
        guard let moved = realloc(start, bytes) else { throw Failure.usage("no memory for \(bytes) bytes") }
        return moved
    }
}
#endif
