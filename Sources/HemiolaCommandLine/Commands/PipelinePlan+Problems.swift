internal import Hemiola

extension PipelinePlan {
    /// The message for a problem, with the option in place of the path: `--analyzer spectrum:bandz=3` for `analyzers[0].bandz`.
    func line(for problem: ConfigurationProblem) -> String {
        let place = ConfigurationPath(problem.path)
        switch (place.role, place.index) {
        case ("captures", let index?) where captureTexts[index] != nil:
            return Self.line("--capture", captureTexts[index], configuration.captures[index], place.key, problem.message)
        case ("captures", let index?) where configuration.captures.indices.contains(index):
            return "\(configuration.captures[index].primary?.text ?? ""): \(problem.message)"
        case ("analyzers", let index?) where configuration.analyzers.indices.contains(index):
            return Self.line("--analyzer", analyzerTexts[index], configuration.analyzers[index], place.key, problem.message)
        case ("sinks", let index?) where index == outputIndex && (place.key ?? "path") == "path":
            let path = (configuration.sinks[index].primary ?? configuration.sinks[index].settings["path"])?.text ?? ""
            return "--output \(path): \(problem.message)"
        case ("sinks", let index?) where configuration.sinks.indices.contains(index):
            return Self.line("--sink", sinkTexts[index], configuration.sinks[index], place.key, problem.message)
        case ("batch", nil), ("rate", nil), ("seed", nil), ("jobs", nil), ("select", nil):
            return "--\(place.role): \(problem.message)"
        case ("captures", nil), ("analyzers", nil), ("sinks", nil):
            return problem.message
        default:
            return problem.description
        }
    }

    /// Of a SPEC with several settings, only the invalid one is printed.
    private static func line(_ option: String, _ text: String?, _ spec: PluginSpec, _ key: String?, _ message: String) -> String {
        guard let text else { return "\(spec.id): \(key.map { "\($0): " } ?? "")\(message)" }
        guard let key else { return "\(option) \(text): \(message)" }
        if let value = spec.settings[key] { return "\(option) \(spec.id):\(key)=\(value.text): \(message)" }
        return "\(option) \(text): \(key): \(message)"
    }
}

/// The parts of a path such as `sinks[1].period_s`.
private struct ConfigurationPath {
    var role: String
    var index: Int?
    var key: String?

    init(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        let head = parts.first ?? ""
        key = parts.count > 1 ? String(parts[1]) : nil
        let bracket = head.firstIndex(of: "[") ?? head.endIndex
        role = String(head[..<bracket])
        index = Int(head[bracket...].dropFirst().dropLast())
    }
}
