import Foundation

/// What a run under a sanitizer changes for the tests: memory and times are then the sanitizer's. `make sanitize` starts one.
public enum Sanitizer {
    /// `address`, `thread` or `undefined`; nil in a normal run.
    public static let name = ProcessInfo.processInfo.environment["HEMIOLA_SANITIZER"]

    public static var isOn: Bool { name != nil }

    /// What a time limit is multiplied with. No more, so that a limit still tells what comes at once from what comes at the end.
    public static var slowness: Double { isOn ? 2 : 1 }
}
