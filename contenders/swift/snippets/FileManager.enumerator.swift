// usual: yes
import Foundation

/// Counts newlines of every regular file below a folder. Links are not followed. Without a handler,
/// folders that cannot be read are left out.
func newlines(in folder: URL) throws -> Int {
    var failure: (any Error)?
    let files = FileManager.default.enumerator(
        at: folder, includingPropertiesForKeys: [.isRegularFileKey],
        errorHandler: { _, error in
            failure = error
            return false
        })
    var count = 0
    while let file = files?.nextObject() as? URL {
        guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
        try Data(contentsOf: file).withUnsafeBytes { bytes in
            for byte in bytes where byte == 0x0A { count += 1 }
        }
    }
    if let failure { throw failure }
    return count
}
