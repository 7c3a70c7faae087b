internal import Hemiola

/// A director of the pipeline with the controls that its plugin declares.
struct PipelineDirector {
    var director: any Director
    var controls: Set<String> = []
    var fallbackControls: Set<String> = []

    /// The director of a sink whose plugin has this declaration.
    init(_ director: any Director, _ about: PluginDescription) {
        self.director = director
        guard director is any ControlHandler else { return }
        controls = Set(about.controls.map(\.name))
        fallbackControls = Set(about.fallbackControls.map(\.name))
    }

    /// - Parameter preparation: The result of the director's preparer; nil: it was not prepared.
    func handle(_ control: StampedControl, _ preparation: (any Sendable)?) -> ControlReply? {
        if let preparation, let director = director as? any PreparedDirector {
            return director.handle(control, preparation: preparation)
        }
        return (director as? any ControlHandler)?.handle(control)
    }
}

extension [PipelineDirector] {
    /// Collects what controls bring about while the source pauses.
    func directPause(into events: inout EventList) {
        for director in self where director.director is any ControlHandler { director.director.directPause(into: &events) }
    }

    /// Applies a control to every director whose plugin declares it, or, if nothing has handled it, to the first one whose plugin declares it
    /// as a fallback.
    ///
    /// - Parameter reply: The reply of the analyzers; nil: none handles the control.
    /// - Returns: The reply of the first that has applied it, else a refusal; nil if nothing handles it.
    func handle(
        _ control: StampedControl, _ preparations: ControlInbox.Preparations, after reply: ControlReply? = nil
    ) -> ControlReply? {
        let name = control.control.name
        var reply = reply
        for (index, director) in enumerated() where director.controls.contains(name) {
            let answer = director.handle(control, preparations[index])
            if let answer, reply?.isDone != true { reply = answer }
        }
        return reply ?? first { $0.fallbackControls.contains(name) }?.handle(control, nil)
    }
}

extension EventList {
    /// Adds the record of a control if it has taken effect.
    mutating func append(_ control: StampedControl, after reply: ControlReply?, at time: Double) {
        guard let reply, reply.isDone else { return }
        append(Event(at: time, control.after(reply)))
    }
}

extension StampedControl {
    /// The control with what its handler has replied.
    func after(_ reply: ControlReply?) -> StampedControl {
        guard case .switched(let isOn) = reply else { return self }
        var control = self
        control.isOn = isOn
        return control
    }
}
