internal import Hemiola
internal import HemiolaSignal

/// What can be set about a capture from a sound server.
struct PulseSettings: Sendable {
    private static let device = Setting(
        "device", default: "auto",
        "auto: what the default output plays; auto-input: the default input; app:NAME: an application; else a device's name.")
    private static let server = Setting(
        "server", default: String?.none, "The server's address, as in PULSE_SERVER; unset: what PULSE_SERVER or the session names.")
    private static let wait = Setting(
        "wait", default: false, "Waits for a server or a device that is not there yet.")

    static let declared = [device.declared, server.declared, wait.declared]

    var device: DeviceWish
    var server: String?
    var waits: Bool

    init(_ settings: SettingValues) throws(ConfigurationError) {
        device = try DeviceWish(parsing: settings[Self.device])
        server = settings[Self.server]
        waits = settings[Self.wait]
        if server == "" { throw ConfigurationError("there is no address; leave it out for the usual server", at: Self.server.key) }
    }
}
