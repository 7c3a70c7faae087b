import Foundation
import Hemiola
import HemiolaPCM
import Testing

@testable import FileCapture

/// A temporary folder for the files of a test, deleted with this object.
final class FileFixture {
    let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("file-capture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// - Returns: The path.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let path = path(name)
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    /// Writes an executable shell script.
    ///
    /// A child process writes the file: this process may start other programs at the same time, which would inherit a descriptor that
    /// is open for writing, and a file that is open for writing cannot be run (ETXTBSY).
    ///
    /// - Returns: The path.
    func writeScript(_ lines: String, to name: String) throws -> String {
        let path = path(name)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", lines, path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Copies the first part of a file to another.
    func cut(_ name: String, to part: Double = 0.6, as other: String) throws -> String {
        let whole = try bytes(of: name)
        return try write(Array(whole.prefix(Int(Double(whole.count) * part) + 1)), to: other)
    }
}

/// A program that creates audio files for a test.
enum Program: String {
    case flac, sox, ffmpeg

    /// Whether tests with this program run: where it is not installed they are skipped, or fail with CI=true.
    var isRequired: Bool { location != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    private var location: URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.lazy.map { URL(fileURLWithPath: "\($0)/\(self.rawValue)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs the program. With `output`, its standard output is a pipe that is written to that file.
    func run(_ arguments: [String], output: String? = nil) throws {
        let location = try #require(location, "\(rawValue) is not installed")
        let process = Process()
        process.executableURL = location
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = output == nil ? FileHandle.nullDevice : pipe
        try process.run()
        if let output {
            let written = try pipe.fileHandleForReading.readToEnd() ?? Data()
            try written.write(to: URL(fileURLWithPath: output))
        }
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(rawValue) \(arguments.joined(separator: " ")) failed")
    }
}

/// All deliveries of a capture.
struct Recording: Equatable {
    var source: StreamSource
    var samples: [Float] = []
    /// All deliveries other than frames, including the end.
    var others: [ReadResult] = []
    var error: String?

    var frameCount: Int { samples.count / source.format.channelCount }
    var gap: Gap? {
        for case .gap(let gap) in others { return gap }
        return nil
    }

    /// Opens a file and reads it to its end or its error.
    init(of path: String, room: Int = 1024) throws {
        let capture = FileCapture(path)
        source = try capture.open(FormatRequest())
        defer { capture.close() }
        read(capture, room: room)
    }

    init(_ source: StreamSource, _ capture: FileCapture, room: Int = 1024) {
        self.source = source
        read(capture, room: room)
    }

    private mutating func read(_ capture: FileCapture, room: Int) {
        var buffer = [Float](repeating: 0, count: room * source.format.channelCount)
        var channels = source.format.channelCount
        do {
            while true {
                var span = buffer.mutableSpan
                let delivery = try capture.read(into: &span)
                if case .frames(let count) = delivery {
                    samples += buffer[..<(count * channels)]
                    // Limit for files without end.
                    if samples.count > 1 << 24 { return }
                    continue
                }
                others.append(delivery)
                if case .format(let format) = delivery { channels = format.channelCount }
                if delivery == .end { return }
            }
        } catch {
            self.error = "\(error)"
        }
    }

    /// The samples of one channel.
    func channel(_ index: Int) -> [Float] {
        stride(from: index, to: samples.count, by: source.format.channelCount).map { samples[$0] }
    }
}

/// The amplitude of a frequency in the middle half of a signal, by correlation.
func level(of frequency: Double, in signal: [Float], rate: Int) -> Double {
    let middle = signal[(signal.count / 4)..<(signal.count * 3 / 4)]
    var real = 0.0
    var imaginary = 0.0
    for (index, sample) in middle.enumerated() {
        // Hann window, against leakage.
        let window = 1 - cos(2 * .pi * (Double(index) + 0.5) / Double(middle.count))
        let angle = 2 * .pi * frequency * Double(index) / Double(rate)
        real += Double(sample) * window * cos(angle)
        imaginary += Double(sample) * window * sin(angle)
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(middle.count)
}

/// The error message of opening a path; nil when it opens.
func refusal(of path: String, ffmpeg: FFmpegDecoder? = nil) -> String? {
    let capture = FileCapture(path, ffmpeg: ffmpeg)
    do {
        _ = try capture.open(FormatRequest())
        capture.close()
        return nil
    } catch {
        return error.message
    }
}

/// The byte ranges of the frames of MPEG audio.
func mpegFrames(of bytes: [UInt8]) throws -> [Range<Int>] {
    var frames: [Range<Int>] = []
    var start = try #require(bytes.indices.first { MPEGFrame(bytes, at: $0) != nil })
    while let frame = MPEGFrame(bytes, at: start) {
        frames.append(start..<start + frame.size)
        start += frame.size
    }
    return frames
}
