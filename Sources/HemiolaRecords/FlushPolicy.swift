package import Hemiola

/// When what is written leaves the process.
package enum FlushPolicy: String, SettingChoice {
    case auto, line, block

    /// The setting `flush`.
    ///
    /// - Parameter line: What a line of the output is, in the singular.
    package static func setting(each line: String) -> Setting<FlushPolicy> {
        Setting(
            "flush", default: .auto, "Write every \(line) at once, or blocks of 64 KiB; auto: \(line)s when live, else blocks.")
    }

    /// Whether each line leaves by itself.
    package func isAtOnce(isLive: Bool) -> Bool {
        self == .line || self == .auto && isLive
    }
}
