internal import Hemiola

extension ConfigurationBuilder {
    /// The message for a problem, with the option in place of its place: `--analyzer spectrum:bandz=3` for `analyzers[0].bandz`.
    func line(for problem: Problem) -> String {
        guard let place = problem.place else { return problem.message }
        let message = problem.message
        switch (place.list, place.index) {
        case (.captures, let index?) where texts[.capture(index)] != nil:
            return Self.line("--capture", texts[.capture(index)], configuration.captures[index], place.key, message)
        case (.captures, let index?) where configuration.captures.indices.contains(index):
            return "\(configuration.captures[index].primary?.text ?? ""): \(message)"
        case (.analyzers, let index?) where configuration.analyzers.indices.contains(index):
            return Self.line("--analyzer", texts[.analyzer(index)], configuration.analyzers[index], place.key, message)
        case (.sinks, let index?) where index == outputIndex && (place.key ?? "path") == "path":
            let path = (configuration.sinks[index].primary ?? configuration.sinks[index].settings["path"])?.text ?? ""
            return "--output \(path): \(message)"
        case (.sinks, let index?) where configuration.sinks.indices.contains(index):
            return Self.line("--sink", texts[.sink(index)], configuration.sinks[index], place.key, message)
        case (.controls, let index?) where configuration.controls.indices.contains(index):
            return Self.line("--control", texts[.control(index)], configuration.controls[index], place.key, message)
        case (.captures, nil), (.analyzers, nil), (.sinks, nil), (.controls, nil): return message
        case (.select, nil): return "--select: \(message)"
        case (nil, _) where ["batch", "rate", "seed", "jobs"].contains(place.key): return "--\(place): \(message)"
        default: return problem.description
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
