internal import Hemiola
internal import VampAnalyzer

/// The installed Vamp plugins, for `hemiola plugins --vamp`.
///
/// Each library is loaded in a child process, because it may crash: `hemiola plugins --vamp-library PATH`. The child writes lines of JSON: an
/// object for a plugin, a text for a warning.
enum VampListing {
    /// The time within which a library must be read, and the bytes that its list may have.
    private static let seconds = 10.0
    private static let limit = 4 << 20

    /// The plugins of all libraries, and a warning for each library and plugin that cannot be used.
    static func text(asJSON: Bool, columns: Int) -> (text: String, warnings: [String]) {
        var entries: [String] = []
        var warnings: [String] = []
        for path in VampInventory.libraries {
            let (bytes, fault) = read(path)
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                guard let value = try? JSONValue(Array(line)) else { continue }
                if let warning = value.string {
                    warnings.append(warning)
                } else {
                    entries.append(asJSON ? String(decoding: line, as: UTF8.self) : page(value, columns: min(max(columns, 40), 100)))
                }
            }
            if let fault { warnings.append("\(PathText.shown(path)): \(fault)") }
        }
        if asJSON { return ("[\(entries.joined(separator: ","))]\n", warnings) }
        guard !entries.isEmpty else {
            let folders = VampInventory.folders.map(PathText.shown).joined(separator: ":").onOneLine
            let hint = "To install some: apt install vamp-examples; to search other folders: VAMP_PATH"
            return ("No Vamp plugins in \(folders)\n\n\(hint)\n", warnings)
        }
        return ("\(entries.joined(separator: "\n"))\nTo run one: hemiola analyze FILE --analyzer vamp:LIBRARY:PLUGIN[:OUTPUT]\n", warnings)
    }

    /// What the child process writes, and how it failed.
    private static func read(_ path: String) -> (bytes: [UInt8], fault: String?) {
        var bytes: [UInt8] = []
        let child: RunningProgram
        do {
            child = try RunningProgram(
                .arguments(["/proc/self/exe", "plugins", "--vamp-library=\(path)"]), hasInput: false, output: .pipe, report: { _ in })
        } catch {
            return ([], "cannot be read: \(error)")
        }
        let deadline = Deadline(after: seconds)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit, !deadline.hasPassed,
            case .bytes(let count) = buffer.withUnsafeMutableBytes({ child.read(into: $0, within: deadline.rest) })
        {
            bytes += buffer[..<count]
        }
        let isComplete = bytes.count <= limit && child.waitForExit(within: deadline.rest)
        child.end(within: 0)
        guard isComplete else { return (bytes, "was not read within \(Int(seconds)) s and \(limit >> 20) MB; remove or reinstall it") }
        switch child.exit {
        case .code(0), nil: return (bytes, nil)
        case .code(let status): return (bytes, "the process that reads it has exited with \(status); remove or reinstall it")
        case .signal(let number): return (bytes, "crashes when it is loaded (signal \(number)); remove or reinstall it")
        }
    }

    /// The declarations of a plugin, as lines of text.
    private static func page(_ plugin: JSONValue, columns: Int) -> String {
        var text = "\(plugin.string(at: "key"))  \(plugin.string(at: "name"))".onOneLine + "\n"
        func add(_ line: String) { text += line.onOneLine.wrapped(indent: 2, columns: columns) }
        add(plugin.string(at: "description"))
        for output in plugin.elements(at: "outputs") { add("output \(output.string(at: "name")): \(shape(of: output))\(end(output))") }
        for parameter in plugin.elements(at: "parameters") {
            add("parameter \(parameter.string(at: "name")): \(values(of: parameter))\(end(parameter))")
        }
        let programs = plugin.elements(at: "programs").compactMap(\.string)
        if !programs.isEmpty { add("programs: \(programs.joined(separator: ", "))") }
        return text
    }

    private static func end(_ value: JSONValue) -> String {
        let summary = value.string(at: "description")
        return summary.isEmpty ? "" : "; \(summary)"
    }

    /// `64 values per step, dB`, or `events`.
    private static func shape(of output: JSONValue) -> String {
        let unit = output.string(at: "unit").isEmpty ? "" : ", \(output.string(at: "unit"))"
        let number = output["count"]?.integer
        let count = number.map { "\($0) value\($0 == 1 ? "" : "s")" } ?? "values"
        if output["events"]?.flag == false { return "\(count) per step\(unit)" }
        return number == 0 ? "events" : "events with \(count)\(unit)"
    }

    /// `0...20 dB, default 3`.
    private static func values(of parameter: JSONValue) -> String {
        func number(_ key: String) -> String { ParameterValue.number(parameter[key]?.double ?? .nan).text }
        let unit = parameter.string(at: "unit").isEmpty ? "" : " \(parameter.string(at: "unit"))"
        let text = "\(number("minimum"))...\(number("maximum"))\(unit), default \(number("default"))"
        let names = parameter.elements(at: "values").compactMap(\.string)
        return names.isEmpty ? text : "\(text), or one of \(names.joined(separator: ", "))"
    }

    /// Writes the plugins of one library, in the child process. Ends the process.
    static func list(_ path: String) -> Never {
        try? FileDescriptor.standardOutput.writeAll(VampInventory.contents(of: path).map(\.line).joined())
        CurrentProcess.exitAtOnce(0)
    }
}

extension JSONValue {
    fileprivate func string(at key: String) -> String { self[key]?.string ?? "" }
    fileprivate func elements(at key: String) -> [JSONValue] { self[key]?.elements ?? [] }
}
