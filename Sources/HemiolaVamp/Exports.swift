public import CVamp
internal import Glibc
internal import Hemiola

/// The function by which hosts find the plugins: `hemiola:beat`, `hemiola:spectrum`, `hemiola:chroma`, `hemiola:musical-key`.
///
/// - Parameters:
///   - hostVersion: The version of the Vamp API of the host.
///   - index: The place of the plugin, 0….
/// - Returns: nil: there is no plugin at that place, or the host is too old.
@_cdecl("vampGetPluginDescriptor")
public func vampGetPluginDescriptor(_ hostVersion: UInt32, _ index: UInt32) -> UnsafePointer<CVampDescriptor>? {
    guard hostVersion >= UInt32(CVAMP_API_VERSION), Int(index) < Exports.descriptors.count else { return nil }
    return UnsafePointer(bitPattern: Exports.descriptors[Int(index)])
}

/// The structures of the plugins.
enum Exports {
    /// The addresses of the structures, which stay in memory until the process ends.
    static let descriptors: [UInt] = {
        stayLoaded()
        return ExportedPlugin.all.map { plugin in
            let pointer = UnsafeMutablePointer<CVampDescriptor>.allocate(capacity: 1)
            pointer.initialize(to: descriptor(plugin))
            return UInt(bitPattern: pointer)
        }
    }()

    /// Loads this library once more, so that it stays loaded when the host closes it: the Swift runtime keeps pointers to its types.
    private static func stayLoaded() {
        typealias FindLibrary = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32
        // `dladdr`, which the headers declare for GNU sources only.
        guard let address = dlsym(nil, "dladdr") else { return }
        // Unsafe: that is its declaration in dlfcn.h. It fills four pointers, of which the first is the path of the library.
        let find = unsafeBitCast(address, to: FindLibrary.self)
        withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: 4) { information in
            information.initialize(repeating: nil)
            if find(#dsohandle, UnsafeMutableRawPointer(information.baseAddress!)) != 0, let path = information[0] {
                _ = dlopen(path, RTLD_NOW | RTLD_LOCAL)
            }
        }
    }

    private static func descriptor(_ exported: ExportedPlugin) -> CVampDescriptor {
        let about = exported.plugin.about
        var descriptor = CVampDescriptor()
        descriptor.vampApiVersion = UInt32(CVAMP_API_VERSION)
        descriptor.identifier = Text.stored(about.id)
        descriptor.name = Text.stored("Hemiola: \(Text.title(about.id))")
        (descriptor.description, descriptor.maker) = (Text.stored(about.summary), Text.stored("Hemiola"))
        descriptor.copyright = Text.stored("Apache-2.0; with FFTW: GPL-3.0-or-later")
        descriptor.pluginVersion = Int32(about.version)
        (descriptor.parameterCount, descriptor.parameters) = (UInt32(exported.parameters.count), exported.structures)
        descriptor.inputDomain = Int32(CVAMP_TIME_DOMAIN)
        addFunctions(to: &descriptor)
        return descriptor
    }

    /// The functions. Some hosts call them in an order that the interface forbids: none of them crashes then.
    private static func addFunctions(to descriptor: inout CVampDescriptor) {
        descriptor.instantiate = { descriptor, sampleRate in
            guard let descriptor, let index = Exports.descriptors.firstIndex(of: UInt(bitPattern: descriptor)),
                let rate = Int(exactly: sampleRate), let instance = ExportedAnalyzer(ExportedPlugin.all[index], sampleRate: rate)
            else { return nil }
            return Unmanaged.passRetained(instance).toOpaque()
        }
        descriptor.cleanup = { handle in
            if let handle { Unmanaged<ExportedAnalyzer>.fromOpaque(handle).release() }
        }
        descriptor.initialise = { handle, channels, step, block in
            Exports.instance(handle)?.initialise(channelCount: Int(channels), step: Int(step), block: Int(block)) == true ? 1 : 0
        }
        descriptor.reset = { Exports.instance($0)?.reset() }
        descriptor.getParameter = { Exports.instance($0)?.parameter(Int($1)) ?? 0 }
        descriptor.setParameter = { Exports.instance($0)?.setParameter(Int($1), to: $2) }
        descriptor.getCurrentProgram = { _ in 0 }
        descriptor.selectProgram = { _, _ in }
        descriptor.getPreferredStepSize = { _ in UInt32(ExportedAnalyzer.preferredStep) }
        descriptor.getPreferredBlockSize = { _ in UInt32(ExportedAnalyzer.preferredStep) }
        descriptor.getMinChannelCount = { _ in UInt32(ExportedAnalyzer.channelCounts.lowerBound) }
        descriptor.getMaxChannelCount = { _ in UInt32(ExportedAnalyzer.channelCounts.upperBound) }
        descriptor.getOutputCount = { UInt32(Exports.instance($0)?.outputCount ?? 0) }
        descriptor.getOutputDescriptor = { Exports.instance($0)?.descriptor(Int($1)) }
        descriptor.releaseOutputDescriptor = { $0?.deallocate() }
        descriptor.process = { handle, buffers, seconds, nanoseconds in
            guard let buffers else { return nil }
            return Exports.instance(handle)?.process(buffers, at: Double(seconds) + Double(nanoseconds) / 1e9)
        }
        descriptor.getRemainingFeatures = { Exports.instance($0)?.finish() }
        // The memory belongs to the instance, which releases it at its next call.
        descriptor.releaseFeatureSet = { _ in }
    }

    /// The instance of a handle that `instantiate` has returned; nil for NULL.
    private static func instance(_ handle: CVampHandle?) -> ExportedAnalyzer? {
        handle.map { Unmanaged<ExportedAnalyzer>.fromOpaque($0).takeUnretainedValue() }
    }
}
