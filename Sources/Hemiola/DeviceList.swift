public import HemiolaSignal

/// The devices that a capture can open at this time.
public struct DeviceList: Sendable, Hashable {
    /// Who has the devices, for people: `PulseAudio 16.1`.
    public var server: String
    /// In the order in which people are shown them.
    public var devices: [Device]

    /// The devices of a server.
    public init(server: String, devices: [Device]) {
        self.server = server
        self.devices = devices
    }

    /// Something that can be captured: an input, what an output plays, or what one application plays.
    public struct Device: Sendable, Hashable {
        /// What a device does.
        public enum State: String, Sendable, Hashable, CaseIterable {
            /// `running`: in use by a program. `idle`: not in use. `suspended`: switched off by the server.
            case running, idle, suspended
        }

        /// What the capture's primary setting takes.
        public var name: String
        /// For people: `Monitor of Built-in Audio`.
        public var summary: String
        /// Its own format, which a capture may convert.
        public var format: StreamFormat
        /// The output whose sound this is; nil for an input.
        public var monitorOf: String?
        /// Whether it is what one application plays, not a device.
        public var isApplication: Bool
        /// Whether it is what `auto` captures, or the default input.
        public var isDefault: Bool
        /// What it does at this moment.
        public var state: State
        /// Whether it is muted: what is captured may be silence.
        public var isMuted: Bool
        /// Its volume as sound settings show it: 1 is 100 %. nil: it has none of its own.
        public var volume: Double?

        /// What the device is, in one word: `application`, `monitor` or `input`.
        public var kind: String { isApplication ? "application" : monitorOf != nil ? "monitor" : "input" }

        /// A device from its parts; an input unless it is the monitor of an output or an application.
        public init(
            name: String, summary: String, format: StreamFormat, monitorOf: String? = nil, isApplication: Bool = false,
            isDefault: Bool = false, state: State, isMuted: Bool = false, volume: Double? = nil
        ) {
            self.name = name
            self.summary = summary
            self.format = format
            self.monitorOf = monitorOf
            self.isApplication = isApplication
            self.isDefault = isDefault
            self.state = state
            self.isMuted = isMuted
            self.volume = volume
        }

        /// The volume for people: `muted`, `5 %`; nil: it has none.
        public var volumeText: String? { isMuted ? "muted" : volume.map { "\(Int(($0 * 100).rounded())) %" } }

        /// Whether hardly anything can be heard: muted, or at most 10 % (-60 dB on the scale of PulseAudio and PipeWire).
        public var isQuiet: Bool { isMuted || volume.map { $0 <= 0.1 } ?? false }
    }
}
