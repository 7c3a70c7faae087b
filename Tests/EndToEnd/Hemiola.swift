import Foundation
import TestSupport
import Testing

/// The program under test, which `swift build` put next to these tests.
enum Hemiola {
    /// Seconds after which a run counts as hanging.
    static let timeout = 60.0

    /// The folder of the checkout.
    static let root = Repository.root.path

    /// The path of the program. `$HEMIOLA` selects another build, such as an optimised one.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["HEMIOLA"] { return path }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/hemiola"
    }()

    /// Whether the program is a release build for users, without the additional checks of the build for tests.
    static let isRelease = ProcessInfo.processInfo.environment["HEMIOLA"] != nil

    /// The bundled piece of music: 30 s of stereo.
    static let minuet = root + "/examples/music/minuet.flac"

    static func start(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess {
        try ChildProcess(path, arguments, in: folder, input: input, output: output)
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess.Outcome {
        try start(arguments, in: folder, input: input, output: output).finish(timeout: timeout)
    }

    /// Runs a line in a shell with `hemiola` in its PATH.
    static func shell(_ line: String, in folder: String? = nil) throws -> ChildProcess.Outcome {
        let bin = (path as NSString).deletingLastPathComponent
        let search = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try ChildProcess.run("/bin/sh", ["-c", line], in: folder, environment: ["PATH": search], timeout: timeout)
    }

    /// Analyses a file; requires that nothing is printed on standard error.
    static func records(_ arguments: [String], in folder: String? = nil) throws -> [Record] {
        let outcome = try run(["analyze"] + arguments, in: folder)
        try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(arguments): \(outcome.status), \(outcome.errors)")
        return try Record.all(in: outcome.output)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test with a reason if a tool is missing, unless skipping is not allowed.
    static func needs(_ tool: Tool) -> Self {
        .enabled(if: tool.isExpected, Comment(rawValue: tool.reason))
    }

    /// Disables measurements under a sanitizer, which needs memory and time itself.
    static var measures: Self {
        .disabled(if: Sanitizer.isOn, "a sanitizer changes memory and time")
    }
}
