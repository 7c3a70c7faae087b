internal import HemiolaRIFF

extension Header {
    /// Frames that the file promises to hold.
    ///
    /// - Parameter found: Frames that libsndfile counts.
    /// - Returns: nil when it makes no promise, or none that can be believed.
    func promisedFrames(found: Int64?, in family: SoundFile.Family) -> Int64? {
        let promised: Int64?
        switch family {
        case .flac: promised = found
        case .mpeg: promised = hasLengthTag ? found : nil
        // The length of an Ogg stands on its last page: cut off, it promises nothing.
        case .ogg: promised = found
        case .plain:
            guard let data, let stated = data.stated, let size = data.frameSize, data.isCutOff else { return found }
            promised = stated / size
        case .packed:
            guard let data, let stated = data.stated, data.isCutOff, let found else { return nil }
            // By the frames that the header counts, else in proportion.
            if let statedFrames, statedFrames >= found {
                promised = statedFrames
            } else {
                let share = Double(stated) / Double(max(data.present, 1))
                promised = Int64(exactly: (Double(found) * share).rounded())
            }
        }
        return promised.flatMap { $0 <= DeclaredLength.maximumFrames ? $0 : nil }
    }

    /// Frames that are really there, as far as that is known without decoding them; nil when it is not.
    func knownFrames(found: Int64?, in family: SoundFile.Family, of file: InputFile) -> Int64? {
        // More sections may have other rates, and would all have to be opened.
        guard sectionCount == 1, let found, found <= DeclaredLength.maximumFrames else { return nil }
        switch family {
        case .plain, .packed, .ogg:
            return found
        case .mpeg:
            return hasLengthTag && !(data?.isCutOff ?? false) ? found : nil
        case .flac:
            // The header only promises. A second decoder, so that the one that reads is where it should be, looks for the last frame.
            guard found > 0, let probe = try? SoundFile(file, view: view) else { return nil }
            return probe.reaches(found - 1) ? found : nil
        }
    }

    /// What is missing at the end, once everything that is there has been delivered; nil when nothing is.
    ///
    /// - Returns: 0 when only a part of a frame is missing.
    func missingFrames(promised: Int64?, delivered: Int64, in family: SoundFile.Family) -> Int64? {
        guard let promised else { return nil }
        // Two frames of MPEG audio, 1152 each: decoders and encoders of lossy formats differ about the silence around the sound.
        let tolerance: Int64 = family == .mpeg || family == .ogg ? 2304 : 0
        if promised - delivered > tolerance { return promised - delivered }
        return family == .plain && (data?.isCutOff ?? false) ? 0 : nil
    }
}
