import Hemiola
import HemiolaTesting
import MyPlugins
import Testing

@Suite struct MetronomeTests {
    @Test(arguments: ["", "90,seconds=1", "bpm=300,seconds=0.1"])
    func `metronome: conforms`(settings: String) throws {
        try CaptureConformanceSuite(.metronome, settings: settings).run()
    }
}
