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

    @Test func `a sink's name says whose it is`() {
        let owner = LatencySink.Owner.current
        #expect(LatencySink.owner(inArgument: argument(owner)) == owner)
        #expect(!owner.realm.contains("_") && owner.realm.count > 8)
        #expect(LatencySink.owner(inArgument: "rate=44100 " + argument(owner)) == owner)
    }

    @Test(arguments: ["", "stage", "hemiola_latency_", "hemiola_latency_x_y", "hemiola_latency_-3_y", "hemiola_latency_3"])
    func `the module of another sink has no owner`(sink: String) {
        let argument = "sink_name=\(sink) rate=44100"
        #expect(LatencySink.owner(inArgument: argument) == nil)
        #expect(!LatencySink.isAbandoned(argument))
    }

    @Test func `only the sink of a process of this machine that is gone is abandoned`() throws {
        var owner = LatencySink.Owner.current
        #expect(!LatencySink.isAbandoned(argument(owner)), "its own")
        owner.identifier = getppid()
        #expect(!LatencySink.isAbandoned(argument(owner)), "of a process that runs")
        owner.identifier = try goneProcess()
        #expect(LatencySink.isAbandoned(argument(owner)))
        owner.realm = "elsewhere"
        #expect(!LatencySink.isAbandoned(argument(owner)), "of another machine")
    }
}
