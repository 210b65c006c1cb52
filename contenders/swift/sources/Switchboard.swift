// The delegate of the session: it passes the events of a task to that task's receiver, so that one session can serve
// many readings, concurrently or in sequence. A task's own `delegate` would do, but is not called on every platform.

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The receiver of one task's events. Calls do not overlap; `complete` is the last, once.
protocol Receiver: AnyObject, Sendable {
    func receive(_ piece: Data)
    func complete(_ response: URLResponse?, _ error: (any Error)?)
}

/// `@unchecked Sendable`: the lock protects the table.
final class Switchboard: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var receivers: [Int: any Receiver] = [:]

    /// Must be called before the task is resumed, so that no event is missed.
    func connect(_ task: URLSessionTask, to receiver: any Receiver) {
        lock.withLock { receivers[task.taskIdentifier] = receiver }
    }

    func urlSession(_: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { receivers[task.taskIdentifier] }?.receive(data)
    }

    /// A redirect is an answer like any other that is not 200: it is not followed.
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock { receivers.removeValue(forKey: task.taskIdentifier) }?.complete(task.response, error)
    }
}
