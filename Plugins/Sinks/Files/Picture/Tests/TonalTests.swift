import HemiolaSignal
import HemiolaTonal
import Testing

@testable import HemiolaPictures

/// Chroma, fundamental frequency and labels.
@Suite struct TonalTests {
    private static let rate = 8000

    private func label(_ start: Double, _ end: Double?, _ text: String) -> LabelTrack.Label {
        LabelTrack.Label(start: start, end: end, text: text)
    }

    private func track(_ labels: [LabelTrack.Label]) -> LabelTrack {
        var track = LabelTrack()
        for label in labels { track.append(label) }
        return track
    }

    @Test func `labels without a duration: end at the next one, the last at the end`() {
        let trimmed = track([label(5, nil, "B"), label(-1, nil, "A")]).trimmed(to: 8)
        #expect(trimmed.labels == [label(0, 5, "A"), label(5, 8, "B")])
    }

    @Test func `labels outside of the picture: left out; those across its ends: cut`() {
        let labels = [label(-3, -1, "A"), label(-1, 1, "B"), label(3, 9, "C"), label(7, 8, "D"), label(.nan, 1, "E")]
        #expect(track(labels).trimmed(to: 6).labels == [label(0, 1, "B"), label(3, 6, "C")])
    }

    @Test func `bars of phrases: a label over each phrase with the number of its bars, which ends with its last bar`() {
        var bars = PhraseBars()
        // The last bar of a phrase, four bars, and after a pause two.
        for (time, number) in [(1.0, 8), (3, 1), (5, 2), (7, 3), (9, 4), (20, 1), (22, 2), (.nan, 3)] {
            bars.append(PhraseBars.Bar(time: time, number: number))
        }
        #expect(bars.phrases.labels == [label(1, 3, "1"), label(3, 11, "4"), label(20, 24, "2")])
        #expect(PhraseBars().phrases.labels.isEmpty)
    }

    @Test func `longest label: by the sum of its durations`() {
        #expect(track([label(0, 2, "A"), label(2, 5, "B"), label(5, 7, "A")]).longest == "A")
        #expect(LabelTrack().longest == nil)
    }

    @Test func `number of labels: limited`() {
        var track = LabelTrack()
        for index in 0..<LabelTrack.limit + 10 { track.append(label(Double(index), nil, "A")) }
        #expect(track.labels.count == LabelTrack.limit)
    }

    @Test(arguments: [
        ("A:min7", "Am7"), ("C#:maj", "C♯"), ("Bb:7", "B♭7"), ("G:maj", "G"), ("N", ""), ("X", ""), ("D", "D"), ("E:sus4/5", "Esus4/5"),
        ("strange", "strange"),
    ]) func `chord: in the notation of lead sheets`(label: String, text: String) {
        #expect(ChordText.chord(label) == text)
    }

    @Test(arguments: [("Db major", "D♭ major", "D♭"), ("A minor", "A minor", "Am"), ("H dur", "H dur", "H dur")])
    func `key: with signs, and short`(label: String, text: String, short: String) {
        #expect(ChordText.key(label) == text && ChordText.shortKey(label) == short)
    }

    @Test(arguments: [("C", 0), ("B#", 0), ("Cb:maj", 11), ("F#:min", 6), ("Gb major", 6), ("A/3", 9), ("N", nil), ("", nil), ("Abc", nil)])
    func `pitch class of a name`(name: String, pitchClass: Int?) {
        #expect(ChordText.pitchClass(of: name) == pitchClass)
    }

    @Test(arguments: [(200.0, 12), (90, 6), (60, 4), (40, 3), (20, 1)])
    func `axis of pitch classes: as many labels as fit, from C on`(length: Double, count: Int) {
        let ticks = Ticks.pitchClasses(in: KeySignature(sharps: 0), length: length, spacing: 12)
        #expect(ticks.ticks.count == count && ticks.ticks[0] == Tick(value: 0, label: "C"))
    }

    @Test func `axis of pitch classes: spelled as the key, without one as the chords`() {
        let keys = track([label(0, 8, "A major"), label(8, 10, "Eb major")])
        let chords = track([label(0, 4, "Bb:maj"), label(4, 6, "N"), label(6, 8, "Eb:maj7"), label(8, 10, "F:7")])
        let sharps = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "B♭", "B"]
        let flats = ["C", "D♭", "D", "E♭", "E", "F", "G♭", "G", "A♭", "A", "B♭", "B"]
        #expect(ChordText.pitchClasses(in: ChordText.signature(keys: keys, chords: chords)) == sharps)
        #expect(ChordText.pitchClasses(in: ChordText.signature(keys: nil, chords: chords)) == flats)
        #expect(ChordText.signature(keys: nil, chords: nil) == KeySignature(sharps: 0))
    }

    // MARK: - Pictures

    private func picture(_ fill: (inout PictureRecorder) -> Void, panels: [PictureOptions.Panel] = [.spectrogram, .chroma]) throws
        -> [UInt8]
    {
        var options = PictureOptions()
        (options.width, options.height, options.panels) = (640, 480, panels)
        options.labelRows = PictureOptions.LabelRow.allCases
        var recorder = PictureRecorder(options, StreamFormat(sampleRate: Self.rate, channelCount: 1))
        fill(&recorder)
        return try recorder.finish(title: "test", frames: Int64(10 * Self.rate))
    }

    @Test(.enabled(if: Picture.libraryFault == nil, "cairo is not installed"), arguments: [12, 24, 36])
    func `chroma of each number of bins, with silence: changes the picture`(bins: Int) throws {
        let empty = try picture { _ in }
        let filled = try picture { recorder in
            recorder.expectChroma(bins: bins, batchFrames: 800)
            for batch in 0..<100 {
                let values = (0..<bins).map { batch.isMultiple(of: 10) ? Float.nan : Float($0 % 12) / 11 }
                recorder.add(chroma: values.span, at: Int64(batch * 800 - 400))
            }
        }
        #expect(filled != empty && filled.count > empty.count)
    }

    @Test(.enabled(if: Picture.libraryFault == nil, "cairo is not installed"))
    func `frequency and labels: each changes the picture; unvoiced frames and unknown texts do not end it`() throws {
        let empty = try picture { _ in }
        let pitch = try picture { recorder in
            for batch in 0..<100 {
                recorder.add(frequency: batch.isMultiple(of: 7) ? .nan : 220 + Float(batch), at: Int64(batch * 800), count: 800)
            }
            recorder.add(frequency: -1, at: 0, count: 800)
        }
        #expect(pitch != empty)
        for row in PictureOptions.LabelRow.allCases {
            let labelled = try picture { recorder in
                recorder.add(label: "G major", in: row, at: 1, duration: 3)
                recorder.add(label: "\u{0}?", in: row, at: 5, duration: nil)
                for bar in 1...3 where row == .phrases { recorder.add(phraseBar: bar, at: Double(bar)) }
            }
            #expect(labelled != empty, "\(row)")
        }
    }
}
