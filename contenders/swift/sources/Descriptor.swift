// A file open for reading, through the kernel's own calls: `read` measures it, and our URLProtocol serves from it.

import Foundation

/// Owns a file descriptor; closed with the last reference, which is the scope that opened it.
final class Descriptor {
    private let number: Int32
    private let path: String

    init(opening path: Path) throws {
        self.path = path.shown
        number = path.raw.withUnsafeBufferPointer { open($0.baseAddress!, O_RDONLY | O_CLOEXEC) }
        if number < 0 { throw Failure.system(path: self.path, call: "open", code: errno) }
    }

    deinit { close(number) }

    /// Bytes the file holds now, by its inode; 0 for files that the kernel generates during the read.
    func size() throws -> Int {
        var status = stat()
        if fstat(number, &status) < 0 { throw Failure.system(path: path, call: "fstat", code: errno) }
        return Int(status.st_size)
    }

    /// Moves the position to so many bytes after the start.
    func seek(to bytes: Int) throws {
        if lseek(number, off_t(bytes), SEEK_SET) < 0 { throw Failure.system(path: path, call: "lseek", code: errno) }
    }

    /// Fills the front of `buffer`; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(number, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw Failure.system(path: path, call: "read", code: errno) }
        }
    }
}
