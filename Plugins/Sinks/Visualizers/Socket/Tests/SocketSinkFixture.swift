import BridgeSupport
import Hemiola
import SocketSink
import TestSupport

/// The sink with a socket in a temporary folder.
typealias SocketSinkFixture = ClientSinkFixture

extension ClientSinkFixture {
    /// Opens the sink.
    ///
    /// - Parameter settings: The part of the SPEC after the path.
    convenience init(
        _ settings: String = "", selection: Selection = .all, format: StreamFormat = StreamFormat(sampleRate: 44_100, channelCount: 2)
    ) async throws {
        try await self.init(
            { _ in .socket }, spec: { "socket:\($0("s"))" + (settings.isEmpty ? "" : ",\(settings)") }, selection: selection, format: format
        )
    }

    static func sink(_ spec: String) throws -> any Sink { try sink(.socket, spec) }

    var path: String { folder("s") }
    func client() throws -> SocketClient { try SocketClient(path) }
}
