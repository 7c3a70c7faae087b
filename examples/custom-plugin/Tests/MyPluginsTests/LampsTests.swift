import Hemiola
import HemiolaTesting
import MyPlugins
import Testing

@Suite struct LampsTests {
    @Test(arguments: ["", "1", "count=64"])
    func `lamps: conforms as a sink and as a director`(settings: String) throws {
        try SinkConformanceSuite(.lamps, settings: settings).run()
        try DirectorConformanceSuite(.lamps, settings: settings).run()
    }
}
