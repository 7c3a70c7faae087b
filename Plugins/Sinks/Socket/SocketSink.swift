public import Hemiola
internal import HemiolaBridge

extension SinkPlugin {
    private static let path = Setting<String?>(
        "path", default: nil, "The socket's path; unset: hemiola.sock in XDG_RUNTIME_DIR, else in a private folder for temporary files.")
    private static let payload = Setting(
        "payload", default: SamplePayload.json, "How clients that do not subscribe get the samples: json, base64, or bare arrays alone.")
    private static let group = Setting<String?>(
        "group", default: nil, "A group whose members may connect too, by name or number; the path must be where they can reach it.")
    private static let maxClients = Setting("max_clients", default: 64, in: 1...1000, "How many may be connected at a time.")
    private static let exitOnClose = Setting("exit_on_close", default: false, "End the run when a client sends closeViz.")

    /// Feeds visualizers on a Unix socket with samples, and hears what they wish.
    public static let socket = SinkPlugin(
        "socket", "Feeds visualizers on a Unix socket with samples and records, and hears what they wish.",
        settings: [path.declared, payload.declared, group.declared, maxClients.declared, exitOnClose.declared], primary: path.key,
        needs: { _ in Needs(samples: true, realTime: true, everyEvent: true) },
        make: { settings throws(ConfigurationError) in
            if let path = settings[path] {
                if path.isEmpty { throw ConfigurationError("an empty path names no socket", at: Self.path.key) }
                if let fault = SocketFile.fault(inPath: path) { throw ConfigurationError(fault, at: Self.path.key) }
            } else if settings[group] != nil {
                throw ConfigurationError("the standard path is in a private folder; give a path that the group can reach", at: group.key)
            }
            return SocketServer(
                path: settings[path], group: settings[group],
                BridgeSettings(
                    payload: settings[payload], clientLimit: settings[maxClients], exitsOnClose: settings[exitOnClose]))
        })
}
