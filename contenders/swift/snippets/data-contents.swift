// usual: yes
import Foundation

/// Counts newlines in the whole file, read into memory.
func newlines(in file: URL) throws -> Int {
    let data = try Data(contentsOf: file)
    return data.withUnsafeBytes { bytes in
        var count = 0
        for byte in bytes where byte == 0x0A { count += 1 }
        return count
    }
}
