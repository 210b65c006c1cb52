import Foundation

let bufferBytes = 262144 // = buffer_bytes

/// Counts newlines, read(2) by read(2) into one buffer.
func newlines(inFileAt path: String) throws -> Int {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(file) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferBytes, alignment: 4096)
    defer { buffer.deallocate() }
    var count = 0
    while true {
        let length = read(file, buffer.baseAddress, bufferBytes)
        if length == 0 { return count }
        if length < 0 {
            if errno == EINTR { continue }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        for byte in UnsafeRawBufferPointer(rebasing: buffer[..<length]) where byte == 0x0A { count += 1 }
    }
}
