// A loopback HTTP server for the tests: good answers and, by their path, the bad ones. One thread for each connection.

import Foundation

final class Server: Sendable {
    let port: UInt16

    init(bodies: [String: Data]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { return }
                Thread.detachNewThread { Self.answer(connection, bodies) }
            }
        }
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// `KIND/NAME`: whole, unsized (ends with the connection), chunked, short (one byte less than promised), half, cut (in
    /// the middle of a chunked body), moved, gzip (by its head only), or 404. Every file has the ETag "one", and `If-Match` with
    /// another one is refused.
    private static func answer(_ connection: Int32, _ bodies: [String: Data]) {
        defer { close(connection) }
        var request = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while request.range(of: Data("\r\n\r\n".utf8)) == nil {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count <= 0 { return }
            request.append(contentsOf: buffer[..<count])
        }
        let path = String(decoding: request, as: UTF8.self).split(separator: " ")[1].prefix { $0 != "?" }
        let words = path.split(separator: "/").map(String.init)
        guard words.count == 2, let body = bodies[words[1]], words[0] != "404" else {
            return write(connection, Data("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone".utf8))
        }
        let head = String(decoding: request, as: UTF8.self)
        if head.contains("If-Match: ") && !head.contains("If-Match: \"one\"\r\n") {
            return write(connection, Data("HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
        }
        if words[0] == "moved" {
            let head = "HTTP/1.1 302 Found\r\nLocation: /whole/\(words[1])\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            return write(connection, Data(head.utf8))
        }
        if words[0] == "chunked" || words[0] == "cut" {
            write(connection, Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".utf8))
            for piece in [body.prefix(body.count / 2), body.suffix(body.count - body.count / 2)] {
                write(connection, Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8))
                if words[0] == "cut" { return }
            }
            return write(connection, Data("0\r\n\r\n".utf8))
        }
        let size = words[0] == "unsized" ? "" : "Content-Length: \(body.count)\r\n"
        let encoding = words[0] == "gzip" ? "Content-Encoding: gzip\r\n" : ""
        write(connection, Data("HTTP/1.1 200 OK\r\n\(size)\(encoding)ETag: \"one\"\r\nConnection: close\r\n\r\n".utf8))
        switch words[0] {
        case "short": write(connection, body.dropLast())
        case "half": write(connection, body.prefix(body.count / 2))
        default: write(connection, body)
        }
    }

    private static func write(_ connection: Int32, _ data: Data) {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
