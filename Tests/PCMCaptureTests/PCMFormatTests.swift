import Hemiola
import HemiolaSignal
import Testing

@testable import PCMCapture

@Suite struct PCMFormatTests {
    @Test(arguments: ["f32le,44100,2", "f32le:44100:2", " F32LE, 44100 , 2"])
    func `a format is encoding, rate and channels`(text: String) throws {
        let format = try PCMFormat(parsing: text)
        #expect(format == PCMFormat(.f32le, StreamFormat(sampleRate: 44_100, channelCount: 2)))
        #expect(format.description == "f32le,44100,2")
        #expect(try PCMFormat(parsing: format.description) == format)
    }

    @Test(arguments: [
        ("f32le", "\"f32le\" is no format of raw samples; write encoding, frames a second and channels, as in f32le,44100,2"),
        ("", "\"\" is no format of raw samples; write encoding, frames a second and channels, as in f32le,44100,2"),
        ("s16,44100,2", "\"s16\" in \"s16,44100,2\" is no encoding; did you mean s16le?"),
        ("f32le,44.1,2", "\"44.1\" in \"f32le,44.1,2\" is no rate within 8000...384000 Hz; write it, as in f32le,44100,2"),
        ("f32le,44100,0", "\"0\" in \"f32le,44100,0\" is no number of channels within 1...32; write it, as in f32le,44100,2"),
    ])
    func `an error names the part, the range and an example`(text: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try PCMFormat(parsing: text) }
        #expect(error?.description == message)
    }

    @Test func `three settings say the same as one`() throws {
        let one = try settings("pcm:-,raw=s24le:96000:6").format
        #expect(try settings("pcm:-,encoding=s24le,rate=96000,channels=6").format == one)
        #expect(try settings("pcm:-,raw=s24le\\,96000\\,6").format == one)
        #expect(try settings("pcm").format == nil)
        #expect(try settings("pcm").path == "-")
    }

    @Test(arguments: [
        ("pcm:encoding=u8", "rate: there is no rate and no channels; raw"),
        ("pcm:rate=8000,channels=2", "encoding: there is no encoding; raw"),
        ("pcm:raw=u8:8000:1,rate=8000", "raw: encoding, rate and channels stand in raw already; leave them out"),
        ("pcm:raw=u9:8000:1", "raw: \"u9\" in \"u9:8000:1\" is no encoding; did you mean u8?"),
        ("pcm:\"\"", "path: there is no path; - is standard input"),
    ])
    func `settings that do not go together are told by their key`(spec: String, message: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try settings(spec) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "nothing")")
    }
}
