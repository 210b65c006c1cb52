// Several readers that each read the whole target at the same time. A reading ends with the last of them; its answer
// is that of one reader, which all must have.
//
// Each has a session of its own, and none is cancelled when another one fails: a session of
// swift-corelibs-foundation 6.0.3 holds the table of its tasks without a lock, and the tasks of one
// session that were made at the same time did not always end while the file protocol called its
// client on a queue of its own.

import Foundation

struct ConcurrentReaders: Reader {
    let readers: [any Reader]
    /// The name of the target, for messages.
    let target: String

    func read() async throws -> Tally {
        let tallies = await withTaskGroup(of: Result<Tally, any Error>.self) { group in
            for reader in readers {
                group.addTask {
                    do { return .success(try await reader.read()) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let answers = try tallies.map { try $0.get() }
        guard let answer = answers.first, answers.allSatisfy({ $0 == answer }) else {
            throw Failure.disagreement(target: target)
        }
        return answer
    }
}
