// bytes(from:): Foundation's own if it has one; else our stand-in, an asynchronous sequence of single bytes from the
// pieces that a delegate gets. The stand-in is not Apple's, and the method says so.

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// bytes(from:) and a loop, or a reduce, over single bytes.
struct BytesReader: Reader {
    let fetch: Fetch
    let consume: @Sendable (Fetch) async throws -> Tally

    init(fetch: Fetch, scan: Scan?, work: Work) {
        self.fetch = fetch
        consume = switch (scan, work) {
        case (nil, _), (_, .discard): { try await Self.count($0, isolation: nil) }
        case (.reduce, .sum): { try await Self.reduce($0, Sum.self) }
        case (.reduce, .newlines): { try await Self.reduce($0, Newlines.self) }
        case (.forComplex, .sum): { try await Self.complex($0, Sum.self, isolation: nil) }
        case (.forComplex, .newlines): { try await Self.complex($0, Newlines.self, isolation: nil) }
        case (.forUnoptimized, .sum): { try await Self.unoptimized($0, Sum.self, isolation: nil) }
        case (.forUnoptimized, .newlines): { try await Self.unoptimized($0, Newlines.self, isolation: nil) }
        case (_, .sum): { try await Self.loop($0, Sum.self, isolation: nil) }
        case (_, .newlines): { try await Self.loop($0, Newlines.self, isolation: nil) }
        }
    }

    func read() async throws -> Tally {
        try await consume(fetch)
    }

    // The loops are declared as not isolated, so that no executor is looked up between two bytes.
    private static func count(_ fetch: Fetch, isolation: isolated (any Actor)?) async throws -> Tally {
        let (stream, check) = try await fetch.bytes()
        var count = 0
        for try await _ in stream { count += 1 }
        try check(count)
        return Tally(bytes: UInt64(count))
    }

    private static func loop<F: Fold>(_ fetch: Fetch, _: F.Type, isolation: isolated (any Actor)?) async throws -> Tally {
        let (stream, check) = try await fetch.bytes()
        var state = F.zero
        var count = 0
        for try await byte in stream {
            state = F.step(state, byte)
            count += 1
        }
        try check(count)
        return F.tally(count, state)
    }

    private static func complex<F: Fold>(_ fetch: Fetch, _: F.Type, isolation: isolated (any Actor)?) async throws -> Tally {
        let (stream, check) = try await fetch.bytes()
        var body = ComplexBody<F>()
        var count = 0
        for try await byte in stream {
            body.take(byte)
            count += 1
        }
        try check(count)
        return body.tally
    }

    @_optimize(none)
    private static func unoptimized<F: Fold>(
        _ fetch: Fetch, _: F.Type, isolation: isolated (any Actor)?
    ) async throws -> Tally {
        let (stream, check) = try await fetch.bytes()
        var state = F.zero
        var count = 0
        for try await byte in stream {
            state = F.step(state, byte)
            count += 1
        }
        try check(count)
        return F.tally(count, state)
    }

    private static func reduce<F: Fold>(_ fetch: Fetch, _: F.Type) async throws -> Tally {
        let (stream, check) = try await fetch.bytes()
        let (count, state) = try await stream.reduce((0, F.zero)) { ($0.0 + 1, F.step($0.1, $1)) }
        try check(count)
        return F.tally(count, state)
    }
}

#if canImport(Darwin)
extension Fetch {
    /// The bytes, one at a time, and a check of their number at the end.
    func bytes() async throws -> (URLSession.AsyncBytes, @Sendable (Int) throws -> Void) {
        let (bytes, response) = try await session.bytes(from: url)
        return (bytes, { try check(response, received: UInt64($0)) })
    }
}
#else
extension Fetch {
    /// The bytes, one at a time, and a check of their number at the end.
    func bytes() async throws -> (ByteStream, @Sendable (Int) throws -> Void) {
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        let source = PieceSource(pieces: continuation)
        start(source)
        return (ByteStream(pieces: pieces), { try check(source.response, received: UInt64($0)) })
    }
}

/// Single bytes from pieces, through a reused buffer.
struct ByteStream: AsyncSequence, Sendable {
    fileprivate let pieces: AsyncThrowingStream<Data, any Error>

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: AsyncThrowingStream<Data, any Error>.Iterator
        private var buffer: [UInt8] = []
        private var position = 0

        fileprivate init(_ pieces: AsyncThrowingStream<Data, any Error>.Iterator) { self.pieces = pieces }

        // Both forms are written out: if only one exists, the compiler derives the other with a switch of executors
        // at every byte, which is about fifteen times slower.
        @inline(__always)
        mutating func next() async throws -> UInt8? {
            if position == buffer.count, try await !refill(isolation: nil) { return nil }
            return take()
        }

        @inline(__always)
        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
            if position == buffer.count, try await !refill(isolation: actor) { return nil }
            return take()
        }

        @inline(__always)
        private mutating func take() -> UInt8 {
            let byte = buffer[position]
            position += 1
            return byte
        }

        /// Takes the next piece; false at the end.
        @inline(never)
        private mutating func refill(isolation actor: isolated (any Actor)?) async throws -> Bool {
            repeat {
                guard let piece = try await pieces.next(isolation: actor) else { return false }
                buffer.removeAll(keepingCapacity: true)
                buffer.append(contentsOf: piece)
                position = 0
            } while buffer.isEmpty
            return true
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces.makeAsyncIterator()) }
}

/// Feeds a stream of pieces.
///
/// `@unchecked Sendable`: the response is written once, before the stream ends, and read after.
private final class PieceSource: Receiver, @unchecked Sendable {
    private let pieces: AsyncThrowingStream<Data, any Error>.Continuation
    private(set) var response: URLResponse?

    init(pieces: AsyncThrowingStream<Data, any Error>.Continuation) { self.pieces = pieces }

    func receive(_ piece: Data) {
        pieces.yield(piece)
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        self.response = response
        pieces.finish(throwing: error)
    }
}
#endif
