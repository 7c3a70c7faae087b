internal import Glibc
internal import Hemiola
internal import VampAnalyzer

/// The installed Vamp plugins, for `hemiola plugins --vamp`.
///
/// Each library is loaded in a child process, because it may crash: `hemiola plugins --vamp-library PATH`. The child writes lines: `P` and
/// a plugin, as text or JSON, or `W` and a warning.
enum VampListing {
    /// The time within which a library must be read, and the bytes that its list may have.
    private static let seconds = 10.0
    private static let limit = 4 << 20
    /// The format for which the outputs are listed.
    private static let sampleRate = 48_000

    /// The plugins of all libraries, and a warning for each library and plugin that cannot be used.
    static func text(asJSON: Bool, columns: Int) -> (text: String, warnings: [String]) {
        var entries: [String] = []
        var warnings: [String] = []
        for path in VampFolders.libraries {
            let options = ["--vamp-library=\(path)"] + (asJSON ? ["--json"] : ["--columns=\(columns)"])
            let (bytes, fault) = read(options)
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                if line.hasPrefix("P") { entries.append(String(line.dropFirst())) }
                if line.hasPrefix("W") { warnings.append(String(line.dropFirst())) }
            }
            if let fault { warnings.append("\(PathText.shown(path)): \(fault)") }
        }
        if asJSON { return ("[\(entries.joined(separator: ","))]\n", warnings) }
        guard !entries.isEmpty else {
            let folders = VampFolders.searched.map(PathText.shown).joined(separator: ":").onOneLine
            let hint = "To install some: apt install vamp-examples; to search other folders: VAMP_PATH"
            return ("No Vamp plugins in \(folders)\n\n\(hint)\n", warnings)
        }
        let text = entries.map { $0.replacing("\t", with: "\n") }.joined(separator: "\n")
        return ("\(text)\nTo run one: hemiola analyze FILE --analyzer vamp:LIBRARY:PLUGIN[:OUTPUT]\n", warnings)
    }

    /// What the child process writes, and how it failed.
    private static func read(_ options: [String]) -> (bytes: [UInt8], fault: String?) {
        var bytes: [UInt8] = []
        let child: RunningProgram
        do throws(SystemCallError) {
            child = try RunningProgram(
                .arguments(["/proc/self/exe", "plugins"] + options), hasInput: false, output: .pipe, report: { _ in })
        } catch {
            return ([], "cannot be read: \(error)")
        }
        let deadline = MonotonicTime.now + seconds
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        reading: while bytes.count <= limit, MonotonicTime.now < deadline {
            switch buffer.withUnsafeMutableBytes({ child.read(into: $0, within: max(0.001, deadline - MonotonicTime.now)) }) {
            case .bytes(let count): bytes += buffer[..<count]
            case .timeout: break reading
            case .end: break reading
            }
        }
        let isComplete = bytes.count <= limit && child.waitForExit(within: max(0.001, deadline - MonotonicTime.now))
        child.end(within: 0)
        guard isComplete else { return (bytes, "was not read within \(Int(seconds)) s and \(limit >> 20) MB; remove or reinstall it") }
        switch child.exit {
        case .code(0), nil: return (bytes, nil)
        case .code(let status): return (bytes, "the process that reads it has exited with \(status); remove or reinstall it")
        case .signal(let number): return (bytes, "crashes when it is loaded (signal \(number)); remove or reinstall it")
        }
    }

    // MARK: - In the child process

    /// Writes the plugins of one library. Ends the process.
    static func list(_ path: String, asJSON: Bool, columns: Int) -> Never {
        var text = ""
        do throws(Problem) {
            let library = try VampLibrary.load(path)
            for fault in library.faults.values.map(\.message).sorted() { text += "W\(fault.onOneLine)\n" }
            for plugin in library.plugins {
                do throws(Problem) {
                    let page = try VampPage(plugin, of: library, sampleRate: sampleRate)
                    text += "P" + (asJSON ? page.json.line : page.text(columns: columns) + "\n")
                } catch {
                    text += "W\(error.message.onOneLine)\n"
                }
            }
        } catch {
            text += "W\(error.message.onOneLine)\n"
        }
        try? System.write(text, to: System.standardOutput)
        _exit(0)
    }
}

/// The declarations of a Vamp plugin, as text and JSON.
private struct VampPage {
    let plugin: VampPluginDescription
    let outputs: [VampOutput]
    let step: Int
    let block: Int

    init(_ plugin: VampPluginDescription, of library: VampLibrary, sampleRate: Int) throws(Problem) {
        self.plugin = plugin
        var instance = try VampInstance(plugin.identifier, of: library, sampleRate: sampleRate)
        outputs = try instance.outputs()
        (step, block) = (instance.preferredStep, instance.preferredBlock)
    }

    /// Lines joined with tabs, because the line separates plugins.
    func text(columns: Int) -> String {
        var lines = ["\(plugin.key)  \(plugin.name)".onOneLine]
        func add(_ text: String, indent: Int) {
            lines += text.onOneLine.wrapped(indent: indent, columns: columns).split(separator: "\n").map(String.init)
        }
        if !plugin.summary.isEmpty { add(plugin.summary, indent: 2) }
        for output in outputs { add("output \(output.identifier): \(output.shapeText)\(Self.end(output.summary))", indent: 2) }
        for parameter in plugin.parameters {
            add("parameter \(parameter.identifier): \(parameter.valuesText)\(Self.end(parameter.summary))", indent: 2)
        }
        if !plugin.programs.isEmpty { add("programs: \(plugin.programs.joined(separator: ", "))", indent: 2) }
        return (lines + [""]).joined(separator: "\t")
    }

    private static func end(_ summary: String) -> String { summary.isEmpty ? "" : "; \(summary)" }

    var json: JSONValue {
        .object([
            .init("key", .text(plugin.key)), .init("library", .text(plugin.library)), .init("plugin", .text(plugin.identifier)),
            .init("name", .text(plugin.name)), .init("description", .text(plugin.summary)), .init("maker", .text(plugin.maker)),
            .init("copyright", .text(plugin.copyright)), .init("version", .integer(plugin.version)),
            .init("input", .text(plugin.inputDomain.rawValue)), .init("step", step == 0 ? .null : .integer(step)),
            .init("block", block == 0 ? .null : .integer(block)), .init("programs", .list(plugin.programs.map { .text($0) })),
            .init("parameters", .list(plugin.parameters.map(\.json))), .init("outputs", .list(outputs.map(\.json))),
        ])
    }
}

extension VampParameter {
    /// The values: `0...20 dB, default 3`.
    fileprivate var valuesText: String {
        let range = "\(Self.number(minimum))...\(Self.number(maximum))\(unit.isEmpty ? "" : " \(unit)")"
        var text = "\(range), default \(Self.number(defaultValue))"
        if !valueNames.isEmpty { text += ", or one of \(valueNames.joined(separator: ", "))" }
        return text
    }

    private static func number(_ value: Float) -> String { ParameterValue.number(value.shortest).text }

    fileprivate var json: JSONValue {
        .object([
            .init("name", .text(identifier)), .init("title", .text(name)), .init("description", .text(summary)), .init("unit", .text(unit)),
            .init("minimum", .number(minimum.shortest)), .init("maximum", .number(maximum.shortest)),
            .init("default", .number(defaultValue.shortest)),
            .init("step", step.map { .number($0.shortest) } ?? .null), .init("values", .list(valueNames.map { .text($0) })),
        ])
    }
}

extension VampOutput {
    /// `64 values per step, dB`, or `events`.
    fileprivate var shapeText: String {
        let unit = unit.isEmpty ? "" : ", \(unit)"
        let count = binCount.map { "\($0) value\($0 == 1 ? "" : "s")" } ?? "values"
        return isDense ? "\(count) per step\(unit)" : binCount == 0 ? "events" : "events with \(count)\(unit)"
    }

    fileprivate var json: JSONValue {
        .object([
            .init("name", .text(identifier)), .init("title", .text(name)), .init("description", .text(summary)), .init("unit", .text(unit)),
            .init("count", binCount.map { .integer($0) } ?? .null), .init("times", .text(sampleType.rawValue)),
            .init("events", .boolean(!isDense)),
            .init("minimum", minimum.map { .number($0.shortest) } ?? .null),
            .init("maximum", maximum.map { .number($0.shortest) } ?? .null),
        ])
    }
}

extension Float {
    /// The number with the fewest digits that is rounded to this one: 0.1, and not 0.10000000149.
    fileprivate var shortest: Double { Double(description) ?? Double(self) }
}
