import Foundation

/// A program or Python module that a test requires besides Hemiola.
///
/// Without it the test is skipped with a reason: `.enabled(if: tool.isExpected, tool.reason)`. With `CI=true` the test runs and
/// fails.
public enum Tool: Sendable, Hashable {
    case program(String)
    case python(module: String)

    public static let ffmpeg = Tool.program("ffmpeg")
    public static let jq = Tool.program("jq")

    /// Whether a test that requires it runs.
    public var isExpected: Bool { Self.isStrict || isThere }

    /// The message when the test is skipped.
    public var reason: String {
        switch self {
        case .program(let name): "\(name) is not installed"
        case .python(let module): "\(Self.python) has no \(module); set HEMIOLA_PYTHON to a Python that has it"
        }
    }

    public static var isStrict: Bool { environment["CI"] == "true" }

    /// The Python that tests run.
    public static var python: String { environment["HEMIOLA_PYTHON"] ?? "python3" }

    public var isThere: Bool {
        switch self {
        case .program(let name): Self.location(of: name) != nil
        case .python(let module): Self.pythonModules.contains(module)
        }
    }

    /// The path of a program; nil: not found.
    public static func location(of name: String) -> String? {
        if name.contains("/") { return FileManager.default.isExecutableFile(atPath: name) ? name : nil }
        return (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The installed modules of those that tests use. Computed once.
    private static let pythonModules: Set<String> = {
        let names = [
            "beets", "duckdb", "jams", "jsonschema", "mido", "numpy", "pandas", "polars", "pyarrow", "sacn", "xml",
        ]
        let question = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
        guard let python = location(of: python),
            let answer = try? ChildProcess.run(python, ["-c", question] + names), answer.status == 0
        else { return [] }
        return Set(answer.output.split(whereSeparator: \.isWhitespace).map(String.init))
    }()
}
