extension Header {
    /// Ogg files may be chained: whole streams one after another, as recordings of web radio are. libsndfile sees the first only.
    mutating func readOgg(_ file: InputFile, from start: Int64) {
        var position = start
        channelOrder = ChannelOrder(oggPage: file.bytes(at: start, count: 27 + 255 + 64))
        var isAmongFirstPages = true
        // A page ends within 64 KiB; where none begins, the walk is over, and libsndfile makes of the rest what it can.
        while true {
            let page = file.bytes(at: position, count: 27 + 255)
            guard page.count >= 27, page.hasText("OggS", at: 0) else { return }
            let isFirst = page[5] & 2 != 0
            if isFirst, !isAmongFirstPages { links.append(position) }
            isAmongFirstPages = isFirst
            let segments = Int(page[26])
            guard page.count >= 27 + segments else { return }
            position += 27 + Int64(segments) + page[27..<27 + segments].reduce(0) { $0 + Int64($1) }
        }
    }

    /// What libsndfile is to be shown of one link of a chain.
    func view(ofLink index: Int, in file: InputFile) -> ByteView {
        var view = view
        guard !links.isEmpty else { return view }
        if index > 0 { view.replaced = links[index - 1] }
        if index < links.count { view.hidden = file.size - links[index] }
        return view
    }
}
