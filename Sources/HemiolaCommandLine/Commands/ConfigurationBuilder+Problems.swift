internal import Hemiola

extension ConfigurationBuilder {
    /// The message for a problem, with the option in place of its place: `--analyzer spectrum:bandz=3` for `analyzers[0].bandz`.
    func line(for problem: Problem) -> String {
        guard let place = problem.place else { return problem.message }
        let message = problem.message
        switch (place.list, place.index) {
        case (nil, _) where ["batch", "rate", "seed", "jobs"].contains(place.key): return "--\(place): \(message)"
        case (.select, nil): return "--select: \(message)"
        case (let list?, nil) where list.specs != nil: return message
        case (let list?, let index?):
            guard let specs = list.specs, configuration[keyPath: specs].indices.contains(index) else { return problem.description }
            let spec = configuration[keyPath: specs][index]
            let text = texts[Place(list, index)]
            if list == .captures, text == nil { return "\(spec.primary?.text ?? ""): \(message)" }
            if list == .sinks, index == outputIndex, (place.key ?? "path") == "path" {
                return "--output \((spec.primary ?? spec.settings["path"])?.text ?? ""): \(message)"
            }
            return Self.line(list.option, text, spec, place.key, message)
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
