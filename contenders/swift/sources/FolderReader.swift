// The method for all regular files below a folder: FileManager.enumerator, which follows no links,
// and Data from each file.

import Foundation

/// How many files were read, and the proof of each (PROTOCOL.md).
struct FilesProof: Equatable {
    /// The numbers of a file are taken modulo this.
    private static let modulus: UInt64 = 65_521

    private(set) var files: UInt64 = 0
    private(set) var products: UInt64 = 0

    /// Adds one file.
    mutating func add(_ file: Tally, _ work: Work) {
        let value = switch work {
        case .newlines: file.newlines
        case .sum: UInt64(file.sum)
        case .discard: file.bytes
        }
        files += 1
        products += (file.bytes % Self.modulus + 1) * (value % Self.modulus + 1)
        products %= 1 << 32
    }
}

/// FileManager.enumerator and Data(contentsOf:). Foundation's paths are strings.
struct FolderReader: Reader {
    let folder: URL
    let work: Work
    let visit: Visit

    func read() throws -> Tally {
        var failure: Failure?
        // Without a handler, folders that cannot be read are left out.
        let urls = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey],
            errorHandler: { url, error in
                failure = Failure.wrap(error, target: url.path)
                return false
            })
        var tally = Tally()
        var proof = FilesProof()
        while let url = urls?.nextObject() as? URL {
            if let file = try read(url) {
                tally.add(file)
                proof.add(file, work)
            }
        }
        if let failure { throw failure }
        tally.proof = proof
        return tally
    }

    /// The answer of one file; nil if it is not regular.
    private func read(_ url: URL) throws -> Tally? {
        do {
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return nil }
            return visit(try Data(contentsOf: url))
        } catch {
            throw url.path.contains("\u{FFFD}")
                ? Failure.foundation(target: url.path, cause: "Foundation cannot spell a name that is not UTF-8")
                : Failure.wrap(error, target: url.path)
        }
    }
}
