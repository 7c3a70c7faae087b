internal import Glibc
public import HemiolaRecords
public import HemiolaSignal
public import HemiolaSystem

/// Collects what a picture of a stream shows, in memory that is bounded by the size of the picture.
///
/// Input is either the samples of the stream, or its recorded levels and spectra; and beats. Frames are those of the stream and increase.
///
/// - Complexity: Per frame O(log n) in the size of the spectrum; see ``PictureOptions/largestArea`` for the memory: at most 8 bytes per
///   pixel of the spectrogram, and the picture itself.
public struct PictureRecorder: ~Copyable {
    /// The part of a stream that the picture shows.
    public struct Excerpt: Sendable, Equatable {
        /// The first frame.
        public var start: Int64
        /// The number of frames; nil: to the end.
        public var frames: Int64?

        /// An excerpt; by default the whole stream.
        public init(start: Int64 = 0, frames: Int64? = nil) {
            self.start = start
            self.frames = frames
        }
    }

    /// The recorded feature that the spectrogram shows.
    public enum SpectrumFeature: Sendable, Equatable {
        /// Levels of bands in decibels, with their edges in hertz.
        case bands(edges: [Double])
        /// Amplitudes at multiples of a frequency in hertz, the first at 0.
        case magnitudes(binWidth: Double)
    }

    /// The most gaps that are marked each on its own.
    public static let largestGapCount = 16_384

    /// Maximum length of a label; a longer one has no room in any picture.
    private static let longestLabel = 1000

    private let options: PictureOptions
    private let layout: PictureLayout
    private let format: StreamFormat
    private let excerpt: Excerpt
    private let axis: FrequencyAxis
    /// The size of the spectrogram in pixels.
    private let imageSize: (width: Int, height: Int)
    private var spectrogram: SpectrogramRecorder?
    /// The polarity of the two channels of a stereo stream up to a frame, and from it on.
    /// Frames that were lost, in order.
    private var gaps: [(start: Int64, end: Int64)] = []
    private var polarity = (before: Polarity.normal, change: Int64(0), after: Polarity.normal)
    private var recorded: RecordedSpectra?
    private var envelope: WaveformEnvelope
    private var hasEnvelope = false
    private var grid = BeatLines()
    private var chroma: ColumnStore?
    private var chromaValues: [Float] = []
    private var pitch: WaveformEnvelope?
    private var labels: [PictureOptions.LabelRow: LabelTrack] = [:]
    private var phraseBars = PhraseBars()
    /// A recorded spectrum.
    private var values: [Float] = []

    /// Starts a picture of a stream.
    ///
    /// - Parameters:
    ///   - options: Checked: `fault` is nil.
    ///   - format: The format of the stream.
    ///   - excerpt: The part of the stream that is shown.
    public init(_ options: PictureOptions, _ format: StreamFormat, excerpt: Excerpt = Excerpt()) {
        self.options = options
        self.format = format
        self.excerpt = excerpt
        layout = PictureLayout(options)
        axis = FrequencyAxis(
            options.scale, minimum: options.minimumFrequency, maximum: options.maximumFrequency, sampleRate: Double(format.sampleRate))
        let rect = layout.rect(of: .spectrogram)
        let scale = options.imageScale
        imageSize = rect.map { (max(1, Int(($0.width * scale).rounded())), max(1, Int(($0.height * scale).rounded()))) } ?? (0, 0)
        envelope = WaveformEnvelope(capacity: 8 * options.width, step: 1)
    }

    /// Announces recorded spectra instead of samples.
    ///
    /// - Parameters:
    ///   - feature: The recorded feature.
    ///   - count: The values of a spectrum.
    ///   - batchFrames: The distance of two spectra, in frames.
    public mutating func expectSpectra(_ feature: SpectrumFeature, count: Int, batchFrames: Int) {
        guard imageSize.height > 0 else { return }
        recorded = RecordedSpectra(
            feature, count: count, axis, columns: imageSize.width, rows: imageSize.height, batchFrames: batchFrames)
        values = [Float](repeating: 0, count: count)
    }

    /// Whether a number of values can be those of an octave: a multiple of 12, and few enough for rows of pixels.
    public static func isChroma(bins: Int) -> Bool {
        (12...120).contains(bins) && bins.isMultiple(of: 12)
    }

    /// Announces chroma.
    ///
    /// - Parameters:
    ///   - bins: Bins of an octave, as of ``isChroma(bins:)``. The first is C, and the middle of a semitone.
    ///   - batchFrames: The distance of two values, in frames.
    public mutating func expectChroma(bins: Int, batchFrames: Int) {
        guard let rect = layout.rect(of: .chroma), Self.isChroma(bins: bins) else { return }
        let columns = max(1, Int((rect.width * options.imageScale).rounded()))
        chroma = ColumnStore(width: bins, capacity: 2 * max(2, columns), step: Int64(batchFrames))
        chromaValues = [Float](repeating: 0, count: bins)
    }

    /// The frame within the excerpt; nil: outside.
    private func place(of frame: Int64) -> Int64? {
        let place = frame - excerpt.start
        return place >= 0 && place < excerpt.frames ?? .max ? place : nil
    }

    // MARK: - Input

    /// Announces another polarity of the channels: the spectrogram shows half the difference of two channels of opposite polarity, whose
    /// sum would be silence. Called before the samples of this frame are added.
    public mutating func add(_ polarity: Polarity, at frame: Int64) {
        self.polarity = (self.polarity.after, frame, polarity)
    }

    /// Adds a gap: frames that were lost. It is marked as missing in all panels. Beyond ``largestGapCount`` gaps, the last one is
    /// extended: the picture has fewer pixels than that.
    public mutating func add(gapOf count: Int64, at frame: Int64) {
        guard count > 0 else { return }
        let end = frame + count
        if let last = gaps.last, last.end >= frame || gaps.count == Self.largestGapCount {
            gaps[gaps.count - 1].end = max(last.end, end)
        } else {
            gaps.append((frame, end))
        }
    }

    /// Adds samples. Frames between two calls that are left out are silence.
    ///
    /// - Parameters:
    ///   - samples: Interleaved.
    ///   - frame: The frame of the first sample.
    public mutating func add(samples: Span<Float>, at frame: Int64) {
        let channelCount = format.channelCount
        let frameCount = samples.count / channelCount
        if spectrogram == nil, imageSize.height > 0, recorded == nil {
            spectrogram = SpectrogramRecorder(axis, sampleRate: format.sampleRate, columns: imageSize.width, rows: imageSize.height)
        }
        hasEnvelope = true
        // The frames of the excerpt.
        var index = Int(min(Int64(frameCount), max(0, excerpt.start - frame)))
        let end = excerpt.frames.map { Int(max(0, min(Int64(frameCount), excerpt.start + $0 - frame))) } ?? frameCount
        guard index < end else { return }
        spectrogram?.skip(to: frame + Int64(index) - excerpt.start)
        while index < end {
            // Up to the end of a column of the waveform.
            let place = frame + Int64(index) - excerpt.start
            var next = min(end, index + Int(envelope.step - place % envelope.step))
            let isBeforeChange = frame + Int64(index) < polarity.change
            if isBeforeChange { next = Int(min(Int64(next), polarity.change - frame)) }
            let isOpposite = channelCount == 2 && (isBeforeChange ? polarity.before : polarity.after) == .opposite
            var column = WaveformEnvelope.Column()
            while index < next {
                var sum: Float = 0
                for channel in 0..<channelCount {
                    let value = samples[index * channelCount + channel]
                    column.minimum = min(column.minimum, value)
                    column.maximum = max(column.maximum, value)
                    column.squares += Double(value * value)
                    sum += value
                }
                column.count += Double(channelCount)
                if isOpposite { sum = samples[index * channelCount] - samples[index * channelCount + 1] }
                spectrogram?.append(sum / Float(channelCount))
                index += 1
            }
            envelope.add(column, at: place)
        }
        spectrogram?.processAll()
    }

    /// Adds recorded levels.
    ///
    /// - Parameters:
    ///   - peaks: The largest amplitude of each channel, in dBFS; NaN: none.
    ///   - rms: The RMS level of each channel, in dBFS; NaN: none.
    ///   - frame: The first frame of the batch.
    ///   - count: Its frames.
    public mutating func add(peaks: Span<Float>, rms: Span<Float>, at frame: Int64, count: Int) {
        guard let place = place(of: frame) else { return }
        var column = WaveformEnvelope.Column(minimum: 0, maximum: 0, squares: 0, count: Double(count))
        for index in peaks.indices where peaks[index].isFinite {
            column.maximum = max(column.maximum, Self.amplitude(peaks[index]))
        }
        column.minimum = -column.maximum
        for index in rms.indices where rms[index].isFinite {
            let amplitude = Double(Self.amplitude(rms[index]))
            column.squares += amplitude * amplitude * Double(count) / Double(rms.count)
        }
        hasEnvelope = true
        // Every column of the batch: at the start they are shorter than a batch.
        var end = place
        repeat {
            envelope.add(column, at: end)
            end += envelope.step
        } while end < place + Int64(count)
    }

    /// Adds a recorded spectrum, as announced by `expectSpectra`.
    ///
    /// - Parameters:
    ///   - spectrum: Its values; NaN: none.
    ///   - frame: The middle of the spectrum.
    public mutating func add(spectrum: Span<Float>, at frame: Int64) {
        guard let place = place(of: max(frame, excerpt.start)), frame >= excerpt.start - Int64(format.sampleRate), recorded != nil else {
            return
        }
        for index in values.indices { values[index] = spectrum[index] }
        recorded!.add(values, at: place)
    }

    /// Adds a beat.
    ///
    /// - Parameters:
    ///   - beat: Its tempo and position.
    ///   - seconds: Its time in the stream.
    public mutating func add(_ beat: Beat, at seconds: Double) {
        let start = format.seconds(at: excerpt.start)
        grid.append(BeatLines.Beat(time: seconds - start, beatsPerMinute: beat.beatsPerMinute, position: beat.position))
    }

    /// Adds the strengths of the pitch classes, as announced by `expectChroma`.
    ///
    /// - Parameters:
    ///   - values: Its values, 0…1; NaN: silence.
    ///   - frame: The middle of the window.
    public mutating func add(chroma values: Span<Float>, at frame: Int64) {
        guard chroma != nil, values.count == chromaValues.count, let place = place(of: max(frame, excerpt.start)),
            frame >= excerpt.start - Int64(format.sampleRate)
        else { return }
        for index in chromaValues.indices { chromaValues[index] = values[index].isFinite ? min(max(values[index], 0), 1) : 0 }
        chroma!.add(chromaValues, at: place)
    }

    /// Adds a fundamental frequency.
    ///
    /// - Parameters:
    ///   - frequency: In hertz; NaN: unvoiced.
    ///   - frame: The first frame that it describes.
    ///   - count: The number of frames.
    public mutating func add(frequency: Float, at frame: Int64, count: Int) {
        guard layout.rect(of: .spectrogram) != nil, frequency > 0, frequency <= Float(format.sampleRate), let place = place(of: frame)
        else { return }
        if pitch == nil { pitch = WaveformEnvelope(capacity: 8 * options.width, step: 1) }
        let value = Float(log2(Double(frequency)))
        let column = WaveformEnvelope.Column(minimum: value, maximum: value, squares: 0, count: Double(count))
        // Every column of the batch: at the start they are shorter than a batch.
        var end = place
        repeat {
            pitch!.add(column, at: end)
            end += pitch!.step
        } while end < place + Int64(count)
    }

    /// Adds a label.
    ///
    /// - Parameters:
    ///   - label: Its text: a key such as `A minor`, a chord such as `A:min7` (`N`: none), or the name of a segment.
    ///   - row: Its row, which is not that of the phrases.
    ///   - seconds: Its time in the stream.
    ///   - duration: In seconds; nil: to the next label of its row.
    public mutating func add(label: String, in row: PictureOptions.LabelRow, at seconds: Double, duration: Double?) {
        let start = seconds - format.seconds(at: excerpt.start)
        let label = String(label.unicodeScalars.prefix(Self.longestLabel))
        labels[row, default: LabelTrack()].append(LabelTrack.Label(start: start, end: duration.map { start + $0 }, text: label))
    }

    /// Adds a bar of a phrase.
    ///
    /// - Parameters:
    ///   - number: Its place in the phrase, 1 is the first.
    ///   - seconds: Its time in the stream.
    public mutating func add(phraseBar number: Int, at seconds: Double) {
        phraseBars.append(PhraseBars.Bar(time: seconds - format.seconds(at: excerpt.start), number: number))
    }

    // MARK: - Output

    /// The picture's file.
    ///
    /// - Parameters:
    ///   - title: One line above the picture.
    ///   - frames: The length of the stream.
    ///   - start: The time of the stream's first frame in its source, in seconds, for the time axis.
    ///   - missing: Why a panel is empty, by panel.
    /// - Throws: cairo is not installed, or its error.
    public consuming func finish(
        title: String, frames: Int64, start: Double = 0, missing: [PictureOptions.Panel: String] = [:]
    ) throws(Problem) -> [UInt8] {
        let available = max(0, frames - excerpt.start)
        let length = min(available, excerpt.frames ?? available)
        let shown = max(1, length)
        let duration = format.seconds(at: length)
        grid.trim(to: duration)
        var content = PictureContent(
            title: title, format: format, start: start + format.seconds(at: excerpt.start), duration: duration, axis: axis,
            beats: options.showsBeats ? grid : BeatLines(), missing: missing)
        content.imageSize = imageSize
        for gap in gaps {
            let (start, end) = (max(gap.start - excerpt.start, 0), min(gap.end - excerpt.start, length))
            if start < end { content.gaps.append((format.seconds(at: start), format.seconds(at: end))) }
        }
        if length > 0 {
            if spectrogram != nil {
                spectrogram!.finish()
                content.power = spectrogram!.columns.means(parts: imageSize.width, frames: shown)
            } else if recorded != nil {
                content.power = recorded!.columns.means(parts: imageSize.width, frames: shown)
            }
            if chroma != nil, let rect = layout.rect(of: .chroma) {
                content.chromaBins = chromaValues.count
                content.chroma = chroma!.means(parts: max(1, Int((rect.width * options.imageScale).rounded())), frames: shown)
            }
            if let pitch, let rect = layout.rect(of: .spectrogram) {
                content.pitch = pitch.parts(max(1, Int(rect.width)), frames: shown)
            }
            labels[.phrases] = phraseBars.phrases
            for row in labels.keys { content.labels[row] = labels[row]?.trimmed(to: duration) }
            if hasEnvelope, let rect = layout.rect(of: .waveform) {
                content.envelope = envelope.parts(max(1, Int(rect.width)), frames: shown)
            }
        }
        return try Picture(options, layout).draw(&content)
    }

    /// Recorded levels are at least −120 dB, which stands for silence.
    private static func amplitude(_ decibels: Float) -> Float {
        decibels <= -119 ? 0 : min(pow(10, decibels / 20), AmplitudeLimit.linear)
    }
}
