import Hemiola
import HemiolaPlugins

@testable import HemiolaCommandLine
@testable import HemiolaEngine

extension Fuzzer {
    /// Any bytes as a file for `--replay-controls`: refused with the line number, or controls that are equal after they are written and read.
    func tryControls(_ bytes: [UInt8]) {
        let catalog = PluginRegistry.standard.catalog
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        let replay: ControlReplay
        do throws(Failure) {
            replay = try self.replay(bytes, catalog)
        } catch {
            require(error.lines.count == 1, "\(error.lines.count) lines of errors")
            let parts = error.lines[0].split(separator: ":", maxSplits: 2)
            require(
                parts.count == 3 && parts[0] == "controls" && Int(parts[1]).map { (1...lineCount).contains($0) } ?? false,
                "this names no line of \(lineCount): \(error.lines[0])")
            return
        }
        require(replay.count <= lineCount, "\(replay.count) controls in \(lineCount) lines")
        // Controls for every input, and for one input.
        let controls = replay.controls(for: "")
        for (one, next) in zip(controls, controls.dropFirst()) { require(one.frame <= next.frame, "controls out of order") }
        let once = written(controls)
        guard let again = try? self.replay(once, catalog) else {
            fatalError("what was written is refused: \(String(decoding: once, as: UTF8.self))")
        }
        let twice = written(again.controls(for: ""))
        require(once == twice, "\(String(decoding: once, as: UTF8.self)) is \(String(decoding: twice, as: UTF8.self))")
    }

    private func replay(_ bytes: [UInt8], _ catalog: RecordCatalog) throws(Failure) -> ControlReplay {
        var replay = ControlReplay()
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            try ControlRecords.add(Array(line), index + 1, title: "controls", to: &replay, catalog)
        }
        return replay
    }

    private func written(_ controls: [StampedControl]) -> [UInt8] {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "file", name: "x"), file: nil, isLive: false, batching: .standard, seed: 0,
            analyzers: [])
        let encoder = RecordEncoder(header)
        var buffer = JSONBuffer(capacity: 4096)
        for control in controls {
            let time = format.seconds(at: control.frame)
            encoder.encode(Event(at: time, control), batchEnd: time + 1, into: &buffer)
        }
        return buffer.withUnsafeBytes { Array($0) }
    }
}
