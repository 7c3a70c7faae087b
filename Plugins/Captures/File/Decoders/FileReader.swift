internal import HemiolaSystem

/// A range of a file with a read position, buffered: the input of a library that reads through callbacks, which get its address.
final class FileReader {
    // Keeps the file open.
    private let file: InputFile
    /// The bytes of the file that are read.
    private let range: Range<Int64>
    // Safe: `capacity` bytes, of which the first `bufferedCount` are those of the file from `bufferStart` on; freed in `deinit`.
    private let buffer: UnsafeMutableRawPointer
    private var bufferStart: Int64 = 0
    private var bufferedCount = 0
    /// The next byte to read, from the start of the range; 0…, and may be beyond its end.
    private(set) var position: Int64 = 0
    /// Why a read failed; nil: none did.
    private var failure: SystemCallError?

    /// Bytes of a system call: a library may read a few at a time.
    private static let capacity = 64 * 1024

    init(_ file: InputFile, _ range: Range<Int64>) {
        self.file = file
        self.range = range
        buffer = .allocate(byteCount: Self.capacity, alignment: 64)
    }

    deinit { buffer.deallocate() }

    /// The size of the range in bytes.
    var size: Int64 { range.upperBound - range.lowerBound }

    /// Copies the next bytes and advances. No allocation.
    ///
    /// - Parameter target: Room for `count` bytes.
    /// - Returns: The number of bytes, fewer than `count` at the end and after an error.
    func read(into target: UnsafeMutableRawPointer, count: Int) -> Int {
        var filled = 0
        while filled < count, position < size {
            let offset = range.lowerBound + position
            if offset < bufferStart || offset >= bufferStart + Int64(bufferedCount) {
                guard fill(from: offset) else { break }
            }
            let rest = min(bufferStart + Int64(bufferedCount) - offset, size - position)
            let step = min(count - filled, Int(rest))
            // Safe: `step` fits what is left of `target` and of the buffer.
            (target + filled).copyMemory(from: buffer + Int(offset - bufferStart), byteCount: step)
            filled += step
            position += Int64(step)
        }
        return filled
    }

    /// Sets the read position, as lseek(2).
    ///
    /// - Parameter origin: `SEEK_SET`, 0: the start; `SEEK_CUR`, 1: the position; `SEEK_END`, 2: the end.
    /// - Returns: The new position; -1: it would be before the start.
    func seek(_ offset: Int64, _ origin: Int32 = 0) -> Int64 {
        let base = origin == 1 ? position : origin == 2 ? size : 0
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return -1 }
        position = target
        return target
    }

    /// The error of the system, if a read failed.
    var error: Problem? { failure.map { Problem($0.description) } }

    private func fill(from offset: Int64) -> Bool {
        (bufferStart, bufferedCount) = (offset, 0)
        do {
            // Safe: at most `capacity` bytes are read.
            bufferedCount = try file.descriptor.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Self.capacity), at: offset)
        } catch {
            failure = error
        }
        return bufferedCount > 0
    }
}
