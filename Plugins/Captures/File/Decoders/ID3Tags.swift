internal import CMPG123
internal import HemiolaPCM
internal import HemiolaRecords
internal import HemiolaSignal

extension SoundTags {
    /// The texts of an ID3v2 tag. Empty where libmpg123 cannot be loaded.
    ///
    /// - Parameter bytes: The tag, or its first part.
    init(id3v2 bytes: [UInt8]) {
        self.init()
        guard bytes.count > 20, cmpg123_load() == nil, let handle = mpg123_new(nil, nil) else { return }
        defer { mpg123_delete(handle) }
        // The size in the tag becomes that of these bytes: libmpg123 waits for as many as the tag declares.
        var bytes = Array(bytes)
        bytes[5] &= 0xef
        for index in 0..<4 { bytes[6 + index] = UInt8((bytes.count - 10) >> (21 - 7 * index) & 0x7f) }
        Self.renameOldFrames(in: &bytes)
        mpg123_param(handle, MPG123_ADD_FLAGS, Int(MPG123_QUIET.rawValue), 0)
        mpg123_open_feed(handle)
        var none = 0
        mpg123_decode(handle, bytes, bytes.count, nil, 0, &none)
        var tag: UnsafeMutablePointer<mpg123_id3v2>?
        guard mpg123_id3(handle, nil, &tag) == MPG123_OK.rawValue, let tag = tag?.pointee else { return }
        // Safe: libmpg123's strings are valid as long as the handle, and are copied here.
        func text(_ string: mpg123_string?) -> String? {
            guard let string, let text = string.p, string.fill > 0 else { return nil }
            let bytes = UnsafeBufferPointer(start: text, count: min(string.fill, 4 * SoundTags.longestText))
            return SoundTags.text(of: bytes.lazy.map { UInt8(truncatingIfNeeded: $0) })
        }
        (title, artist, album) = (text(tag.title?.pointee), text(tag.artist?.pointee), text(tag.album?.pointee))
        genre = text(tag.genre?.pointee).map(Self.genreName)
        let texts = UnsafeBufferPointer(start: tag.text, count: tag.text == nil ? 0 : tag.texts)
        func text(named name: StaticString) -> String? {
            texts.first { withUnsafeBytes(of: $0.id) { $0.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: 4)) } }
                .flatMap { text($0.text) }
        }
        track = text(named: "TRCK")
        // The date in version 2.4, which libmpg123 does not take for the year.
        year = (text(tag.year?.pointee) ?? text(named: "TDRC")).flatMap(SoundTags.year)
    }

    /// iTunes has written frames of version 2.2, with names of three letters and a zero, into tags of version 2.3. They get their new names.
    private static func renameOldFrames(in bytes: inout [UInt8]) {
        let names = ["TT2": "TIT2", "TP1": "TPE1", "TAL": "TALB", "TRK": "TRCK", "TCO": "TCON", "TYE": "TYER"]
        var place = 10
        while bytes[3] == 3, place + 10 <= bytes.count, bytes[place] != 0 {
            if bytes[place + 3] == 0, let name = names[String(decoding: bytes[place..<place + 3], as: UTF8.self)] {
                bytes.replaceSubrange(place..<place + 4, with: name.utf8)
            }
            place += 10 + bytes[place + 4..<place + 8].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// The texts of an ID3v1 tag.
    ///
    /// - Parameter bytes: The last 128 bytes of a file.
    init(id3v1 bytes: [UInt8]) {
        self.init()
        guard bytes.count == 128, bytes.hasText("TAG", at: 0) else { return }
        func text(_ range: Range<Int>) -> String? {
            let text = bytes[range].prefix { $0 != 0 }
            // Latin-1 by the specification, which has no characters 0x80…0x9f, but UTF-8 is in use.
            if String(validating: text, as: UTF8.self) != nil || text.contains(where: { (0x80..<0xa0).contains($0) }) {
                return Self.text(of: text)
            }
            return Self.text(of: text.flatMap { Array(String(Unicode.Scalar($0)).utf8) })
        }
        (title, artist, album) = (text(3..<33), text(33..<63), text(63..<93))
        year = text(93..<97).flatMap(Self.year)
        if bytes[125] == 0, bytes[126] > 0 { track = String(bytes[126]) }
        if Self.genres.indices.contains(Int(bytes[127])) { genre = Self.genres[Int(bytes[127])] }
    }

    /// The name of a genre that a tag states by its number: `17`, `(17)`, also with a text after it, which is more precise.
    private static func genreName(_ text: String) -> String {
        let parts = text.split(separator: ")", maxSplits: 1, omittingEmptySubsequences: false)
        let isEnclosed = parts.count == 2 && text.hasPrefix("(")
        guard let number = Int(isEnclosed ? parts[0].dropFirst() : text[...]) else { return text }
        if isEnclosed, !parts[1].isEmpty, !parts[1].hasPrefix("(") { return String(parts[1]) }
        return genres.indices.contains(number) ? genres[number] : text
    }

    /// The genres of ID3v1 with Winamp's extensions, by number.
    private static let genres = """
        Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,Rap,Reggae,Rock,Techno,\
        Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,Trip-Hop,Vocal,Jazz+Funk,Fusion,Trance,Classical,\
        Instrumental,Acid,House,Game,Sound Clip,Gospel,Noise,Alternative Rock,Bass,Soul,Punk,Space,Meditative,Instrumental Pop,\
        Instrumental Rock,Ethnic,Gothic,Darkwave,Techno-Industrial,Electronic,Pop-Folk,Eurodance,Dream,Southern Rock,Comedy,Cult,\
        Gangsta,Top 40,Christian Rap,Pop/Funk,Jungle,Native American,Cabaret,New Wave,Psychedelic,Rave,Showtunes,Trailer,Lo-Fi,Tribal,\
        Acid Punk,Acid Jazz,Polka,Retro,Musical,Rock & Roll,Hard Rock,Folk,Folk-Rock,National Folk,Swing,Fast Fusion,Bebop,Latin,\
        Revival,Celtic,Bluegrass,Avantgarde,Gothic Rock,Progressive Rock,Psychedelic Rock,Symphonic Rock,Slow Rock,Big Band,Chorus,\
        Easy Listening,Acoustic,Humour,Speech,Chanson,Opera,Chamber Music,Sonata,Symphony,Booty Bass,Primus,Porn Groove,Satire,Slow Jam,\
        Club,Tango,Samba,Folklore,Ballad,Power Ballad,Rhythmic Soul,Freestyle,Duet,Punk Rock,Drum Solo,A Cappella,Euro-House,Dance Hall,\
        Goa,Drum & Bass,Club-House,Hardcore Techno,Terror,Indie,BritPop,Negerpunk,Polsk Punk,Beat,Christian Gangsta Rap,Heavy Metal,\
        Black Metal,Crossover,Contemporary Christian,Christian Rock,Merengue,Salsa,Thrash Metal,Anime,Jpop,Synthpop,Abstract,Art Rock,\
        Baroque,Bhangra,Big Beat,Breakbeat,Chillout,Downtempo,Dub,EBM,Eclectic,Electro,Electroclash,Emo,Experimental,Garage,Global,IDM,\
        Illbient,Industro-Goth,Jam Band,Krautrock,Leftfield,Lounge,Math Rock,New Romantic,Nu-Breakz,Post-Punk,Post-Rock,Psytrance,\
        Shoegaze,Space Rock,Trop Rock,World Music,Neoclassical,Audiobook,Audio Theatre,Neue Deutsche Welle,Podcast,Indie Rock,G-Funk,\
        Dubstep,Garage Rock,Psybient
        """.split(separator: ",").map(String.init)
}

extension InputFile {
    /// The bytes of a tag that are read: the texts stand at its front, and pictures may follow.
    private static let longestTag: Int64 = 8 << 20

    /// Reads the ID3v2 tags at the start of a range, and the ID3v1 tag at its end. The first tag that has a text decides.
    ///
    /// - Returns: The tags, and the offset behind those at the start.
    func id3Tags(in range: Range<Int64>) -> (tags: SoundTags, start: Int64) {
        var tags = SoundTags()
        var start = range.lowerBound
        // Two are enough for any tool; more of them are skipped.
        for index in 0..<16 {
            guard let size = bytes(at: start, count: 10).id3Size, start + size <= range.upperBound else { break }
            if index < 2 { tags.fill(from: SoundTags(id3v2: bytes(at: start, count: Int(min(size, Self.longestTag))))) }
            start += size
        }
        if range.upperBound - start >= 128 { tags.fill(from: SoundTags(id3v1: bytes(at: range.upperBound - 128, count: 128))) }
        return (tags, start)
    }
}
