internal import CVamp
internal import Hemiola
internal import Synchronization

/// An instance of a Vamp plugin. Used by one thread at a time.
///
/// The order of calls: parameters and program, `initialise` once, then for each stream `process` …, `remainingFeatures`, `reset`.
struct VampInstance: ~Copyable {
    /// The plugin.
    let plugin: VampPluginDescription
    private let descriptor: UnsafePointer<CVampDescriptor>
    private let handle: CVampHandle
    private var outputCount = 0

    /// Values of a feature, and bins of an output, that are read.
    static let valueLimit = 1 << 20
    /// Features of one call that are read.
    private static let featureLimit = 1 << 20
    /// Outputs that a plugin may declare.
    private static let outputLimit = 1024
    /// Instances are made and released by one thread at a time, because libraries may keep a list of them.
    private static let lock = Mutex(())

    /// Makes an instance.
    ///
    /// - Parameters:
    ///   - identifier: The plugin's name for programs.
    ///   - library: The library.
    ///   - sampleRate: Frames per second.
    init(_ identifier: String, of library: VampLibrary, sampleRate: Int) throws(Problem) {
        let entry = try library.entry(identifier)
        let descriptor = entry.descriptor
        let address = Self.lock.withLock { _ in
            descriptor.pointer.pointee.instantiate(descriptor.pointer, Float(sampleRate)).map { UInt(bitPattern: $0) }
        }
        guard let address, let handle = CVampHandle(bitPattern: address) else {
            throw Problem("\(entry.description.key) refuses \(sampleRate) Hz; use another sample rate")
        }
        plugin = entry.description
        self.descriptor = descriptor.pointer
        self.handle = handle
    }

    deinit {
        // Only the addresses cross into the closure; no other thread uses them.
        let (descriptor, handle) = (UInt(bitPattern: descriptor), UInt(bitPattern: handle))
        Self.lock.withLock { _ in
            UnsafePointer<CVampDescriptor>(bitPattern: descriptor)?.pointee.cleanup(CVampHandle(bitPattern: handle))
        }
    }

    // MARK: - Before initialise

    /// Sets a parameter, by its place in ``VampPluginDescription/parameters``.
    mutating func setParameter(_ index: Int, to value: Float) {
        descriptor.pointee.setParameter(handle, Int32(index), value)
    }

    /// Selects a program, by its place in ``VampPluginDescription/programs``. It sets parameters.
    mutating func selectProgram(_ index: Int) {
        descriptor.pointee.selectProgram(handle, UInt32(index))
    }

    /// Frames from one block to the next; 0: any.
    var preferredStep: Int { Int(descriptor.pointee.getPreferredStepSize(handle)) }
    /// Frames per block; 0: any.
    var preferredBlock: Int { Int(descriptor.pointee.getPreferredBlockSize(handle)) }

    /// The numbers of channels that the plugin accepts; 0: it reads none.
    var channelCounts: ClosedRange<Int> {
        let least = Int(descriptor.pointee.getMinChannelCount(handle))
        return least...max(least, Int(descriptor.pointee.getMaxChannelCount(handle)))
    }

    /// Prepares the instance for blocks of this form.
    ///
    /// - Returns: Whether the plugin accepts it.
    mutating func initialise(channelCount: Int, step: Int, block: Int) -> Bool {
        descriptor.pointee.initialise(handle, UInt32(channelCount), UInt32(step), UInt32(block)) != 0
    }

    /// The outputs. Their bins may depend on parameters and block: read them after ``initialise(channelCount:step:block:)``.
    ///
    /// - Throws: The plugin declares more outputs than any plugin has.
    mutating func outputs() throws(Problem) -> [VampOutput] {
        outputCount = Int(descriptor.pointee.getOutputCount(handle))
        guard outputCount <= Self.outputLimit else {
            throw Problem(
                "\(plugin.key) declares \(outputCount) outputs, more than \(Self.outputLimit); install another version of the plugin")
        }
        return (0..<outputCount).map { index in
            guard let output = descriptor.pointee.getOutputDescriptor(handle, UInt32(index)) else {
                // The places of the other outputs stay those of the features.
                return VampOutput(
                    identifier: "", name: "", summary: "", unit: "", binCount: nil, minimum: nil, maximum: nil,
                    sampleType: .variableSampleRate, sampleRate: 0)
            }
            defer { descriptor.pointee.releaseOutputDescriptor(output) }
            return Self.output(output.pointee)
        }
    }

    private static func output(_ output: CVampOutput) -> VampOutput {
        let hasExtents = output.hasKnownExtents != 0 && output.minValue <= output.maxValue
        let sampleType: VampSampleType =
            switch Int(output.sampleType) {
            case CVAMP_ONE_SAMPLE_PER_STEP: .oneSamplePerStep
            case CVAMP_FIXED_SAMPLE_RATE: .fixedSampleRate
            default: .variableSampleRate
            }
        return VampOutput(
            identifier: VampLibrary.text(output.identifier), name: VampLibrary.text(output.name),
            summary: VampLibrary.text(output.description), unit: VampLibrary.text(output.unit),
            binCount: output.hasFixedBinCount != 0 ? Int(output.binCount) : nil, minimum: hasExtents ? output.minValue : nil,
            maximum: hasExtents ? output.maxValue : nil, sampleType: sampleType, sampleRate: output.sampleRate)
    }

    // MARK: - After initialise

    /// Restores the state after ``initialise(channelCount:step:block:)``.
    mutating func reset() {
        descriptor.pointee.reset(handle)
    }

    /// Processes a block.
    ///
    /// - Parameters:
    ///   - buffers: One per channel: the block's frames, or in the frequency domain `block / 2 + 1` pairs of Re and Im.
    ///   - time: The block's time.
    ///   - body: Called with the output's place and each of its features.
    mutating func process(
        _ buffers: UnsafePointer<UnsafePointer<Float>?>, at time: VampTime, _ body: (Int, VampFeature) -> Void
    ) {
        forward(descriptor.pointee.process(handle, buffers, time.seconds, time.nanoseconds), body)
    }

    /// Ends the stream: the features that the plugin had not returned yet. Once per stream, and before `reset`.
    mutating func remainingFeatures(_ body: (Int, VampFeature) -> Void) {
        forward(descriptor.pointee.getRemainingFeatures(handle), body)
    }

    private func forward(_ lists: UnsafeMutablePointer<CVampFeatureList>?, _ body: (Int, VampFeature) -> Void) {
        guard let lists else { return }
        let hasDurations = descriptor.pointee.vampApiVersion >= 2
        for output in 0..<outputCount {
            let list = lists[output]
            guard let features = list.features else { continue }
            let count = min(Int(list.featureCount), Self.featureLimit)
            for index in 0..<count {
                let first = features[index].v1
                var feature = VampFeature(time: nil, duration: nil, values: [], label: VampLibrary.text(first.label))
                if first.hasTimestamp != 0 { feature.time = VampTime(seconds: first.sec, nanoseconds: first.nsec) }
                if let values = first.values {
                    feature.values = Array(UnsafeBufferPointer(start: values, count: min(Int(first.valueCount), Self.valueLimit)))
                }
                if hasDurations {
                    let second = features[Int(list.featureCount) + index].v2
                    if second.hasDuration != 0 {
                        feature.duration = VampTime(seconds: second.durationSec, nanoseconds: second.durationNsec)
                    }
                }
                body(output, feature)
            }
        }
        descriptor.pointee.releaseFeatureSet(lists)
    }
}
