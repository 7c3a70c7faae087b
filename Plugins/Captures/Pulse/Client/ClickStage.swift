internal import CPulse
internal import Glibc
internal import Hemiola
internal import HemiolaSignal

/// A null sink of its own in a running server, and a stream that plays silence into it, and a click when asked to.
///
/// Everything but the initialiser, `click` and `close` happens on the loop's thread or under its lock.
final class ClickStage: Loopback, ConnectionDelegate {
    /// Milliseconds that the server is asked to hold of the stream: what a careful player asks for.
    private static let targetLength = 10
    private static let sampleRate = 44_100
    private static let channelCount = 2

    private let connection: Connection
    private let bell = Bell()
    private let name = LatencySink.name(of: .current)

    private var module: UInt32?
    /// Modules that runs left behind which were killed.
    private var abandoned: [UInt32] = []
    private var player: OpaquePointer?
    private var fault: String?
    private var isPlaying = false
    private var wantsClick = false
    private var clickTime: Double?

    var device: String { "\(name).monitor" }

    /// - Throws: No server answers, or it will not make a sink.
    init() throws(CaptureError) {
        connection = try Connection(server: nil, watchesStreams: false)
        connection.delegate = self
        guard connection.start() else { throw CaptureError("there is no thread to be had for the sound server") }
        do {
            try wait("the sound server makes no sink to measure with", until: { isPlaying })
        } catch {
            close()
            throw error
        }
    }

    func click() throws(CaptureError) -> Double {
        connection.locked {
            clickTime = nil
            wantsClick = true
        }
        try wait("the sound server does not play", until: { clickTime != nil })
        return connection.locked { clickTime ?? 0 }
    }

    func close() {
        let isUnloaded = connection.locked { () -> Bool in
            closePlayer()
            guard let module, connection.isOpen else { return true }
            let me = Unmanaged.passUnretained(self).toOpaque()
            let operation = pa_context_unload_module(
                connection.context, module, { _, _, me in ClickStage.from(me).moduleDidGo() }, me)
            if let operation { pa_operation_unref(operation) }
            return operation == nil
        }
        // The server would keep it otherwise.
        if !isUnloaded { try? wait("", until: { module == nil }) }
        connection.stop { closePlayer() }
    }

    private func wait(_ complaint: String, until isSo: () -> Bool) throws(CaptureError) {
        let start = Connection.now
        while Connection.now - start < PulseCapture.patience {
            if connection.locked({ isSo() }) { return }
            if let fault = connection.locked({ self.fault }) { throw CaptureError(fault) }
            bell.wait(milliseconds: 100)
        }
        throw CaptureError(complaint)
    }

    // MARK: - The server

    func connectionDidOpen() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        abandoned = []
        let operation = pa_context_get_module_info_list(
            connection.context, { _, info, end, me in ClickStage.from(me).moduleWasListed(info?.pointee, end) }, me)
        guard let operation else { return loadSink() }
        pa_operation_unref(operation)
    }

    /// Unloads what killed runs left behind, once all modules were listed, and loads its own sink.
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
        // Without norewinds PulseAudio's null sink renders two seconds at a time; PipeWire's does not know the word.
        let format = "rate=\(Self.sampleRate) channels=\(Self.channelCount) format=float32le norewinds=1"
        let arguments = "sink_name=\(name) \(format) sink_properties=device.description=Hemiola_latency_test"
        let operation = pa_context_load_module(
            connection.context, "module-null-sink", arguments, { _, index, me in ClickStage.from(me).moduleDidCome(index) }, me)
        if let operation { pa_operation_unref(operation) }
    }

    func connectionDidFail(_ reason: String) {
        closePlayer()
        module = nil
        fault = "no sound server answers at \(connection.address): \(reason); \(PulseCapture.remedy)"
        bell.ring()
    }

    func connectionDidSee(_ snapshot: Snapshot) {}
    func connectionDidTick() {}

    private func moduleDidCome(_ index: UInt32) {
        guard index != UInt32.max else {
            fault = "the sound server makes no null sink: \(String(cString: pa_strerror(pa_context_errno(connection.context))))"
            bell.ring()
            return
        }
        module = index
        play()
    }

    private func moduleDidGo() {
        module = nil
        bell.ring()
    }

    // MARK: - The stream

    private func play() {
        var specification = pa_sample_spec(
            format: PA_SAMPLE_FLOAT32LE, rate: UInt32(Self.sampleRate), channels: UInt8(Self.channelCount))
        player = pa_stream_new(connection.context, "clicks", &specification, nil)
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_stream_set_write_callback(player, { _, count, me in ClickStage.from(me).fill(count) }, me)
        pa_stream_set_state_callback(player, { _, me in ClickStage.from(me).stateDidChange() }, me)
        var attributes = pa_buffer_attr()
        attributes.maxlength = .max
        attributes.tlength = UInt32(Self.sampleRate * Self.targetLength / 1000 * Self.channelCount * MemoryLayout<Float>.stride)
        attributes.prebuf = .max
        attributes.minreq = .max
        let flags = PA_STREAM_DONT_MOVE.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
        if pa_stream_connect_playback(player, name, &attributes, pa_stream_flags_t(rawValue: flags), nil, nil) < 0 {
            fault = "the sound server plays nothing: \(String(cString: pa_strerror(pa_context_errno(connection.context))))"
            bell.ring()
        }
    }

    private func stateDidChange() {
        switch pa_stream_get_state(player) {
        case PA_STREAM_READY: isPlaying = true
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED: fault = "the sound server ended the stream that clicks"
        default: return
        }
        bell.ring()
    }

    /// The server asks for bytes.
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
            clickTime = Self.monotonicTime
        }
        pa_stream_write(player, data, count, nil, 0, PA_SEEK_RELATIVE)
        if clickTime != nil { bell.ring() }
    }

    private func closePlayer() {
        guard let player else { return }
        pa_stream_set_state_callback(player, nil, nil)
        pa_stream_set_write_callback(player, nil, nil)
        pa_stream_disconnect(player)
        pa_stream_unref(player)
        self.player = nil
    }

    private static var monotonicTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> ClickStage {
        Unmanaged<ClickStage>.fromOpaque(opaque!).takeUnretainedValue()
    }
}
