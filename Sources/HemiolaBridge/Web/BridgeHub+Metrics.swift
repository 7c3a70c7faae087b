internal import HemiolaRecords
internal import NIOCore

extension BridgeHub {
    /// The metrics in the text format of Prometheus, version 0.0.4.
    var metrics: ByteBuffer {
        .json { text in
            text.appendMetric("hemiola_batches_total", "counter", "Analysed batches.", [("", Double(counters.batches))])
            text.appendMetric("hemiola_gaps_total", "counter", "Gaps in the audio.", [("", Double(counters.gaps))])
            text.appendMetric("hemiola_gap_seconds_total", "counter", "Duration of the gaps in the audio.", [("", counters.gapSeconds)])
            let drops = counters.droppedBatches.merging([name: 0]) { old, _ in old }.sorted { $0.key < $1.key }
            text.appendMetric(
                "hemiola_dropped_batches_total", "counter", "Batches that a sink or its clients were too slow for.",
                drops.map { ("{sink=\"\(Self.escaped($0.key))\"}", Double($0.value)) })
            text.appendMetric("hemiola_clients", "gauge", "Connected clients of this sink.", [("", Double(clientCount))])
            if let latency = counters.latency {
                text.appendMetric(
                    "hemiola_latency_seconds", "gauge",
                    "Delay of the newest batch, from the end of its audio to its encoding, above the minimum of the last minute.",
                    [("", latency)])
            }
        }
    }

    private static func escaped(_ label: String) -> String {
        label.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}

extension JSONBuffer {
    /// Appends a metric with its help and type.
    ///
    /// - Parameter samples: The labels in braces, or an empty text, and the values.
    fileprivate mutating func appendMetric(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: Double)]) {
        append(bytes: Array("# HELP \(name) \(help)\n# TYPE \(name) \(type)\n".utf8))
        for sample in samples { append(bytes: Array("\(name)\(sample.labels) \(sample.value)\n".utf8)) }
    }
}
