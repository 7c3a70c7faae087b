internal import HemiolaSignal

/// Computes the columns of a spectrogram from samples of unknown number, in bounded memory.
///
/// The distance of two transforms is that of two columns, but at most half the window: no audio is left out, and a file of any length
/// below two hours takes about the same time.
struct SpectrogramRecorder: ~Copyable {
    /// The shortest distance of two transforms, in frames.
    private static let shortestHop: Int64 = 16
    /// The duration of the window in seconds, rounded to a power of two frames: 4096 at 44.1 and 48 kHz.
    private static let windowSeconds = 0.09

    /// Frames under the window.
    let size: Int
    private var transform: RealFFT
    private let window: [Float]
    /// From |X|² to the square of a sine's amplitude.
    private let scale: Float
    private var rows: SpectrumRows
    var columns: ColumnStore
    /// The mono frames from `start` on.
    private var history: [Float]
    /// The frame of the first value of the history. Frames before the stream are 0.
    private var start: Int64
    /// The middle of the next window: the middle of a hop.
    private var center: Int64 = 0
    private var power: [Float]
    private var column: [Float]

    init(_ axis: FrequencyAxis, sampleRate: Int, columns columnCount: Int, rows rowCount: Int) {
        var size = 256
        while Double(size) * 1.5 < Self.windowSeconds * Double(sampleRate) { size *= 2 }
        self.size = size
        // Twice the window: zero-padding halves the distance of two bins, so that interpolated rows follow the window's main lobe.
        transform = RealFFT(size: 2 * size)
        window = WindowShape.hann.values(size: size)
        let sum = Float(WindowShape.hann.sum(size: size))
        scale = 4 / (sum * sum)
        let binWidth = Double(sampleRate) / Double(2 * size)
        rows = SpectrumRows(axis, rowCount: rowCount, binCount: size + 1, binWidth: binWidth)
        columns = ColumnStore(width: rowCount, capacity: 2 * max(2, columnCount), step: Self.shortestHop)
        start = -Int64(size / 2)
        history = [Float](repeating: 0, count: size / 2)
        power = [Float](repeating: 0, count: size + 1)
        column = [Float](repeating: 0, count: rowCount)
        center = Self.shortestHop / 2
    }

    private var hop: Int64 { min(columns.step, Int64(size / 2)) }

    /// Appends a frame of the mono mix, limited to amplitudes whose squares and sums are finite.
    mutating func append(_ value: Float) {
        history.append(min(max(value, -AmplitudeLimit.linear), AmplitudeLimit.linear))
    }

    /// Continues at a later frame: the audio between is silence.
    mutating func skip(to frame: Int64) {
        let end = start + Int64(history.count)
        guard frame > end else { return }
        history.append(contentsOf: repeatElement(0, count: Int(min(frame - end, Int64(size)))))
        processAll()
        if frame - end > Int64(size) {
            history = [Float](repeating: 0, count: size)
            start = frame - Int64(size)
            columns.reserve(frame)
            // Silent columns are left empty.
            center = max(center, (start / hop) * hop + hop / 2)
        }
    }

    /// Transforms all windows that are complete.
    mutating func processAll() {
        let half = Int64(size / 2)
        while center + half <= start + Int64(history.count) {
            columns.reserve(center)
            // The columns may have become longer.
            let hop = hop
            let aligned = center / hop * hop + hop / 2
            if aligned < center {
                center = aligned + hop
                continue
            }
            if aligned > center {
                center = aligned
                continue
            }
            let first = Int(center - half - start)
            if first >= 0 { process(from: first) }
            center += hop
        }
        // Removes what no window needs.
        let unused = Int(center - half - start)
        if unused >= 16 * size {
            let removed = min(unused, history.count)
            history.removeFirst(removed)
            start += Int64(removed)
        }
    }

    /// Ends the stream: frames after it are 0. The last window's middle may lie behind the last frame, in the same column.
    mutating func finish() {
        history.append(contentsOf: repeatElement(0, count: size / 2 + Int(hop)))
        processAll()
    }

    private mutating func process(from first: Int) {
        if Self.fill(&transform, with: history, from: first, window) {
            transform.transform()
            Self.measure(transform, scale, into: &power)
            rows.convert(power, into: &column)
        } else {
            for row in column.indices { column[row] = 0 }
        }
        columns.add(column, at: center)
    }

    /// Writes the windowed samples.
    ///
    /// - Returns: Whether a sample is not 0.
    private static func fill(_ transform: inout RealFFT, with history: [Float], from first: Int, _ window: [Float]) -> Bool {
        var samples = transform.samples
        var isSilent = true
        for index in window.indices {
            let value = history[first + index]
            if value != 0 { isSilent = false }
            samples[index] = value * window[index]
        }
        return !isSilent
    }

    /// The square of the amplitude of a sine, for each bin.
    private static func measure(_ transform: borrowing RealFFT, _ scale: Float, into power: inout [Float]) {
        let bins = transform.bins
        for bin in power.indices {
            power[bin] = (bins[2 * bin] * bins[2 * bin] + bins[2 * bin + 1] * bins[2 * bin + 1]) * scale
        }
    }
}
