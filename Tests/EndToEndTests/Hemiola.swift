import Foundation
import TestSupport
import Testing

/// The program itself, as `swift build` made it beside these tests.
enum Hemiola {
    /// A test that takes longer than this hangs.
    static let timeout = 60.0

    /// Of the checkout.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// `$HEMIOLA` is that of another build, an optimized one for example.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["HEMIOLA"] { return path }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/hemiola"
    }()

    /// Whether it is what people run: neither a debug build nor one that checks more, as that beside the tests does.
    static let isForPeople = ProcessInfo.processInfo.environment["HEMIOLA"] != nil

    /// The bundled piece: 30 s of stereo.
    static let minuet = root + "/examples/music/minuet.flac"

    static func start(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess {
        try ChildProcess(path, arguments, in: folder, input: input, output: output)
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String], in folder: String? = nil, input: ChildProcess.Input = .nothing,
        output: ChildProcess.Output = .pipe
    ) throws -> ChildProcess.Outcome {
        try start(arguments, in: folder, input: input, output: output).finish(timeout: timeout)
    }

    /// Runs a line of a shell that finds `hemiola` in its path.
    static func shell(_ line: String, in folder: String? = nil) throws -> ChildProcess.Outcome {
        let bin = (path as NSString).deletingLastPathComponent
        let search = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try ChildProcess.run("/bin/sh", ["-c", line], in: folder, environment: ["PATH": search], timeout: timeout)
    }

    /// Analyses a file without a word on standard error.
    static func records(_ arguments: [String], in folder: String? = nil) throws -> [Record] {
        let outcome = try run(["analyze"] + arguments, in: folder)
        try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(arguments): \(outcome.status), \(outcome.errors)")
        return try Record.all(in: outcome.output)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, and says why, where a tool is missing; unless nothing may be skipped.
    static func needs(_ tool: Tool) -> Self {
        .enabled(if: tool.isExpected, Comment(rawValue: tool.reason))
    }

    /// A sanitizer's own memory and time would be measured.
    static var measures: Self {
        .disabled(if: Sanitizer.isOn, "memory and times under a sanitizer are the sanitizer's")
    }
}
