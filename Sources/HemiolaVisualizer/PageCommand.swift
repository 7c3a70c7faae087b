package import HemiolaRecords

/// A message to pages: change the preset or the speed, or report the presets.
package struct PageCommand: Sendable {
    /// A line of JSON.
    package let line: String
    /// The preset that the page loads; nil: another command.
    package let preset: String?
    /// The only page that gets the command; nil: all.
    let page: String?
    /// The page that has reported the change, and does not get the command; nil: none has.
    let reporter: String?

    private init(_ type: String, _ members: [JSONValue.Member], preset: String? = nil, page: String? = nil, reporter: String? = nil) {
        line = JSONValue.object([.init("type", .text(type))] + members).line
        self.preset = preset
        self.page = page
        self.reporter = reporter
    }

    static let getPresetNames = PageCommand("getPresetNames", [])

    /// - Parameter blend: Duration of the transition in seconds; 0: hard cut.
    static func loadPreset(_ name: String, blend: Double, page: String? = nil, reporter: String? = nil) -> PageCommand {
        PageCommand(
            "loadPresetByName", [.init("name", .text(name)), .init("blend_s", .number(blend, in: .seconds))], preset: name, page: page,
            reporter: reporter)
    }

    static func setSpeed(_ speed: Double, reporter: String? = nil) -> PageCommand {
        PageCommand("setSpeed", [.init("speed", .number(speed, in: .ratio))], reporter: reporter)
    }

    /// The commands that follow from the events of a batch.
    package static func following(_ events: Span<Event>) -> [PageCommand] {
        var commands: [PageCommand] = []
        // What pages have reported in the batch. The name of a preset → the origin of the control.
        var presetReporters: [String: String] = [:]
        var speedReporter: String?
        for index in events.indices {
            let event = events[index]
            if let stamped = event.control {
                switch stamped.control.type {
                case .presetHandler: presetReporters[stamped.control["name"].string ?? ""] = stamped.origin
                case .speedHandler: speedReporter = stamped.origin
                case .setSpeed: speedReporter = nil
                default: break
                }
            } else if let change = PresetChange(event) {
                let reporter = change.reason == .page ? presetReporters[change.name] : nil
                commands.append(.loadPreset(change.name, blend: change.cut == .hard ? 0 : change.blend, reporter: reporter))
            } else if let change = PagePresetChange(event) {
                commands.append(.loadPreset(change.name, blend: change.blend, page: change.page))
            } else if let change = SpeedChange(event) {
                commands.append(.setSpeed(change.speed, reporter: speedReporter))
            }
        }
        return commands
    }
}
