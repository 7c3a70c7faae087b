internal import HemiolaRIFF

extension Header {
    /// The number of frames that the file should hold by its header.
    ///
    /// - Parameter decoderCount: Frames by libsndfile's count.
    /// - Returns: nil when no length is declared, or none that is plausible.
    func expectedFrames(decoderCount: Int64?, in family: SoundFile.Family) -> Int64? {
        let expected: Int64?
        switch family {
        case .flac: expected = decoderCount
        case .mpeg: expected = hasLengthTag ? decoderCount : nil
        // The last page holds the length of an Ogg file: a truncated one declares none.
        case .ogg: expected = decoderCount
        case .plain:
            guard let data, let declared = data.declared, let size = data.frameSize, data.isTruncated else { return decoderCount }
            expected = declared / size
        case .packed:
            guard let data, let declared = data.declared, data.isTruncated, let decoderCount else { return nil }
            // By the declared number of frames, else in proportion to the bytes.
            if let declaredFrames, declaredFrames >= decoderCount {
                expected = declaredFrames
            } else {
                let share = Double(declared) / Double(max(data.present, 1))
                expected = Int64(exactly: (Double(decoderCount) * share).rounded())
            }
        }
        return expected.flatMap { $0 <= DeclaredLength.maximumFrames ? $0 : nil }
    }

    /// The number of frames present in the file; nil when only decoding determines it.
    func availableFrames(decoderCount: Int64?, in family: SoundFile.Family, of file: InputFile) -> Int64? {
        // Sections may differ in sample rate, and each would have to be opened.
        guard sectionCount == 1, let decoderCount, decoderCount <= DeclaredLength.maximumFrames else { return nil }
        switch family {
        case .plain, .packed, .ogg:
            return decoderCount
        case .mpeg:
            return hasLengthTag && !(data?.isTruncated ?? false) ? decoderCount : nil
        case .flac:
            // Checks the declared length by a seek to the last frame. A second decoder does it, because a seek would move the first one.
            guard decoderCount > 0, let probe = try? SoundFile(file, view: view) else { return nil }
            return probe.canSeek(to: decoderCount - 1) ? decoderCount : nil
        }
    }

    /// Frames missing at the end, once all present frames are delivered; nil when nothing is missing.
    ///
    /// - Returns: 0 when only part of a frame is missing.
    func missingFrames(expected: Int64?, delivered: Int64, in family: SoundFile.Family) -> Int64? {
        guard let expected else { return nil }
        // Two frames of MPEG audio, 1152 samples each: encoders and decoders of lossy formats differ in the padding at start and end.
        let tolerance: Int64 = family == .mpeg || family == .ogg ? 2304 : 0
        if expected - delivered > tolerance { return expected - delivered }
        return family == .plain && (data?.isTruncated ?? false) ? 0 : nil
    }
}
