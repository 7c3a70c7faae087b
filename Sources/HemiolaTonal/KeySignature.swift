/// The sharps or flats of a key, and the names that its notes have.
///
/// Notes are named by their place on the line of fifths, … B♭ F C G D A E B F♯ …: a key signature with one sharp more moves the twelve
/// names by one place.
public struct KeySignature: Sendable, Hashable {
    /// The number of sharps; of flats, if negative.
    public var sharps: Int

    /// - Parameter sharps: The number of sharps; of flats, if negative.
    public init(sharps: Int) {
        self.sharps = sharps
    }

    /// The signature of a key with the fewest accidentals: F sharp major and E flat minor have six.
    ///
    /// - Parameter key: 0…11: the major keys from C on; 12…23: the minor keys.
    public init(ofKey key: Int) {
        // From D flat to F sharp major, and from E flat to G sharp minor.
        sharps = key < 12 ? Self.place(of: key, from: -5) : Self.place(of: key - 12, from: -3) - 3
    }

    /// The signature of a key that is written as `C# minor` or `Eb major`; nil: it is not.
    public init?(named label: String) {
        let words = label.split(separator: " ")
        guard words.count == 2, let place = Self.place(of: words[0]) else { return nil }
        switch words[1] {
        case "major": sharps = place
        case "minor": sharps = place - 3
        default: return nil
        }
    }

    /// The key in Camelot's notation, `8B` for C major and `8A` for A minor: a fifth up is the next number of 12.
    public static func camelot(ofKey key: Int) -> String {
        "\(hour(ofKey: key, ofC: 8))\(key < 12 ? "B" : "A")"
    }

    /// The key in Open Key notation, `1d` for C major and `1m` for A minor: a fifth up is the next number of 12.
    public static func openKey(ofKey key: Int) -> String {
        "\(hour(ofKey: key, ofC: 1))\(key < 12 ? "d" : "m")"
    }

    /// The place of a key on a circle of fifths with 12 places, 1…12.
    private static func hour(ofKey key: Int, ofC first: Int) -> Int {
        (KeySignature(ofKey: key).sharps + first + 11) % 12 + 1
    }

    /// The name of a pitch class in music with this signature: those of the major scale, the raised fourth, and the lowered second,
    /// third, sixth and seventh. Outside the scale no note has a name beyond G flat and A sharp.
    ///
    /// - Parameter pitchClass: 0 = C … 11 = B.
    public func name(of pitchClass: Int) -> String {
        var place = Self.place(of: pitchClass, from: sharps - 5)
        let scale = sharps - 1...sharps + 5
        if !scale.contains(place), !(-6...10).contains(place) { place += place < 0 ? 12 : -12 }
        let (accidentals, letter) = (place + 1).quotientAndRemainder(roundedDownBy: 7)
        return Self.letters[letter] + String(repeating: accidentals < 0 ? "b" : "#", count: abs(accidentals))
    }

    private static let letters = ["F", "C", "G", "D", "A", "E", "B"]

    /// The place of a note on the line of fifths: C = 0, G = 1, F = −1; nil: the name is none of a note.
    public static func place(of name: some StringProtocol) -> Int? {
        guard let first = name.first, let letter = letters.firstIndex(of: String(first)) else { return nil }
        var place = letter - 1
        for accidental in name.dropFirst() {
            switch accidental {
            case "#": place += 7
            case "b": place -= 7
            default: return nil
            }
        }
        return place
    }

    /// The place of a pitch class on the line of fifths, among the twelve from the lowest on.
    private static func place(of pitchClass: Int, from lowest: Int) -> Int {
        lowest + (7 * pitchClass - lowest).quotientAndRemainder(roundedDownBy: 12).remainder
    }
}

extension Int {
    fileprivate func quotientAndRemainder(roundedDownBy divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
