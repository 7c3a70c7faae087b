internal import HemiolaSystem

/// What happens when a plugin of a pipeline fails: the setting `on_error` of every capture, analyzer and sink.
///
/// The engine applies the policy, which needs no code in a plugin. One that applies it by itself, because it starts what has failed
/// again, has ``SettingReader/failurePolicy()`` among its own settings: the engine then leaves its remedies as they are, and applies
/// `fail` and `skip` alone.
public enum FailurePolicy: String, CaseIterable, Sendable {
    /// As the plugin itself decides: a sink's error that can pass is retried (``/HemiolaSystem/Remedy``), every other error is `fail`.
    case auto
    /// The first error ends the input or the sink, and counts in the exit code. The other inputs and sinks go on.
    case fail
    /// The plugin is opened again after the pauses of `RetryDelay`: live until the run ends, from files ten times. What is lost meanwhile is
    /// counted and reported.
    case retry
    /// The run goes on without the plugin, after a warning; what is lost is counted, and the exit code is that of a run without the error.
    case skip
}

extension SettingReader {
    /// The setting `on_error`.
    public mutating func failurePolicy() -> FailurePolicy {
        choice(
            "on_error", default: FailurePolicy.auto,
            "On an error: end with it (fail), try again (retry), or go on without the plugin (skip); auto: retry what can pass, else fail.")
    }
}
