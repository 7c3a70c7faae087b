internal import CPulse
internal import HemiolaSignal

/// Who hears of a stream, on its connection's thread.
protocol RecordStreamDelegate: AnyObject {
    /// It delivers from the source that was asked for.
    func streamDidOpen(_ stream: RecordStream)
    /// It is over.
    func streamDidFail(_ stream: RecordStream, _ reason: String)
    /// Frames arrived, interleaved; nil for silence. They are libpulse's, and there until this returns.
    func stream(_ stream: RecordStream, didHear samples: UnsafePointer<Float>?, frames: Int)
    /// The server has put the source to sleep.
    func streamDidSuspend(_ stream: RecordStream)
}

/// A record stream from one source and no other, in 32-bit floats. For its connection's thread.
final class RecordStream {
    struct Request: Sendable, Hashable {
        var source: String
        var format: StreamFormat
        /// libpulse's channel positions; as many as channels, or it is mixed into the usual ones.
        var channelMap: [Int32]
        /// Of all that the source has, only what this application's stream adds.
        var stream: UInt32?
        /// Frames that may wait in the server.
        var fragmentFrames: Int
    }

    let request: Request
    /// Whether it delivers, or may yet.
    private(set) var isAlive = true
    private(set) var isSuspended = false

    /// It closes the stream before it goes. Unsafe, because to make sure of that at every fragment costs more than the rest.
    private unowned(unsafe) let delegate: any RecordStreamDelegate
    private var handle: OpaquePointer?
    private let frameBytes: Int

    /// Asks for it; whether it comes the delegate hears.
    init(_ connection: Connection, _ request: Request, delegate: any RecordStreamDelegate) {
        self.request = request
        self.delegate = delegate
        frameBytes = request.format.channelCount * MemoryLayout<Float>.stride
        var specification = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(request.format.sampleRate), channels: UInt8(request.format.channelCount))
        var map = Self.channelMap(request)
        handle = pa_stream_new(connection.context, "analysis", &specification, &map)
        connectStream()
    }

    /// Lets go of it; nothing is heard of it any more.
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
        pa_stream_set_read_callback(handle, { _, bytes, me in RecordStream.from(me).hear(bytes) }, me)
        pa_stream_set_moved_callback(handle, { _, me in RecordStream.from(me).checkDevice() }, me)
        pa_stream_set_suspended_callback(handle, { _, me in RecordStream.from(me).suspensionDidChange() }, me)
        if let stream = request.stream { pa_stream_set_monitor_stream(handle, stream) }
        var attributes = pa_buffer_attr()
        attributes.maxlength = .max
        // Asked for explicitly: the default is 50 ms with PulseAudio and 2 s with PipeWire. To adjust the latency, PulseAudio sends
        // twice as often, which halves what a fragment waits for, and PipeWire each time its graph has run.
        attributes.fragsize = UInt32(request.fragmentFrames * frameBytes)
        let flags = PA_STREAM_DONT_MOVE.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
        if pa_stream_connect_record(handle, request.source, &attributes, pa_stream_flags_t(rawValue: flags)) < 0 { isAlive = false }
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
            delegate.streamDidOpen(self)
            suspensionDidChange()
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            fail(String(cString: pa_strerror(pa_context_errno(pa_stream_get_context(handle)))))
        default: break
        }
    }

    /// A server may answer with another source than the one asked for, or move the stream later. That is never what is wanted.
    @discardableResult
    private func checkDevice() -> Bool {
        guard isAlive, let name = pa_stream_get_device_name(handle) else { return isAlive }
        if String(cString: name) == request.source { return true }
        fail("the server offers \(String(cString: name)) in place of \(request.source)")
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

    private func hear(_ bytes: Int) {
        var rest = bytes
        while isAlive, rest > 0 {
            var data: UnsafeRawPointer?
            var count = 0
            // No bytes: nothing to drop. Bytes and no data: a hole, which is to be dropped like any fragment.
            guard pa_stream_peek(handle, &data, &count) >= 0, count > 0 else { return }
            let samples = data?.assumingMemoryBound(to: Float.self)
            delegate.stream(self, didHear: samples, frames: count / frameBytes)
            pa_stream_drop(handle)
            rest -= count
        }
    }
}
