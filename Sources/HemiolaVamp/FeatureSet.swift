internal import CVamp
internal import Glibc

/// The features that a call returns, in the memory that the host reads. The memory belongs to this object, which keeps it until the next
/// call.
final class FeatureSet {
    private struct Item {
        var values: [Float]
        var time: Double?
        var label: String
    }

    private var items: [[Item]] = []
    // Unsafe: structures for C, allocated for the last call.
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit {
        release()
    }

    /// Sets the number of outputs, and removes all features.
    func reset(outputCount: Int) {
        items = Array(repeating: [], count: outputCount)
        release()
    }

    /// Removes all features.
    func clear() {
        for index in items.indices { items[index].removeAll(keepingCapacity: true) }
        release()
    }

    private func release() {
        for allocation in allocations { free(allocation) }
        allocations.removeAll(keepingCapacity: true)
    }

    /// Adds a feature.
    ///
    /// - Parameters:
    ///   - output: The place of its output.
    ///   - time: In seconds, 0…; nil: that of the step.
    func add(_ values: [Float], to output: Int, time: Double? = nil, label: String = "") {
        items[output].append(Item(values: values, time: time, label: label))
    }

    private func allocate<Value>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        let size = max(1, count) * MemoryLayout<Value>.stride
        guard let memory = calloc(1, size) else { preconditionFailure("no memory for \(size) bytes") }
        allocations.append(memory)
        return memory.bindMemory(to: type, capacity: max(1, count))
    }

    /// One list per output. Valid until the next call of `clear`.
    var lists: UnsafeMutablePointer<CVampFeatureList> {
        let lists = allocate(CVampFeatureList.self, count: items.count)
        for (output, items) in items.enumerated() where !items.isEmpty {
            // The second half has the durations, of which there are none.
            let features = allocate(CVampFeature.self, count: 2 * items.count)
            for (index, item) in items.enumerated() {
                var feature = CVampFeatureV1()
                if let time = item.time {
                    let nanoseconds = Int64((max(0, time) * 1e9).rounded())
                    (feature.hasTimestamp, feature.sec) = (1, Int32(clamping: nanoseconds / 1_000_000_000))
                    feature.nsec = Int32(nanoseconds % 1_000_000_000)
                }
                feature.valueCount = UInt32(item.values.count)
                feature.values = allocate(Float.self, count: item.values.count)
                for (place, value) in item.values.enumerated() { feature.values[place] = value }
                if !item.label.isEmpty, let label = strdup(item.label) {
                    allocations.append(UnsafeMutableRawPointer(label))
                    feature.label = label
                }
                features[index].v1 = feature
                features[items.count + index].v2 = CVampFeatureV2()
            }
            lists[output] = CVampFeatureList(featureCount: UInt32(items.count), features: features)
        }
        return lists
    }
}
