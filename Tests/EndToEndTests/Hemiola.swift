import Foundation
import TestSupport
import Testing

/// The program that `swift build` built together with these tests.
enum Hemiola {
    /// Time limit of a test in seconds.
    static let timeout = 60.0

    /// The root of the checkout.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// `$HEMIOLA` replaces it by another build, for example an optimized one.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["HEMIOLA"] { return path }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/hemiola"
    }()

    /// Whether it is a release build without additional checks, unlike the build of the tests.
    static let isForPeople = ProcessInfo.processInfo.environment["HEMIOLA"] != nil

    /// The bundled piece: 30 s of stereo.
    static let minuet = root + "/examples/music/minuet.flac"

    static func start(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess {
        try ChildProcess(path, arguments, in: folder, input: input, output: output)
    }

    /// Runs the program until it exits.
    static func run(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess.Outcome {
        try start(arguments, in: folder, input: input, output: output).finish(timeout: timeout)
    }

    /// Runs a shell command with `hemiola` in PATH.
    static func shell(_ line: String, in folder: String? = nil) throws -> ChildProcess.Outcome {
        let bin = (path as NSString).deletingLastPathComponent
        let search = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try ChildProcess.run("/bin/sh", ["-c", line], in: folder, environment: ["PATH": search], timeout: timeout)
    }

    /// Analyses a file; standard error must be empty.
    static func records(_ arguments: [String], in folder: String? = nil) throws -> [Record] {
        let outcome = try run(["analyze"] + arguments, in: folder)
        try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(arguments): \(outcome.status), \(outcome.errors)")
        return try Record.all(in: outcome.output)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test with a reason if a tool is missing, except in strict mode.
    static func needs(_ tool: Tool) -> Self {
        .enabled(if: tool.isExpected, Comment(rawValue: tool.reason))
    }

    /// Disables a test under a sanitizer, which changes memory and time.
    static var measures: Self {
        .disabled(if: Sanitizer.isOn, "memory and times under a sanitizer are the sanitizer's")
    }
}
