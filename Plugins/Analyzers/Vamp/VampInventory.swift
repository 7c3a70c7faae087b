package import Hemiola

/// What is installed, for a list of the Vamp plugins.
package enum VampInventory {
    /// The sample rate for which the outputs are listed.
    private static let sampleRate = 48_000

    /// The folders that are searched, in order.
    package static var folders: [String] { VampFolders.searched }

    /// The paths of all libraries.
    package static var libraries: [String] { VampFolders.libraries }

    /// Loads a library into this process, which may end.
    ///
    /// - Returns: A text for each warning, then an object for each plugin, or a text for why it cannot be run.
    package static func contents(of path: String) -> [JSONValue] {
        do {
            let library = try VampLibrary.load(path)
            let faults = library.faults.values.map(\.message).sorted().map { JSONValue.text($0.onOneLine) }
            return faults
                + library.plugins.map { plugin -> JSONValue in
                    do throws(Problem) { return try json(of: plugin, library) } catch { return .text(error.message.onOneLine) }
                }
        } catch {
            return [.text(error.message.onOneLine)]
        }
    }

    private static func json(of plugin: VampPluginDescription, _ library: VampLibrary) throws(Problem) -> JSONValue {
        var instance = try VampInstance(plugin.identifier, of: library, sampleRate: sampleRate)
        let outputs = try instance.outputs()
        let (step, block) = (instance.preferredStep, instance.preferredBlock)
        return .object([
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
