import HemiolaSignal

/// Advances a bank hop by hop, as the engine does, and stores the spectra of its slots.
struct BankRun {
    struct Frame {
        /// The middle of its window, in frames since the start of the stream.
        var center: Double
        var power: [Float]
        var magnitude: [Float]
        var complex: [Float]
    }

    let bank: SpectrumBank
    let requests: [SpectrumRequest]
    let hopFrames: Int
    let sampleRate: Int
    private(set) var frame: Int64 = 0

    init(_ requests: [SpectrumRequest], hopFrames: Int = 1024, sampleRate: Int = 44_100) {
        bank = SpectrumBank(requests, hopFrames: hopFrames, sampleRate: sampleRate)
        self.sampleRate = sampleRate
        self.requests = requests
        self.hopFrames = hopFrames
    }

    /// Processes a zero-padded hop and returns the spectra of each request.
    mutating func advance(_ samples: some Collection<Float>) -> [[Frame]] {
        let hop = Array(samples) + Array(repeating: 0, count: hopFrames - samples.count)
        bank.advance(hop.span, at: frame)
        defer { frame += Int64(hopFrames) }
        return requests.indices.map { spectra($0) }
    }

    /// Processes a complete signal and returns all spectra of each request, in order.
    mutating func advance(through samples: [Float]) -> [[Frame]] {
        var all = requests.map { _ in [Frame]() }
        for start in stride(from: 0, to: samples.count, by: hopFrames) {
            let hop = advance(samples[start..<min(samples.count, start + hopFrames)])
            for index in all.indices { all[index] += hop[index] }
        }
        return all
    }

    private func spectra(_ index: Int) -> [Frame] {
        let slots = bank.slots(0..<requests.count)
        let hop = Hop(
            frame: frame, frameCount: hopFrames, indexInBatch: 0, format: StreamFormat(sampleRate: sampleRate, channelCount: 1),
            mono: [Float]().span, samples: [Float]().span, slots: slots.span)
        let spectra = hop.spectra(SpectrumHandle(index: index))
        let parts = requests[index].parts
        return (0..<spectra.count).map { number in
            Frame(
                center: spectra.center(of: number),
                power: parts.contains(.power) ? copy(spectra.power(number)) : [],
                magnitude: parts.contains(.magnitude) ? copy(spectra.magnitude(number)) : [],
                complex: parts.contains(.complex) ? copy(spectra.complex(number)) : [])
        }
    }

    private func copy(_ span: Span<Float>) -> [Float] {
        span.indices.map { span[$0] }
    }
}
