import AnalysisSupport
import BeatAnalyzer
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@Suite struct BeatReadMeTests {
    @Test func `README lists the settings and shows a batch as analyzed`() async throws {
        let readMe = try ReadMe("Plugins/Analyzers/Beat")
        #expect(readMe.settings(missingFrom: AnalyzerPlugin.beat.about).isEmpty)
        let clicks = Audio(TestSignal.clicks(beatsPerMinute: 120, frames: 441_000))
        let analysis = try await Analysis(of: clicks, .beat)
        let faults = try readMe.faults(inSampleOf: analysis, batch: 400)
        #expect(faults == [])
    }
}
