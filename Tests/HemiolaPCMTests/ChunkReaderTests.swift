import Testing

@testable import HemiolaPCM

@Suite struct ChunkReaderTests {
    /// Bytes in memory as a source.
    private struct Memory: ChunkSource {
        var content: [UInt8]

        func bytes(at offset: Int64, count: Int) -> [UInt8] {
            guard offset >= 0, offset < content.count else { return [] }
            return Array(content[Int(offset)...].prefix(count))
        }
    }

    private func little(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    private func big(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private func chunks(_ content: [UInt8], _ layout: ChunkLayout, from offset: Int64 = 0, limit: Int = .max) -> [Chunk] {
        var reader = ChunkReader(Memory(content: content), layout: layout, from: offset, limit: limit)
        var chunks: [Chunk] = []
        while let chunk = reader.next() { chunks.append(chunk) }
        return chunks
    }

    @Test func `RIFF and IFF: a chunk of odd size is padded by one byte`() {
        let little = Array("one ".utf8) + little(UInt32(3)) + [1, 2, 3, 0] + Array("two ".utf8) + little(UInt32(2)) + [4, 5]
        let big = Array("one ".utf8) + big(UInt32(3)) + [1, 2, 3, 0] + Array("two ".utf8) + big(UInt32(2)) + [4, 5]
        let expected = [Chunk(name: "one ", offset: 8, size: 3), Chunk(name: "two ", offset: 20, size: 2)]
        #expect(chunks(little, .riff) == expected)
        #expect(chunks(big, .iff) == expected)
        #expect(chunks(little, .iff).map(\.name) == ["one "], "the size in the other byte order exceeds the source")
    }

    @Test func `chunk of odd size without its padding: the next one is found`() {
        // The size of 0x41 is a letter: at the padded place, "ataA" is a name too.
        for size in [2, 0x41] as [UInt32] {
            let content = Array("LIST".utf8) + little(UInt32(3)) + [1, 2, 3] + Array("data".utf8) + little(size) + [4, 5]
            let expected = [Chunk(name: "LIST", offset: 8, size: 3), Chunk(name: "data", offset: 19, size: Int64(size))]
            #expect(chunks(content, .riff) == expected)
        }
        // With a padding of another byte than 0, and at the end of the source.
        let padded = Array("one ".utf8) + little(UInt32(3)) + [1, 2, 3, 0x41] + Array("data".utf8) + little(UInt32(0))
        #expect(chunks(padded, .riff).map(\.name) == ["one ", "data"])
        #expect(chunks(Array("one ".utf8) + little(UInt32(1)) + [1] + Array("data".utf8) + little(UInt32(0)), .riff).count == 2)
    }

    @Test func `chunks within a chunk: end with it`() {
        let content = Array("one ".utf8) + little(UInt32(6)) + Array("Abcdeftwo ".utf8) + little(UInt32(0))
        var reader = ChunkReader(Memory(content: content), layout: .riff, from: 0, to: 12)
        let chunk = reader.next()!
        #expect(reader.content(of: chunk, limit: 100) == Array("Abcd".utf8))
        #expect(reader.next() == nil)
    }

    @Test func `chunk whose size another chunk declares: continued after that size`() {
        let content = Array("data".utf8) + little(UInt32.max) + [1, 2, 3, 0] + Array("two ".utf8) + little(UInt32(0))
        var reader = ChunkReader(Memory(content: content), layout: .riff, from: 0)
        reader.skip(reader.next()!, size: 3)
        #expect(reader.next() == Chunk(name: "two ", offset: 20, size: 0))
    }

    @Test func `CAF: the size has 8 bytes and there is no padding`() {
        let content =
            Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + big(Int64(3)) + [1, 2, 3] + Array("data".utf8) + big(Int64(-1))
        let expected = [Chunk(name: "desc", offset: 20, size: 3), Chunk(name: "data", offset: 35, size: -1)]
        #expect(chunks(content, .caf, from: 8) == expected, "an unknown size of -1 ends the walk")
    }

    @Test func `Wave64: the size includes the header and chunks begin at multiples of 8`() {
        func name(_ text: String) -> [UInt8] { Array(text.utf8) + [UInt8](repeating: 0xac, count: 12) }
        let content = name("fmt ") + little(UInt64(24 + 18)) + [UInt8](repeating: 1, count: 24) + name("data") + little(UInt64(24 + 8))
        #expect(chunks(content, .wave64) == [Chunk(name: "fmt ", offset: 24, size: 18), Chunk(name: "data", offset: 72, size: 8)])
    }

    @Test(arguments: [0, 23, .max, 1 << 63] as [UInt64])
    func `Wave64 size that no chunk can have: the walk ends`(size: UInt64) {
        let content = Array("fmt ".utf8) + [UInt8](repeating: 0, count: 12) + little(size) + [UInt8](repeating: 0, count: 100)
        #expect(chunks(content, .wave64).count == 1)
    }

    @Test func `limit: no more chunks are read, however many empty ones there are`() {
        let content = [UInt8](repeating: 0, count: 800)
        #expect(chunks(content, .riff).count == 100)
        #expect(chunks(content, .riff, limit: 7).count == 7)
    }

    @Test func `content: ends at the limit, at the declared size, and at the end of the source`() {
        let content = Array("fmt ".utf8) + little(UInt32(6)) + [1, 2, 3, 4, 5, 6, 7]
        var reader = ChunkReader(Memory(content: content), layout: .riff, from: 0)
        let chunk = reader.next()!
        #expect(reader.content(of: chunk, limit: 4) == [1, 2, 3, 4])
        #expect(reader.content(of: chunk, limit: 40) == [1, 2, 3, 4, 5, 6])
        #expect(ChunkReader(Memory(content: Array(content.prefix(10))), layout: .riff, from: 0).content(of: chunk, limit: 40) == [1, 2])
    }

    @Test(arguments: [0xffff_ffff, 0x7fff_f000, 0x7fff_ffff, 0x8000_0000, 0x7f00_0008, 0xffff_ffdb] as [Int64])
    func `size that programs write to a pipe: a placeholder`(size: Int64) {
        #expect(DeclaredLength.isPlaceholder(size))
    }

    @Test(arguments: [0, 44, 0x7efe_ffff, 0x8000_0001, 0xfffe_ffff, 0x1_0000_0000] as [Int64])
    func `any other size: no placeholder`(size: Int64) {
        #expect(!DeclaredLength.isPlaceholder(size))
    }
}
