internal import Hemiola

/// Encodes marks as timing tracks of xLights (`.xtiming`), a track for each kind.
///
/// Source: `SequenceFile::ProcessXTiming` of xLights, which reads whole milliseconds and rounds them to its frames.
struct XLightsTracks {
    /// The document.
    let document: String

    init(_ marks: [Mark]) {
        let tracks = Mark.Kind.allCases.compactMap { kind -> String? in
            let effects = marks.filter { $0.kind == kind }.compactMap { mark -> String? in
                let (start, end) = (Self.milliseconds(mark.start), Self.milliseconds(mark.end))
                guard start < end else { return nil }
                return XML.element(
                    "Effect", indent: 6, [("label", mark.label), ("starttime", String(start)), ("endtime", String(end))])
            }
            if effects.isEmpty { return nil }
            return XML.element(
                "timing", indent: 2, [("name", "\(kind.rawValue)s"), ("SourceVersion", "Hemiola \(HemiolaVersion.current)")],
                [XML.element("EffectLayer", indent: 4, [], effects)])
        }
        document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + XML.element("timings", indent: 0, [], tracks)
    }

    /// Limited to what xLights reads. In a damaged recording a time may be of any size.
    private static func milliseconds(_ seconds: Double) -> Int {
        Int(min(max((seconds * 1000).rounded(), 0), Double(Int32.max)))
    }
}
