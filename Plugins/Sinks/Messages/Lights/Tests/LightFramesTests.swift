import Hemiola
import HemiolaFieldMaps
import HemiolaNetwork
import HemiolaTesting
import TestSupport
import Testing

@testable import LightsSink

/// What the lights show, on a simulated clock.
@Suite struct LightFramesTests {
    private static let batch = 1024 / 44_100.0

    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var visualizer = AnalyzerOutputs()
        _ = visualizer.add(Feature("bars", .none, count: 2, ""))
        return .test(
            StreamFormat(sampleRate: 44_100, channelCount: 1), isLive: true, analyzers: [("levels", levels), ("visualizer", visualizer)])
    }()

    private struct Shower {
        var frames: LightFrames<DDPMessages>
        private var number: Int64 = 0

        init(_ settings: String, map: FieldMap? = nil, lead: Double = 0) throws {
            let settings = LightSettings(try SinkPlugin.lights.about.values(parsing: "ddp:127.0.0.1,\(settings)"))
            frames = LightFrames(try DDPMessages(settings), settings, map: map, lead: lead)
            try frames.begin(LightFramesTests.header)
        }

        /// Adds a batch, which arrives when it ends.
        mutating func add(level: Float = -120, bars: [Float] = [0, 0], _ events: [Event] = []) {
            let block = BatchBlock([CollectedBatch(number: number, frame: number * 1024, row: [level] + bars, events: events)])
            number += 1
            frames.add(block[0], at: Double(number) * LightFramesTests.batch)
            for event in events { frames.add(event) }
        }

        /// The bytes of the channels at a time.
        mutating func channels(at time: Double, gain: Float = 1) throws -> [UInt8] {
            try #require(LightPackets.DDP(frames.messages(at: time, gain: gain)[0].bytes)).data
        }
    }

    private func beat(at time: Double, tempo: Double = 120) -> Event {
        Beat(beatsPerMinute: tempo, position: 1, confidence: 1).event(at: time)
    }

    @Test func `pulse: a flash at the time of the beat, with lead_ms earlier`() throws {
        for (lead, time) in [(0.0, 0.06), (0.03, 0.03)] {
            var show = try Shower("pixels=1,effect=pulse", lead: lead)
            show.add([beat(at: 0.06)])
            #expect(abs(show.frames.nextEvent - time) < 1e-9)
            #expect(try show.channels(at: time - 0.001).max() == 0)
            #expect(try show.channels(at: time + 0.0001).max() == 255)
            #expect(show.frames.nextEvent == .infinity)
        }
    }

    @Test func `pulse: a flash is as bright when its frame is late, and then falls`() throws {
        var show = try Shower("pixels=1,effect=pulse")
        show.add([beat(at: 0.06)])
        #expect(try show.channels(at: 0.08).max() == 255)
        let later = try [0.1, 0.15, 0.3].map { try show.channels(at: $0).max()! }
        #expect(later == later.sorted(by: >) && later[0] < 255 && later[0] > 200 && later[2] < 60)
    }

    @Test func `spectrum and level: no frame for a beat`() throws {
        for effect in ["spectrum", "level"] {
            var show = try Shower("pixels=1,effect=\(effect)")
            show.add([beat(at: 0.06)])
            #expect(show.frames.nextEvent == .infinity)
        }
    }

    @Test func `several batches between frames: the highest values are shown, then those of the next batch`() throws {
        for effect in ["spectrum", "level", "pulse"] {
            var show = try Shower("pixels=2,effect=\(effect)")
            show.add(level: 0, bars: [1, 0.5])
            show.add()
            let loud = try show.channels(at: 2 * Self.batch)
            #expect(loud.max()! >= 64, "\(effect)")
            #expect(try show.channels(at: 2.5 * Self.batch) == loud)
            show.add()
            #expect(try show.channels(at: 3 * Self.batch).max() == 0)
        }
    }

    @Test func `gain: weaker, and dark at 0`() throws {
        var show = try Shower("pixels=1,effect=spectrum")
        show.add(bars: [1, 0])
        #expect(try show.channels(at: 0.03) == [255, 0, 0])
        #expect(try show.channels(at: 0.04, gain: 0.5) == [128, 0, 0])
        #expect(try show.channels(at: 0.05, gain: 0) == [0, 0, 0])
    }

    @Test func `beats at 400 BPM: at most three flashes a second, with strobe=true all of them`() throws {
        for (strobe, most) in [(false, 3), (true, 7)] {
            var show = try Shower("pixels=1,effect=pulse,strobe=\(strobe)")
            var starts: [Double] = []
            var wasBright = false
            for number in 0..<130 {
                let time = Double(number + 1) * Self.batch
                // A beat every 0.15 s, known with the batch in which it lies.
                let place = (time / 0.15).rounded(.down) * 0.15
                show.add(place > time - Self.batch ? [beat(at: place, tempo: 400)] : [])
                let isBright = try show.channels(at: time).max()! > 150
                if isBright, !wasBright { starts.append(time) }
                wasBright = isBright
            }
            let mostInASecond = starts.map { start in starts.count { $0 >= start && $0 < start + 1 } }.max() ?? 0
            #expect(strobe ? (4...most).contains(mostInASecond) : (1...most).contains(mostInASecond), "\(starts)")
        }
    }

    @Test func `field map: channels, values for records that last for 0.1 s`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            """
            - {from: levels.rms_db, to: 1, scale: [-48, 0, 0, 255]}
            - {value: 200, to: 3, when: beat}
            - {value: 250, to: 1, when: onset}
            - {from: visualizer.bars, to: 511, scale: [0, 1, 0, 255]}
            """, to: "map.yaml")
        var show = try Shower("pixels=1", map: try FieldMap.load(path))
        show.add(level: -24, bars: [1, 0.5], [beat(at: 0.06), Onset(strength: 1).event(at: 0.01)])
        #expect(abs(show.frames.nextEvent - 0.01) < 1e-9)
        let first = try show.channels(at: 0.024)
        #expect(first.prefix(4) == [250, 0, 0, 0] && first.suffix(2) == [255, 128])
        #expect(try show.channels(at: 0.0601)[2] == 200)
        show.add(level: -48)
        // The value of the onset ends before that of the beat, and that of the batch is back.
        let second = try show.channels(at: 0.13)
        #expect(second[0] == 0 && second[2] == 200)
        #expect(try show.channels(at: 0.161)[2] == 0)
    }
}
