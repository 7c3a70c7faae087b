internal import CPulse
internal import Hemiola

/// A null sink in a running sound server, and a playback stream to it: silence, and a click on request. For latency tests.
///
/// Everything but the initialiser, `click` and `close` runs on the loop's thread or under its lock.
final class PulseLoopback: Loopback, ConnectionDelegate {
    /// Requested buffer length of the playback stream in milliseconds.
    private static let targetLength = 10
    private static let sampleRate = 44_100
    private static let channelCount = 2

    private let connection: Connection
    private let wakeUp: WakeUp
    private let name = LatencySink.name(of: .current)

    private var module: UInt32?
    /// Modules of killed processes.
    private var abandoned: [UInt32] = []
    private var player: OpaquePointer?
    private var fault: String?
    private var isPlaying = false
    private var wantsClick = false
    private var clickTime: Double?

    var device: String { "\(name).monitor" }

    /// - Throws: No server responds, or it does not create a sink.
    init() throws(Problem) {
        wakeUp = try PulseCapture.makeWakeUp()
        connection = try Connection(server: nil, watchesStreams: false)
        connection.delegate = self
        do {
            try connection.start()
            try wait(orThrow: "the sound server does not create a sink for the measurement", until: { isPlaying })
        } catch {
            close()
            throw error
        }
    }

    func click() throws(Problem) -> Double {
        connection.locked {
            clickTime = nil
            wantsClick = true
        }
        try wait(orThrow: "the sound server does not play the test signal", until: { clickTime != nil })
        return connection.locked { clickTime ?? 0 }
    }

    func close() {
        let isUnloaded = connection.locked { () -> Bool in
            closePlayer()
            guard let module, connection.isOpen else { return true }
            let me = Unmanaged.passUnretained(self).toOpaque()
            let operation = pa_context_unload_module(
                connection.context, module, { _, _, me in PulseLoopback.from(me).moduleDidUnload() }, me)
            if let operation { pa_operation_unref(operation) }
            return operation == nil
        }
        // Otherwise the sink would outlive this process.
        if !isUnloaded { try? wait(orThrow: "", until: { module == nil }) }
        connection.stop { closePlayer() }
    }

    private func wait(orThrow message: String, until condition: () -> Bool) throws(Problem) {
        let deadline = Deadline(after: PulseCapture.responseTimeout)
        while !deadline.hasPassed {
            if connection.locked({ condition() }) { return }
            if let fault = connection.locked({ self.fault }) { throw Problem(fault) }
            wakeUp.wait(seconds: 0.1)
        }
        throw Problem(message)
    }

    // MARK: - Server

    func connectionDidOpen() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        abandoned = []
        let operation = pa_context_get_module_info_list(
            connection.context, { _, info, end, me in PulseLoopback.from(me).moduleWasListed(info?.pointee, end) }, me)
        guard let operation else { return loadSink() }
        pa_operation_unref(operation)
    }

    /// Collects modules of killed processes; after the last module, unloads them and loads the sink.
    private func moduleWasListed(_ info: pa_module_info?, _ end: Int32) {
        if end == 0, let info {
            if let argument = info.argument, LatencySink.isAbandoned(String(cString: argument)) { abandoned.append(info.index) }
            return
        }
        for index in abandoned {
            if let operation = pa_context_unload_module(connection.context, index, nil, nil) { pa_operation_unref(operation) }
        }
        loadSink()
    }

    private func loadSink() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        // Without norewinds PulseAudio's null sink renders two seconds at a time; PipeWire ignores the argument.
        let format = "rate=\(Self.sampleRate) channels=\(Self.channelCount) format=float32le norewinds=1"
        let arguments = "sink_name=\(name) \(format) sink_properties=device.description=Hemiola_latency_test"
        let operation = pa_context_load_module(
            connection.context, "module-null-sink", arguments, { _, index, me in PulseLoopback.from(me).moduleDidLoad(index) }, me)
        if let operation { pa_operation_unref(operation) }
    }

    func connectionDidFail(_ reason: String) {
        closePlayer()
        module = nil
        fault = "no sound server answers at \(connection.address): \(reason); \(PulseCapture.startServerHint)"
        wakeUp.signal()
    }

    func connectionDidUpdate(_ snapshot: ServerSnapshot) {}
    func connectionDidTick() {}

    private func moduleDidLoad(_ index: UInt32) {
        guard index != UInt32.max else {
            fault = "the sound server cannot create a null sink: \(String(cString: pa_strerror(pa_context_errno(connection.context))))"
            wakeUp.signal()
            return
        }
        module = index
        play()
    }

    private func moduleDidUnload() {
        module = nil
        wakeUp.signal()
    }

    // MARK: - Playback stream

    private func play() {
        var specification = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(Self.sampleRate), channels: UInt8(Self.channelCount))
        player = pa_stream_new(connection.context, "clicks", &specification, nil)
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_stream_set_write_callback(player, { _, count, me in PulseLoopback.from(me).fill(count) }, me)
        pa_stream_set_state_callback(player, { _, me in PulseLoopback.from(me).stateDidChange() }, me)
        var attributes = pa_buffer_attr()
        attributes.maxlength = .max
        attributes.tlength = UInt32(Self.sampleRate * Self.targetLength / 1000 * Self.channelCount * MemoryLayout<Float>.stride)
        attributes.prebuf = .max
        attributes.minreq = .max
        let flags = PA_STREAM_DONT_MOVE.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
        if pa_stream_connect_playback(player, name, &attributes, pa_stream_flags_t(rawValue: flags), nil, nil) < 0 {
            fault = "the sound server cannot play: \(String(cString: pa_strerror(pa_context_errno(connection.context))))"
            wakeUp.signal()
        }
    }

    private func stateDidChange() {
        switch pa_stream_get_state(player) {
        case PA_STREAM_READY: isPlaying = true
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED: fault = "the sound server ended the playback stream"
        default: return
        }
        wakeUp.signal()
    }

    /// The server requests `wanted` bytes.
    private func fill(_ wanted: Int) {
        var data: UnsafeMutableRawPointer?
        var count = wanted
        guard pa_stream_begin_write(player, &data, &count) >= 0, let data, count > 0 else { return }
        data.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        if wantsClick, count >= Self.channelCount * MemoryLayout<Float>.stride {
            for channel in 0..<Self.channelCount {
                data.storeBytes(of: 0.9, toByteOffset: channel * MemoryLayout<Float>.stride, as: Float.self)
            }
            wantsClick = false
            clickTime = MonotonicTime.now
        }
        pa_stream_write(player, data, count, nil, 0, PA_SEEK_RELATIVE)
        if clickTime != nil { wakeUp.signal() }
    }

    private func closePlayer() {
        guard let player else { return }
        pa_stream_set_state_callback(player, nil, nil)
        pa_stream_set_write_callback(player, nil, nil)
        pa_stream_disconnect(player)
        pa_stream_unref(player)
        self.player = nil
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> PulseLoopback {
        Unmanaged<PulseLoopback>.fromOpaque(opaque!).takeUnretainedValue()
    }
}
