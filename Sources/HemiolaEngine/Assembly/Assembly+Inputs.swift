internal import Hemiola

extension PluginRegistry {
    func assembleInputs(
        _ configuration: PipelineConfiguration, _ problems: inout [Problem]
    ) -> [Pipeline.Input] {
        if configuration.captures.isEmpty { problems.append(Problem("no input; name a capture", at: .capture())) }
        let otherUse = configuration.captures.count > 1 ? "must be the only capture" : nil
        return configuration.captures.enumerated().compactMap { index, spec in
            let fault = spec.primary.flatMap { configuration.faults[$0.text] }
            return input(SourceInput(number: index, capture: spec, error: fault), at: .capture(index), refusingLive: otherUse, &problems)
        }
    }

    /// An input of a source. One that cannot be made fails when it has its turn.
    func suppliedInput(_ given: SourceInput) -> Pipeline.Input {
        var problems: [Problem] = []
        let input = input(given, at: .capture(0), refusingLive: "is no file", &problems)
        guard let input, problems.isEmpty else {
            let error = given.error ?? Problem(problems)
            return Pipeline.Input(given: given, capture: PluginInstance(failing: error))
        }
        return input
    }

    /// - Parameter remark: What is wrong with a live capture; nil: it may be one.
    private func input(
        _ given: SourceInput, at place: Place, refusingLive remark: String?, _ problems: inout [Problem]
    ) -> Pipeline.Input? {
        let spec = given.capture
        guard let plugin = found(spec.id, in: captures, role: "capture", place, &problems),
            let (values, common) = values(from: spec, of: plugin.about, Self.commonSettings, place, &problems)
        else { return nil }
        let make = plugin.make
        do {
            let capture = try PluginInstance { () throws(Problem) in try make(values) }
            if let remark, capture.read(\.isLive) == true {
                problems.append(Problem("\(spec.id) is a live capture, which \(remark)", at: place))
            }
            return Pipeline.Input(given: given, capture: capture, policy: Self.policy(values, common))
        } catch {
            problems += error.all.map { $0.below(place) }
            return nil
        }
    }
}
