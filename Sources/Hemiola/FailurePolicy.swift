internal import HemiolaSystem

/// What happens when a plugin of a pipeline fails: the setting `on_error` of every plugin.
///
/// The engine applies the policy, which needs no code in a plugin. Before that, a plugin repairs by itself what it can: a capture connects
/// again, a program is started again in real time, and a sink asks the engine for another attempt (``/HemiolaSystem/Remedy``). One that
/// goes on differently for `skip` has ``SettingReader/failurePolicy()`` among its own settings.
public enum FailurePolicy: String, CaseIterable, Sendable {
    /// The error ends the input or the sink, and counts in the exit code. The other inputs and sinks go on.
    case fail
    /// The run goes on without the plugin, after a warning; what is lost is counted, and the exit code is that of a run without the error.
    case skip
}

extension SettingReader {
    /// The setting `on_error`.
    public mutating func failurePolicy() -> FailurePolicy {
        choice("on_error", default: FailurePolicy.fail, "On an error: end with it (fail), or go on without the plugin (skip).")
    }
}
