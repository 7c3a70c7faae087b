internal import CPulse
internal import HemiolaSignal

/// Receives the events of a stream, on its connection's thread.
protocol RecordStreamDelegate: AnyObject {
    /// The stream is open, on the requested source.
    func streamDidOpen(_ stream: RecordStream)
    /// The stream failed or ended.
    func streamDidFail(_ stream: RecordStream, _ reason: String)
    /// Interleaved frames arrived; nil: silence. The memory belongs to libpulse and is valid during the call.
    func stream(_ stream: RecordStream, didReceive samples: UnsafePointer<Float>?, frames: Int)
    /// The server suspended the source.
    func streamDidSuspend(_ stream: RecordStream)
}

/// A record stream of 32-bit floats, fixed to one source. Must be used on its connection's thread.
final class RecordStream {
    struct Request: Sendable, Hashable {
        var source: String
        var format: StreamFormat
        /// libpulse's channel positions. Unless there is one per channel, the default positions apply.
        var channelMap: [Int32]
        /// Index of the one playback stream to capture from a monitor; nil: all of the source.
        var stream: UInt32?
        /// Requested fragment length in frames.
        var fragmentFrames: Int
        var properties = GraphProperties()
        /// Whether PulseAudio must not change the rate of the device to that of the stream. Costs a resampler between equal rates too.
        var keepsDeviceRate = false
    }

    let request: Request
    /// Whether the stream is open or opening.
    private(set) var isAlive = true
    private(set) var isSuspended = false

    /// Unsafe, because the reference count per fragment cost more than the rest of the call: the delegate closes the stream before its
    /// own deinit.
    private unowned(unsafe) let delegate: any RecordStreamDelegate
    private var handle: OpaquePointer?
    private let frameBytes: Int

    /// Opens the stream. The delegate receives the result.
    init(_ connection: Connection, _ request: Request, delegate: any RecordStreamDelegate) {
        self.request = request
        self.delegate = delegate
        frameBytes = request.format.channelCount * MemoryLayout<Float>.stride
        var specification = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(request.format.sampleRate), channels: UInt8(request.format.channelCount))
        var map = Self.channelMap(request)
        Self.withList(request.properties.atCreation) { properties in
            handle = pa_stream_new_with_proplist(connection.context, "analysis", &specification, &map, properties)
        }
        connectStream()
    }

    /// Closes the stream. The delegate receives no further events.
    func close() {
        isAlive = false
        guard let handle else { return }
        pa_stream_set_state_callback(handle, nil, nil)
        pa_stream_set_read_callback(handle, nil, nil)
        pa_stream_set_moved_callback(handle, nil, nil)
        pa_stream_set_suspended_callback(handle, nil, nil)
        pa_stream_disconnect(handle)
        pa_stream_unref(handle)
        self.handle = nil
    }

    private func connectStream() {
        guard let handle else {
            isAlive = false
            return
        }
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_stream_set_state_callback(handle, { _, me in RecordStream.from(me).stateDidChange() }, me)
        pa_stream_set_read_callback(handle, { _, bytes, me in RecordStream.from(me).readFragments(bytes) }, me)
        pa_stream_set_moved_callback(handle, { _, me in RecordStream.from(me).checkDevice() }, me)
        pa_stream_set_suspended_callback(handle, { _, me in RecordStream.from(me).suspensionDidChange() }, me)
        if let stream = request.stream { pa_stream_set_monitor_stream(handle, stream) }
        var attributes = pa_buffer_attr()
        attributes.maxlength = .max
        // The default fragment is 50 ms with PulseAudio and 2 s with PipeWire. With ADJUST_LATENCY PulseAudio sends twice as often, which
        // halves the latency of a fragment, and PipeWire after each cycle of its graph.
        attributes.fragsize = UInt32(request.fragmentFrames * frameBytes)
        var flags = PA_STREAM_DONT_MOVE.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
        if request.keepsDeviceRate { flags |= PA_STREAM_VARIABLE_RATE.rawValue }
        if pa_stream_connect_record(handle, request.source, &attributes, pa_stream_flags_t(rawValue: flags)) < 0 { isAlive = false }
    }

    private static func withList(_ properties: [String: String], _ body: (OpaquePointer?) -> Void) {
        let list = pa_proplist_new()
        defer { pa_proplist_free(list) }
        for (key, value) in properties { pa_proplist_sets(list, key, value) }
        body(list)
    }

    private static func channelMap(_ request: Request) -> pa_channel_map {
        var map = pa_channel_map()
        let count = UInt32(request.format.channelCount)
        pa_channel_map_init_extend(&map, count, PA_CHANNEL_MAP_DEFAULT)
        guard request.channelMap.count == request.format.channelCount else { return map }
        withUnsafeMutableBytes(of: &map.map) { bytes in
            let positions = bytes.bindMemory(to: pa_channel_position_t.self)
            for (index, position) in request.channelMap.enumerated() { positions[index] = pa_channel_position_t(rawValue: position) }
        }
        return map
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> RecordStream {
        Unmanaged<RecordStream>.fromOpaque(opaque!).takeUnretainedValue()
    }

    // MARK: - Callbacks

    private func stateDidChange() {
        switch pa_stream_get_state(handle) {
        case PA_STREAM_READY:
            guard checkDevice() else { return }
            if !request.properties.whenOpen.isEmpty {
                Self.withList(request.properties.whenOpen) { properties in
                    if let operation = pa_stream_proplist_update(handle, PA_UPDATE_REPLACE, properties, nil, nil) {
                        pa_operation_unref(operation)
                    }
                }
            }
            delegate.streamDidOpen(self)
            suspensionDidChange()
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            fail(String(cString: pa_strerror(pa_context_errno(pa_stream_get_context(handle)))))
        default: break
        }
    }

    /// Fails the stream where the server opened another source than the requested one, or moved the stream later.
    @discardableResult
    private func checkDevice() -> Bool {
        guard isAlive, let name = pa_stream_get_device_name(handle) else { return isAlive }
        if String(cString: name) == request.source { return true }
        fail("the server offers \(String(cString: name)) instead of \(request.source)")
        return false
    }

    private func fail(_ reason: String) {
        guard isAlive else { return }
        isAlive = false
        delegate.streamDidFail(self, reason)
    }

    private func suspensionDidChange() {
        guard isAlive else { return }
        isSuspended = pa_stream_is_suspended(handle) > 0
        if isSuspended { delegate.streamDidSuspend(self) }
    }

    private func readFragments(_ bytes: Int) {
        var rest = bytes
        while isAlive, rest > 0 {
            var data: UnsafeRawPointer?
            var count = 0
            // Count 0: no fragment to drop. Count without data: a hole, which has to be dropped like a fragment.
            guard pa_stream_peek(handle, &data, &count) >= 0, count > 0 else { return }
            let samples = data?.assumingMemoryBound(to: Float.self)
            delegate.stream(self, didReceive: samples, frames: count / frameBytes)
            pa_stream_drop(handle)
            rest -= count
        }
    }
}
