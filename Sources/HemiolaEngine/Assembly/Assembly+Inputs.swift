internal import Hemiola

extension Assembly {
    mutating func makeInputs() -> [Pipeline.Input] {
        if configuration.captures.isEmpty { fail("no input; name a capture", at: .capture()) }
        let otherUse = configuration.captures.count > 1 ? "must be the only capture" : nil
        return configuration.captures.enumerated().compactMap { index, spec in
            let fault = spec.primary.flatMap { configuration.faults[$0.text] }
            return input(SourceInput(number: index, capture: spec, error: fault), at: .capture(index), refusingLive: otherUse)
        }
    }

    /// An input of a source. One that cannot be made fails when it has its turn.
    func suppliedInput(_ given: SourceInput) -> Pipeline.Input {
        var own = self
        own.problems = []
        let input = own.input(given, at: .capture(0), refusingLive: "is no file")
        guard let input, own.problems.isEmpty else {
            return Pipeline.Input(given: given, capture: PluginInstance(failing: given.error ?? Problem(own.problems)))
        }
        return input
    }

    /// - Parameter remark: What is wrong with a live capture; nil: it may be one.
    private mutating func input(_ given: SourceInput, at place: Place, refusingLive remark: String?) -> Pipeline.Input? {
        let spec = given.capture
        guard let plugin = found(spec.id, in: registry.captures, role: "capture", place),
            let (values, _, policy) = values(from: spec, of: plugin.about, PluginRegistry.commonSettings, place),
            let capture = instance(place, { () throws(Problem) in try plugin.make(values) })
        else { return nil }
        if let remark, capture.read(\.isLive) == true { fail("\(spec.id) is a live capture, which \(remark)", at: place) }
        return Pipeline.Input(given: given, capture: capture, policy: policy)
    }
}
