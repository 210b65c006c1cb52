// The methods for files that need no session: read(2), FileHandle, and Data from a file, read or mapped.

import Foundation

/// A method for one target, for any number of readings. It keeps no byte of the file between them.
protocol Reader: Sendable {
    func read() async throws -> Tally
}

/// read(2) into one array that every call reuses.
struct DescriptorReader: Reader {
    let path: Path
    let part: Part
    let bufferBytes: Int
    let visit: @Sendable (borrowing [UInt8], Int) -> Tally

    init(path: Path, part: Part, bufferBytes: Int, scan: Scan?, work: Work) {
        self.path = path
        self.part = part
        self.bufferBytes = bufferBytes
        visit = switch (scan, work) {
        case (nil, _), (_, .discard): { Tally(bytes: UInt64($1)) }
        case (let scan?, .sum): Self.visit(scan, Sum.self)
        case (let scan?, .newlines): Self.visit(scan, Newlines.self)
        }
    }

    func read() throws -> Tally {
        let file = try Descriptor(opening: path)
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        var tally = Tally()
        var left = part.length
        if part.start > 0 { try file.seek(to: part.start) }
        while left > 0 {
            let most = min(left, bufferBytes)
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<most])) }
            if count == 0 { break }
            tally.add(visit(buffer, count))
            left -= count
        }
        return tally
    }

    private static func visit<F: Fold>(_ scan: Scan, _: F.Type) -> @Sendable (borrowing [UInt8], Int) -> Tally {
        switch scan {
        case .forUnsafe: { buffer, count in
                // Rebased: a loop over a slice of a raw buffer is several times slower.
                F.tally(count, buffer.withUnsafeBytes { F.loop(UnsafeRawBufferPointer(rebasing: $0[..<count])) })
            }
        default: { buffer, count in F.tally(count, F.loop(buffer[..<count])) }
        }
    }
}

/// FileHandle, which makes a new Data for every piece.
struct HandleReader: Reader {
    let path: String
    let part: Part
    let bufferBytes: Int
    let visit: Visit

    func read() throws -> Tally {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path, isDirectory: false))
        defer { try? handle.close() }
        var tally = Tally()
        var left = part.length
        if part.start > 0 { try handle.seek(toOffset: UInt64(part.start)) }
        while left > 0, let piece = try handle.read(upToCount: min(left, bufferBytes)), !piece.isEmpty {
            tally.add(visit(piece))
            left -= piece.count
        }
        return tally
    }
}

/// Data from a file, all of it at once.
struct ContentsReader: Reader {
    let url: URL
    let options: Data.ReadingOptions
    let visit: Visit

    func read() throws -> Tally {
        visit(try Data(contentsOf: url, options: options))
    }
}
