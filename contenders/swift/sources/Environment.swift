// What a session takes from its environment for reading from a server. A URL from here is a secret:
// it is never printed with its query.

import Foundation

enum Environment {
    /// The URL that is read if the target is the word `-`.
    static var target: String? { value("READLAB_TARGET") }
    /// The strong ETag that every answer must have.
    static var etag: String? { value("READLAB_ETAG") }
    /// The certificates by which servers must be trusted instead of those of the system.
    static var certificates: String? { value("READLAB_CACERT") }

    /// libcurl asks a proxy that the environment names, whatever the session's configuration says.
    /// Every method must use the same server.
    static func ignoreProxies() {
        for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] { unsetenv(name) }
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
