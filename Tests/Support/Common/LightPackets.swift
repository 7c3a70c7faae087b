/// The packets of lights, read as their specifications define them and not as Hemiola writes them.
public enum LightPackets {
    private static func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    /// A data packet of ANSI E1.31-2018 (tables 4-1, 5-4 and 7-8), read layer by layer; nil: violates the specification.
    public struct SACN {
        public var source: String
        public var priority: UInt8
        public var sequence: UInt8
        public var options: UInt8
        public var universe: Int
        public var channels: [UInt8]

        public init?(_ bytes: [UInt8]) {
            guard bytes.count == 638 else { return nil }
            let words: [(offset: Int, value: Int)] = [
                (0, 0x10), (2, 0), (16, 0x7000 | 622), (38, 0x7000 | 600), (109, 0), (115, 0x7000 | 523), (119, 0), (121, 1), (123, 513),
            ]
            guard words.allSatisfy({ word(bytes, $0.offset) == $0.value }) else { return nil }
            guard Array(bytes[4..<16]) == Array("ASC-E1.17\0\0\0".utf8) else { return nil }
            guard bytes[18..<22] == [0, 0, 0, 4], bytes[40..<44] == [0, 0, 0, 2], bytes[117..<119] == [2, 0xA1], bytes[125] == 0 else {
                return nil
            }
            source = String(decoding: bytes[44..<108].prefix { $0 != 0 }, as: UTF8.self)
            (priority, sequence, options, universe) = (bytes[108], bytes[111], bytes[112], word(bytes, 113))
            channels = Array(bytes[126...])
        }

        /// Whether the source ends the stream (Stream_Terminated).
        public var isTerminated: Bool { options & 0x40 != 0 }
    }

    /// The packet ArtDmx of the specification of Art-Net 4; nil: violates it.
    public struct ArtNet {
        public var sequence: UInt8
        public var universe: Int
        public var channels: [UInt8]

        public init?(_ bytes: [UInt8]) {
            // ID, OpDmx (low byte first), protocol version 14 (high byte first).
            guard bytes.count >= 20, Array(bytes[..<8]) == Array("Art-Net\0".utf8), bytes[8..<12] == [0x00, 0x50, 0, 14] else { return nil }
            // Sequence, Physical, SubUni, Net, Length: even, 2…512, high byte first.
            let length = word(bytes, 16)
            guard bytes[15] < 0x80, (2...512).contains(length), length % 2 == 0, bytes.count == 18 + length else { return nil }
            (sequence, universe) = (bytes[12], Int(bytes[15]) << 8 | Int(bytes[14]))
            channels = Array(bytes[18...])
        }
    }

    /// A message of the Distributed Display Protocol (http://www.3waylabs.com/ddp/); nil: violates it.
    public struct DDP {
        public var isPush: Bool
        public var sequence: UInt8
        public var offset: Int
        public var data: [UInt8]

        public init?(_ bytes: [UInt8]) {
            // Version 1, without time code, storage, reply and query; 15 is the highest sequence number; RGB of 8 bits; the default output.
            guard bytes.count >= 10, bytes[0] & 0xFE == 0x40, bytes[1] <= 15, bytes[2] == 0x0B, bytes[3] == 1 else { return nil }
            offset = word(bytes, 4) << 16 | word(bytes, 6)
            guard bytes.count == 10 + word(bytes, 8) else { return nil }
            (isPush, sequence, data) = (bytes[0] & 1 == 1, bytes[1], Array(bytes[10...]))
        }
    }

    /// A message of WLED's audio sync, version 2 (`audioSyncPacket` in WLED's source); nil: violates it.
    public struct WLED {
        public var level: Float
        public var smoothed: Float
        public var isPeak: Bool
        public var number: UInt8
        public var bands: [UInt8]
        public var magnitude: Float
        public var frequency: Float

        public init?(_ bytes: [UInt8]) {
            guard bytes.count == 44, Array(bytes[..<6]) == Array("00002\0".utf8), bytes[16] <= 1 else { return nil }
            func float(_ offset: Int) -> Float {
                Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) })
            }
            (level, smoothed, isPeak, number) = (float(8), float(12), bytes[16] == 1, bytes[17])
            (bands, magnitude, frequency) = (Array(bytes[18..<34]), float(36), float(40))
        }

        /// Whether it shows silence.
        public var isZero: Bool { level == 0 && smoothed == 0 && !isPeak && magnitude == 0 && bands.allSatisfy { $0 == 0 } }
    }
}
