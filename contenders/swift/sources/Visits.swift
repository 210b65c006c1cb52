// The visit of bytes: a fold (sum, newlines) and a way of visiting (for, reduce, …). The choice is made once, outside
// the loops, so that each loop is compiled for exactly one fold and one kind of sequence.

import Foundation

/// The kind of work, by its word in the protocol. Lines are not made here.
enum Work: String, CaseIterable {
    case newlines, sum, discard
}

/// How the bytes are visited, by its name in a trial.
enum Scan: String {
    case forLoop = "for"
    case reduce
    case forEach
    case forUnsafe = "for-unsafe"
    case enumerate
    case nsdata
    case forUnsafeCopy = "for-unsafe-copy"
    case forComplex = "for-complex"
    case forUnoptimized = "for-unoptimized"
}

/// The answer of a reading. The work decides which fields count.
struct Tally: Equatable {
    var bytes: UInt64 = 0
    var newlines: UInt64 = 0
    var sum: UInt8 = 0
    /// Of several files.
    var proof: FilesProof?

    mutating func add(_ other: Tally) {
        bytes += other.bytes
        newlines += other.newlines
        sum &+= other.sum
    }
}

/// A step that takes one byte into a running state.
protocol Fold {
    associatedtype State
    static var zero: State { get }
    static func step(_ state: State, _ byte: UInt8) -> State
    static func tally(_ bytes: Int, _ state: State) -> Tally
}

/// The wrapping sum of all bytes: the source's "hash".
enum Sum: Fold {
    static let zero: UInt8 = 0
    static func step(_ state: UInt8, _ byte: UInt8) -> UInt8 { state &+ byte }
    static func tally(_ bytes: Int, _ state: UInt8) -> Tally { Tally(bytes: UInt64(bytes), sum: state) }
}

/// The number of bytes equal to 0x0A.
enum Newlines: Fold {
    static let zero = 0
    static func step(_ state: Int, _ byte: UInt8) -> Int { state &+ (byte == 0x0A ? 1 : 0) }
    static func tally(_ bytes: Int, _ state: Int) -> Tally { Tally(bytes: UInt64(bytes), newlines: UInt64(state)) }
}

extension Fold {
    /// A plain `for` over any bytes.
    @inline(__always)
    static func loop(_ bytes: some Sequence<UInt8>) -> State {
        var state = zero
        for byte in bytes { state = step(state, byte) }
        return state
    }

    /// The same loop as a build without optimization has it.
    @_optimize(none)
    static func unoptimizedLoop(_ bytes: Data) -> State {
        var state = zero
        for byte in bytes { state = step(state, byte) }
        return state
    }
}

/// A loop body that does more than a fold: it also counts each value and finds the longest run of one value.
struct ComplexBody<F: Fold> {
    private(set) var state = F.zero
    private var counts = [Int](repeating: 0, count: 256)
    private var last: UInt8?
    private var run = 0
    private var longestRun = 0

    @inline(__always)
    mutating func take(_ byte: UInt8) {
        state = F.step(state, byte)
        counts[Int(byte)] += 1
        run = byte == last ? run + 1 : 1
        last = byte
        if run > longestRun { longestRun = run }
    }

    /// The answer, with the number of bytes that the body counted: so no compiler may leave its work out.
    var tally: Tally {
        let counted = counts.reduce(0, +)
        return F.tally(longestRun <= counted ? counted : longestRun, state)
    }
}

/// Visits one piece of data and returns the answer.
typealias Visit = @Sendable (Data) -> Tally

/// The visit for a scan and a work; without a scan the bytes are only counted.
func visit(_ scan: Scan?, _ work: Work) -> Visit {
    switch (scan, work) {
    case (nil, _), (_, .discard): { Tally(bytes: UInt64($0.count)) }
    case (let scan?, .sum): visit(scan, Sum.self)
    case (let scan?, .newlines): visit(scan, Newlines.self)
    }
}

private func visit<F: Fold>(_ scan: Scan, _: F.Type) -> Visit {
    switch scan {
    case .forLoop: { F.tally($0.count, F.loop($0)) }
    case .reduce: { F.tally($0.count, $0.reduce(F.zero, F.step)) }
    case .forEach: { data in
            var state = F.zero
            data.forEach { state = F.step(state, $0) }
            return F.tally(data.count, state)
        }
    case .forUnsafe: { data in F.tally(data.count, data.withUnsafeBytes { F.loop($0) }) }
    case .forUnsafeCopy: { data in
            F.tally(data.count, copied(data).withUnsafeBytes { F.loop($0) })
        }
    case .forComplex: { data in
            var body = ComplexBody<F>()
            data.withUnsafeBytes { for byte in $0 { body.take(byte) } }
            return body.tally
        }
    case .forUnoptimized: { data in F.tally(data.count, F.unoptimizedLoop(data)) }
    case .enumerate: { data in
            var tally = Tally()
            enumerate(data) { bytes, _, _ in tally.add(F.tally(bytes.count, F.loop(bytes))) }
            return tally
        }
    case .nsdata: { data in
            let object = data as NSData
            // SAFETY: the object owns the bytes and is kept alive past the last use of its pointer.
            return withExtendedLifetime(object) {
                let bytes = UnsafeRawBufferPointer(start: object.bytes, count: object.length)
                return F.tally(bytes.count, F.loop(bytes))
            }
        }
    }
}

/// A function that returns Data from `withUnsafeBytes`: as a pointer must not leave the closure, its bytes are copied.
@inline(never)
private func copied(_ data: Data) -> Data {
    data.withUnsafeBytes { Data($0) }
}

/// The `enumerateBytes` of the source. Data still has it, deprecated for `regions`; a call through a protocol is the
/// same call without a compiler warning.
private protocol Enumerable {
    func enumerateBytes(_ block: (UnsafeBufferPointer<UInt8>, Data.Index, inout Bool) -> Void)
}

extension Data: Enumerable {}

private func enumerate(_ data: some Enumerable, _ block: (UnsafeBufferPointer<UInt8>, Data.Index, inout Bool) -> Void) {
    data.enumerateBytes(block)
}
