internal import CVamp
internal import Glibc
internal import Hemiola
internal import Synchronization

/// A library of Vamp plugins that is loaded into this process. It stays loaded until the process ends.
///
/// A library's code runs as soon as it is loaded: one that crashes ends the process.
final class VampLibrary: Sendable {
    /// The file that was loaded.
    let path: String
    /// The plugins that can be run, in the order of the library.
    var plugins: [VampPluginDescription] { entries.map(\.description) }
    /// The plugins that cannot be run, and why.
    let faults: [String: Problem]

    /// A plugin with its structure.
    struct Entry: Sendable {
        var description: VampPluginDescription
        var descriptor: Descriptor
    }

    /// The address of a structure of the library.
    ///
    /// `@unchecked Sendable`: the structure is constant, and the library is never unloaded.
    struct Descriptor: @unchecked Sendable {
        let pointer: UnsafePointer<CVampDescriptor>
    }

    let entries: [Entry]

    /// Plugins of a library that are listed, parameters and programs that one may declare, and names of values of a parameter.
    private static let limit = 1024
    private static let loaded = Mutex<[String: VampLibrary]>([:])

    /// Loads a library, unless it is loaded.
    ///
    /// - Parameter name: Its name in ``VampFolders``, or a path.
    static func load(_ name: String) throws(Problem) -> VampLibrary {
        guard let path = VampFolders.path(of: name) else {
            if name.contains("/") {
                throw Problem("\(PathText.shown(name)): No such file; list the libraries with: hemiola plugins --vamp")
            }
            let folders = VampFolders.searched.map(PathText.shown).joined(separator: ":")
            let names = VampFolders.libraries.map(VampFolders.name)
            let hint = name.nearest(in: names).map { "did you mean \($0)?" } ?? "list them with: hemiola plugins --vamp"
            throw Problem("there is no Vamp library \"\(PathText.shown(name))\" in \(folders); \(hint)")
        }
        let result = loaded.withLock { loaded in
            if let library = loaded[path] { return Result<VampLibrary, Problem>.success(library) }
            let result = Result { () throws(Problem) in try VampLibrary(path) }
            if case .success(let library) = result { loaded[path] = library }
            return result
        }
        return try result.get()
    }

    private init(_ path: String) throws(Problem) {
        self.path = path
        let shown = PathText.shown(path)
        let name = VampFolders.name(of: path)
        guard let library = dlopen(PathText.systemPath(path), RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw Problem("\(shown): cannot be loaded (\(reason)); reinstall it, or the libraries that it needs")
        }
        guard let place = dlsym(library, "vampGetPluginDescriptor") else {
            throw Problem("\(shown): is no Vamp library: it has no function vampGetPluginDescriptor; name another one")
        }
        let get = unsafeBitCast(place, to: CVampGetDescriptor.self)
        var entries: [Entry] = []
        var faults: [String: Problem] = [:]
        for index in 0..<UInt32(Self.limit) {
            guard let descriptor = get(UInt32(CVAMP_API_VERSION), index) else { break }
            let version = descriptor.pointee.vampApiVersion
            let identifier = Self.text(descriptor.pointee.identifier)
            guard (1...UInt32(CVAMP_API_VERSION)).contains(version) else {
                faults[identifier] = Problem(
                    "\(name):\(identifier) has version \(version) of the Vamp API, Hemiola 1 and 2; install another version of the plugin")
                continue
            }
            guard descriptor.pointee.isComplete else {
                faults[identifier] = Problem(
                    "\(name):\(identifier) lacks functions of the Vamp API; install another version of the plugin")
                continue
            }
            let counts = [("parameters", descriptor.pointee.parameterCount), ("programs", descriptor.pointee.programCount)]
            if let (what, count) = counts.first(where: { $0.1 > Self.limit }) {
                faults[identifier] = Problem(
                    "\(name):\(identifier) declares \(count) \(what), more than \(Self.limit); install another version of the plugin")
                continue
            }
            let description = Self.description(of: descriptor.pointee, in: name)
            entries.append(Entry(description: description, descriptor: Descriptor(pointer: descriptor)))
        }
        self.entries = entries
        self.faults = faults
        if entries.isEmpty, faults.isEmpty { throw Problem("\(shown): has no plugin; name another library") }
    }

    /// The plugin with that identifier.
    func entry(_ identifier: String) throws(Problem) -> Entry {
        if let entry = entries.first(where: { $0.description.identifier == identifier }) { return entry }
        if let fault = faults[identifier] { throw fault }
        let names = entries.map(\.description.identifier) + faults.keys.sorted()
        let hint = identifier.suggestion(among: names, "plugins")
        throw Problem("\(VampFolders.name(of: path)) has no plugin \"\(identifier)\"; \(hint)")
    }

    // MARK: - Reading the structures

    private static func description(of descriptor: CVampDescriptor, in library: String) -> VampPluginDescription {
        let parameters = (0..<Int(descriptor.parameterCount)).compactMap { descriptor.parameters?[$0].map { parameter($0.pointee) } }
        let programs = (0..<Int(descriptor.programCount)).map { text(descriptor.programs?[$0]) }
        return VampPluginDescription(
            library: library, identifier: text(descriptor.identifier), name: text(descriptor.name), summary: text(descriptor.description),
            maker: text(descriptor.maker), copyright: text(descriptor.copyright), version: Int(descriptor.pluginVersion),
            inputDomain: Int(descriptor.inputDomain) == CVAMP_FREQUENCY_DOMAIN ? .frequency : .time, parameters: parameters,
            programs: programs)
    }

    private static func parameter(_ parameter: CVampParameter) -> VampParameter {
        var names: [String] = []
        if parameter.isQuantized != 0, let list = parameter.valueNames {
            while names.count < limit, let name = list[names.count] { names.append(text(name)) }
        }
        return VampParameter(
            identifier: text(parameter.identifier), name: text(parameter.name), summary: text(parameter.description),
            unit: text(parameter.unit), minimum: parameter.minValue, maximum: parameter.maxValue, defaultValue: parameter.defaultValue,
            step: parameter.isQuantized != 0 && parameter.quantizeStep > 0 ? parameter.quantizeStep : nil, valueNames: names)
    }

    /// A text of a structure; empty for NULL. Bytes that are not UTF-8 are replaced.
    static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }
}

extension CVampDescriptor {
    /// Whether no function is NULL.
    fileprivate var isComplete: Bool {
        instantiate != nil && cleanup != nil && initialise != nil && reset != nil && getParameter != nil && setParameter != nil
            && getPreferredStepSize != nil && getPreferredBlockSize != nil && getMinChannelCount != nil && getMaxChannelCount != nil
            && getOutputCount != nil && getOutputDescriptor != nil && releaseOutputDescriptor != nil && process != nil
            && getRemainingFeatures != nil && releaseFeatureSet != nil && (programCount == 0 || selectProgram != nil)
    }
}
