import Foundation

/// The sanitizer of this test run. It changes memory and time. `make sanitize` starts such a run.
public enum Sanitizer {
    /// `address`, `thread` or `undefined`; nil in a normal run.
    public static let name = ProcessInfo.processInfo.environment["HEMIOLA_SANITIZER"]

    public static var isOn: Bool { name != nil }

    /// The factor for the delays that a test in real time accepts. It is small, so that a limit still distinguishes immediate output from
    /// output at the end.
    public static var slowness: Double { isOn ? 2 : 1 }
}
