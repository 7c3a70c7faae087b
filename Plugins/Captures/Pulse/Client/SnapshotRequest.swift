internal import CPulse
internal import Hemiola

/// A snapshot in progress: four requests to the server, and the results so far.
struct SnapshotRequest {
    var snapshot = ServerSnapshot()
    var pending = 4
    /// Whether the server did not respond to a request within libpulse's time limit of 30 s, as a frozen one.
    var isIncomplete = false
}

extension Connection {
    /// Requests a snapshot of the server. During a request, another one follows it.
    func requestSnapshot() {
        guard isOpen, let context else { return }
        guard snapshotRequest == nil else {
            isOutdated = true
            return
        }
        isOutdated = false
        snapshotRequest = SnapshotRequest()
        let me = Unmanaged.passUnretained(self).toOpaque()
        let operations = [
            pa_context_get_server_info(context, { _, info, me in Connection.from(me).add(server: info?.pointee) }, me),
            pa_context_get_sink_info_list(context, { _, info, end, me in Connection.from(me).add(sink: info?.pointee, end) }, me),
            pa_context_get_source_info_list(context, { _, info, end, me in Connection.from(me).add(source: info?.pointee, end) }, me),
            pa_context_get_sink_input_info_list(context, { _, info, end, me in Connection.from(me).add(stream: info?.pointee, end) }, me),
        ]
        for operation in operations {
            if let operation {
                pa_operation_unref(operation)
            } else {
                requestDidFinish()
            }
        }
    }

    /// - Parameter hasFailed: Whether the request ended without a result, or with a part of it.
    private func requestDidFinish(hasFailed: Bool = false) {
        snapshotRequest?.pending -= 1
        // Other failures, such as a refused permission, leave a list empty.
        if hasFailed, pa_context_errno(context) == Int32(PA_ERR_TIMEOUT.rawValue) { snapshotRequest?.isIncomplete = true }
        guard let snapshotRequest, snapshotRequest.pending == 0 else { return }
        self.snapshotRequest = nil
        // Without this check a list that never arrived would count as one without devices.
        if !snapshotRequest.isIncomplete { delegate?.connectionDidUpdate(snapshotRequest.snapshot) }
        if isOutdated || snapshotRequest.isIncomplete { requestSnapshot() }
    }

    private func add(server info: pa_server_info?) {
        if let info {
            // PipeWire reports its name and version as the name, and the version of the protocol as the version.
            let (name, version) = (String(optional: info.server_name), String(optional: info.server_version))
            snapshotRequest?.snapshot.server = (name.first?.isUppercase == true ? name : "PulseAudio") + " " + version
            snapshotRequest?.snapshot.pipeWireVersion = ServerSnapshot.pipeWireVersion(in: name)
            snapshotRequest?.snapshot.sampleRate = Int(info.sample_spec.rate)
            snapshotRequest?.snapshot.defaultSink = info.default_sink_name.map { String(cString: $0) }
            snapshotRequest?.snapshot.defaultSource = info.default_source_name.map { String(cString: $0) }
        }
        requestDidFinish(hasFailed: info == nil)
    }

    private func add(sink info: pa_sink_info?, _ end: Int32) {
        guard end == 0, let info else { return requestDidFinish(hasFailed: end < 0) }
        let sink = ServerSnapshot.Sink(
            index: info.index, name: String(optional: info.name), summary: String(optional: info.description),
            monitor: info.monitor_source_name.map { String(cString: $0) }, isRunning: info.state == PA_SINK_RUNNING,
            level: ServerSnapshot.Level(isMuted: info.mute, info.volume))
        snapshotRequest?.snapshot.sinks.append(sink)
    }

    private func add(source info: pa_source_info?, _ end: Int32) {
        guard end == 0, let info else { return requestDidFinish(hasFailed: end < 0) }
        let name = String(optional: info.name)
        let monitorOf = info.monitor_of_sink_name.map { String(cString: $0) }
        let isBluetooth = name.hasPrefix("bluez_") || Self.property(PA_PROP_DEVICE_BUS, of: info.proplist) == "bluetooth"
        let state: DeviceList.Device.State =
            switch info.state {
            case PA_SOURCE_RUNNING: .running
            case PA_SOURCE_SUSPENDED: .suspended
            default: .idle
            }
        let count = Int(info.channel_map.channels)
        let map = withUnsafeBytes(of: info.channel_map.map) { $0.bindMemory(to: pa_channel_position_t.self).prefix(count).map(\.rawValue) }
        let source = ServerSnapshot.Source(
            index: info.index, name: name, summary: String(optional: info.description),
            format: StreamFormat(sampleRate: Int(info.sample_spec.rate), channelCount: Int(info.sample_spec.channels)), channelMap: map,
            monitorOf: monitorOf, isHeadset: isBluetooth && monitorOf == nil, state: state,
            level: ServerSnapshot.Level(isMuted: info.mute, info.volume))
        snapshotRequest?.snapshot.sources.append(source)
    }

    private func add(stream info: pa_sink_input_info?, _ end: Int32) {
        guard end == 0, let info else { return requestDidFinish(hasFailed: end < 0) }
        let names = [PA_PROP_APPLICATION_NAME, PA_PROP_APPLICATION_PROCESS_BINARY, PA_PROP_MEDIA_NAME]
            .compactMap { Self.property($0, of: info.proplist) }
        let stream = ServerSnapshot.PlayingStream(
            index: info.index, sink: info.sink, names: names, summary: Self.property(PA_PROP_MEDIA_NAME, of: info.proplist) ?? "",
            isCorked: info.corked != 0)
        snapshotRequest?.snapshot.streams.append(stream)
    }

    private static func property(_ key: String, of list: OpaquePointer?) -> String? {
        guard let list, let text = pa_proplist_gets(list, key) else { return nil }
        return String(cString: text)
    }
}

extension ServerSnapshot.Level {
    fileprivate init(isMuted: Int32, _ volume: pa_cvolume) {
        self.isMuted = isMuted != 0
        let loudest = withUnsafeBytes(of: volume.values) { $0.bindMemory(to: pa_volume_t.self).prefix(Int(volume.channels)).max() }
        // PA_VOLUME_NORM, which Swift does not import.
        if let loudest { self.volume = Double(loudest) / 0x10000 }
    }
}

extension String {
    fileprivate init(optional text: UnsafePointer<CChar>?) {
        self = text.map { String(cString: $0) } ?? ""
    }
}
