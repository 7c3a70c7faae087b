import Hemiola
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct PCMFormatTests {
    @Test(arguments: ["f32le,44100,2", "f32le:44100:2", " F32LE, 44100 , 2"])
    func `text with encoding, rate and channels: the format`(text: String) throws {
        let format = try PCMFormat(parsing: text)
        #expect(format == PCMFormat(.f32le, StreamFormat(sampleRate: 44_100, channelCount: 2)))
        #expect(format.description == "f32le,44100,2")
        #expect(try PCMFormat(parsing: format.description) == format)
    }

    @Test(arguments: [
        ("f32le", "\"f32le\" is not a raw sample format (encoding, sample rate, channels), for example f32le,44100,2"),
        ("", "\"\" is not a raw sample format (encoding, sample rate, channels), for example f32le,44100,2"),
        ("s16,44100,2", "\"s16\" in \"s16,44100,2\" is not an encoding; did you mean s16le?"),
        ("f32le,44.1,2", "\"44.1\" in \"f32le,44.1,2\" is not a sample rate within 8000...384000 Hz, for example f32le,44100,2"),
        ("f32le,44100,0", "\"0\" in \"f32le,44100,0\" is not a number of channels within 1...32, for example f32le,44100,2"),
    ])
    func `invalid text: the error contains the part, the range and an example`(text: String, message: String) {
        let error = #expect(throws: Problem.self) { try PCMFormat(parsing: text) }
        #expect(error?.description == message)
    }

    @Test func `settings encoding, rate and channels: equal to raw`() throws {
        let one = try settings("pcm:-,raw=s24le:96000:6").raw.format()
        #expect(try settings("pcm:-,encoding=s24le,rate=96000,channels=6").raw.format() == one)
        #expect(try settings("pcm:-,raw=s24le\\,96000\\,6").raw.format() == one)
        #expect(try settings("pcm").raw.format() == nil)
        #expect(try settings("pcm").path == "-")
    }

    @Test(arguments: [
        ("pcm:encoding=u8", "rate: missing rate and channels; raw"),
        ("pcm:rate=8000,channels=2", "encoding: missing encoding; raw"),
        ("pcm:raw=u8:8000:1,rate=8000", "raw: raw already contains encoding, rate and channels; leave them out"),
        ("pcm:raw=u9:8000:1", "raw: \"u9\" in \"u9:8000:1\" is not an encoding; did you mean u8?"),
        ("pcm:\"\"", "path: the path is empty; - is standard input"),
    ])
    func `inconsistent settings: the error has the key`(spec: String, message: String) throws {
        let error = #expect(throws: Problem.self) { try PCMReader(settings(spec)) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "nothing")")
    }
}
