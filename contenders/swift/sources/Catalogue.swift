// Every way of reading that this contender offers, in the order of the lab's pages: name, scans, parameters, one sentence,
// and how to make it ready for a target.

import Foundation

/// A trial as the command line requests it.
struct Request {
    let scan: Scan?
    let work: Work
    let target: Target
    let part: Part
    let params: [String: UInt64]

    var visit: Visit { readlab_swift.visit(scan, work) }

    func value(_ parameter: Parameter) -> Int { Int(params[parameter.name] ?? parameter.default) }
}

struct Method: Sendable {
    let name: String
    let scans: [Scan]
    var params: [Parameter] = []
    var works = Work.allCases
    var reads = Reads.file
    /// Whether it reads a part of a file, too.
    var parts = false
    let about: String
    let make: @Sendable (Request) throws -> any Reader

    var line: MethodLine {
        let words = works.map { ($0.rawValue, $0 == .discard ? ["-"] : scans.map(\.rawValue)) }
        return MethodLine(method: name, scans: Dictionary(uniqueKeysWithValues: words), params: params, about: about,
            reads: reads, parts: parts ? true : nil, tls: reads == .both ? true : nil)
    }
}

extension Method {
    static let all: [Method] = [bytes, data, delegate, completion, mapped, contents, read, handle, enumerator]

    private static let dataScans: [Scan] = [
        .forUnsafe, .enumerate, .nsdata, .forLoop, .reduce, .forEach, .forUnsafeCopy, .forComplex, .forUnoptimized,
    ]
    private static let buffer = Parameter(name: "buffer_bytes", default: 262_144, min: 1, max: 1 << 30)
    private static let chunk = Parameter(name: "chunk_bytes", default: 65_536, min: 1, max: 1 << 30)
    private static let readers = Parameter(name: "readers", default: 1, min: 1, max: 64)
    private static let session = "; one ephemeral session without a cache for the process, the window from making the task to the answer"
    #if canImport(Darwin)
    private static let whole = session
    private static let pieces = session
    private static let pieceParams = [readers]
    private static let stream = "URLSession.bytes(from:)"
    #else
    private static let whole =
        session + "; http is Foundation's own, file:// goes through our own URLProtocol that loads the whole file at once"
    private static let pieces =
        session + "; http is Foundation's own, file:// goes through our own URLProtocol that loads pieces of chunk_bytes"
    private static let pieceParams = [chunk, readers]
    private static let stream =
        "not Foundation's bytes(from:), which this platform lacks, but our stand-in: an AsyncSequence of UInt8 fed by a delegate"
    #endif

    private static func delivery(_ request: Request) -> Delivery {
        request.params[chunk.name].map { .pieces(bytes: Int($0)) } ?? .whole
    }

    /// One reader, or as many as requested, all at the same time.
    private static func concurrent(_ request: Request, _ reader: () throws -> any Reader) throws -> any Reader {
        let count = request.value(readers)
        if count == 1 { return try reader() }
        return ConcurrentReaders(readers: try (0..<count).map { _ in try reader() }, target: request.target.name)
    }

    private static let bytes = Method(
        name: "bytes", scans: [.forLoop, .reduce, .forComplex, .forUnoptimized], params: pieceParams, reads: .both,
        about: stream + pieces,
        make: { request in
            try concurrent(request) {
                BytesReader(fetch: try Fetch(request.target, delivery(request)), scan: request.scan, work: request.work)
            }
        })

    private static let data = Method(
        name: "data", scans: dataScans, params: [readers], reads: .both, about: "URLSession.data(from:)" + whole,
        make: { request in try concurrent(request) { DataReader(fetch: try Fetch(request.target, .whole), visit: request.visit) } })

    private static let delegate = Method(
        name: "dataTask-delegate", scans: dataScans, params: pieceParams, reads: .both,
        about: "URLSession.dataTask(with:) and a delegate that visits each piece as it comes" + pieces,
        make: { request in try concurrent(request) { DelegateReader(fetch: try Fetch(request.target, delivery(request)), visit: request.visit) } })

    private static let completion = Method(
        name: "dataTask-completion", scans: dataScans, params: [readers], reads: .both,
        about: "URLSession.dataTask(with:completionHandler:), visited in the handler; the Data is freed just after the answer" + whole,
        make: { request in try concurrent(request) { CompletionReader(fetch: try Fetch(request.target, .whole), visit: request.visit) } })

    private static let mapped = Method(
        name: "data-mapped", scans: dataScans, works: [.newlines, .sum],
        about: "Data(contentsOf:options: .alwaysMapped), unmapped when the Data goes",
        make: { ContentsReader(url: try $0.target.file(for: "data-mapped").url(), options: .alwaysMapped, visit: $0.visit) })

    private static let contents = Method(
        name: "data-contents", scans: dataScans, about: "Data(contentsOf:), the whole file read into one Data",
        make: { ContentsReader(url: try $0.target.file(for: "data-contents").url(), options: [], visit: $0.visit) })

    private static let enumerator = Method(
        name: "FileManager.enumerator", scans: dataScans, reads: .folder,
        about: "FileManager.enumerator, and Data(contentsOf:) of each regular file, one after the other",
        make: {
            let folder = try $0.target.file(for: "FileManager.enumerator").string()
            return FolderReader(
                folder: URL(fileURLWithPath: folder, isDirectory: true), work: $0.work, visit: $0.visit)
        })

    private static let read = Method(
        name: "read", scans: [.forUnsafe, .forLoop], params: [buffer], parts: true, about: "read(2) in a loop into one reused array",
        make: {
            DescriptorReader(
                path: try $0.target.file(for: "read"), part: $0.part, bufferBytes: $0.value(buffer), scan: $0.scan, work: $0.work)
        })

    private static let handle = Method(
        name: "FileHandle", scans: dataScans, params: [buffer], parts: true,
        about: "FileHandle.read(upToCount:) in a loop, a new Data each time",
        make: {
            HandleReader(
                path: try $0.target.file(for: "FileHandle").string(), part: $0.part, bufferBytes: $0.value(buffer),
                visit: $0.visit)
        })
}
