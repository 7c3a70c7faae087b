import Foundation
import TestSupport
import Testing

@testable import PulseCapture

@Suite struct LatencySinkTests {
    private func argument(_ owner: LatencySink.Owner) -> String {
        "sink_name=\(LatencySink.name(of: owner)) rate=44100 channels=2"
    }

    /// The identifier of a process that has ended.
    private func goneProcess() throws -> Int32 {
        let process = try ChildProcess("/bin/true", [])
        let identifier = process.identifier
        _ = try process.finish(timeout: 10)
        return identifier
    }

    @Test func `name of a latency sink: contains its process`() {
        let owner = LatencySink.Owner.current
        #expect(LatencySink.owner(inArgument: argument(owner)) == owner)
        #expect(!owner.host.contains("_") && owner.host.count > 8)
        #expect(LatencySink.owner(inArgument: "rate=44100 " + argument(owner)) == owner)
    }

    @Test(arguments: ["", "stage", "hemiola_latency_", "hemiola_latency_x_y", "hemiola_latency_-3_y", "hemiola_latency_3"])
    func `module of another sink: no owner`(sink: String) {
        let argument = "sink_name=\(sink) rate=44100"
        #expect(LatencySink.owner(inArgument: argument) == nil)
        #expect(!LatencySink.isAbandoned(argument))
    }

    @Test func `abandoned sink: only that of an ended process of this machine`() throws {
        var owner = LatencySink.Owner.current
        #expect(!LatencySink.isAbandoned(argument(owner)), "its own")
        owner.identifier = getppid()
        #expect(!LatencySink.isAbandoned(argument(owner)), "of a process that runs")
        owner.identifier = try goneProcess()
        #expect(LatencySink.isAbandoned(argument(owner)))
        owner.host = "elsewhere"
        #expect(!LatencySink.isAbandoned(argument(owner)), "of another machine")
    }
}
