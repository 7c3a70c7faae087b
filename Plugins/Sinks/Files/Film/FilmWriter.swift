internal import Hemiola
internal import HemiolaFiles

/// Where the pictures of a film go: a video file, which ffmpeg encodes, or a file for each picture.
protocol FilmWriter: AnyObject {
    /// Adds the next picture.
    func write(_ picture: [UInt8]) throws(Problem)
    /// Ends the film.
    ///
    /// - Parameter isComplete: Whether all pictures were drawn; false: the film replaces no other.
    func finish(isComplete: Bool) throws(Problem)
}

/// Pictures in files of their own: `frames/{n}.png`.
final class PictureFiles: FilmWriter {
    private let template: PathTemplate
    private let values: PathTemplate.Values
    private var count = 0

    /// - Parameter values: Those of the other placeholders.
    init(_ template: PathTemplate, _ values: PathTemplate.Values) throws(Problem) {
        (self.template, self.values) = (template, values)
        let path = template.path(values)
        do { try FileSystem.createFolder(FileSystem.folder(of: path)) } catch { throw Problem("\(path): \(error)") }
    }

    func write(_ picture: [UInt8]) throws(Problem) {
        count += 1
        var values = values
        values.number = count
        let path = template.path(values)
        do { try PartialFile.write(picture, to: path) } catch { throw Problem("\(path): \(error)") }
    }

    func finish(isComplete: Bool) {}
}

/// A video file with its sound, encoded by ffmpeg. It gets its path when it is complete.
final class VideoFile: FilmWriter {
    /// The sound of a film.
    struct Sound {
        var path: String
        /// Seconds of the file before the first picture.
        var start: Double
        /// Seconds; nil: to the end of the film.
        var duration: Double?
    }

    /// Seconds for ffmpeg to take a picture, and to end: it writes the index of a long film to its beginning.
    private static let (pictureLimit, endLimit) = (120.0, 600.0)

    private let file: PartialFile
    private let program: RunningProgram
    private var isFinished = false

    /// - Parameter arguments: Those of ffmpeg, which has the pictures on its standard input. The last line that it prints is the reason of an error.
    init(_ path: String, _ arguments: (_ output: String) -> [String]) throws(Problem) {
        guard let ffmpeg = Program.path(ofAny: ["ffmpeg"]) else { throw Problem("a film needs ffmpeg; install it (Debian: ffmpeg)") }
        do {
            PartialFile.removeLeftovers(of: path)
            file = try PartialFile(for: path)
        } catch {
            throw Problem("\(path): \(error)")
        }
        do {
            // ffmpeg seeks in what it writes: the open file is named by its descriptor, so that it has no other name before it is complete.
            let output = "/proc/\(CurrentProcess.identifier)/fd/\(file.descriptor)"
            program = try RunningProgram(.arguments([ffmpeg] + arguments(output)), hasInput: true, output: .log, report: { _ in })
        } catch {
            file.discard()
            throw Problem("\(ffmpeg): cannot be started: \(error)")
        }
    }

    deinit {
        program.end(within: 0)
        if !isFinished { file.discard() }
    }

    func write(_ picture: [UInt8]) throws(Problem) {
        guard program.write(picture, within: Self.pictureLimit) else { throw failure }
    }

    func finish(isComplete: Bool) throws(Problem) {
        guard program.end(within: Self.endLimit), program.exit?.isSuccess == true else { throw failure }
        isFinished = true
        do {
            try file.close()
            guard try file.moveToPath(replaces: isComplete) else {
                throw Problem("\(file.path): exists and is not replaced by a film that is not complete")
            }
        } catch let error as SystemCallError {
            throw Problem("\(file.path): \(error)")
        } catch let problem as Problem {
            throw problem
        } catch {}
    }

    private var failure: Problem {
        _ = program.waitForExit(within: 2)
        return Problem("\(file.path): ffmpeg \(program.reasonForEnd)")
    }

    // MARK: - Arguments of ffmpeg

    /// A kind of video file.
    private struct Format {
        var name: String
        var video: [String]
        var audio: [String]

        static let mp4 = Format(
            name: "mp4", video: ["-c:v", "libx264", "-preset", "veryfast", "-crf", "17"], audio: ["-c:a", "aac", "-b:a", "256k"])
        static let webm = Format(
            name: "webm",
            video: ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "5", "-row-mt", "1"],
            audio: ["-c:a", "libopus", "-b:a", "192k"])
    }

    private static let formats: [String: Format] = [".mp4": .mp4, ".m4v": .mp4, ".mov": .mp4, ".webm": .webm]

    /// The extensions of video files.
    static let extensions = [".mp4", ".m4v", ".mov", ".webm"]

    /// What ffmpeg does: pictures on its standard input, with their sound, to the file `output`.
    static func arguments(_ path: String, fps: Double, isTransparent: Bool, sound: Sound?, output: String) -> [String] {
        let format = formats[PathTemplate.ending(of: path).lowercased()] ?? .mp4
        var list = ["-nostdin", "-v", "error", "-y", "-f", "image2pipe", "-c:v", isTransparent ? "png" : "mjpeg", "-framerate", "\(fps)"]
        list += ["-i", "pipe:0"]
        if let sound {
            // Cut by samples, and not by a search in the file, which is not exact in all formats.
            let end = sound.duration.map { ":duration=\($0)" } ?? ""
            list += ["-protocol_whitelist", "file", "-i", "file:\(sound.path)", "-map", "0:v", "-map", "1:a:0"]
            list += ["-af", "atrim=start=\(sound.start)\(end),asetpts=PTS-STARTPTS", "-shortest"] + format.audio
        }
        // JPEG has the colours of BT.601 in the full range, video those of BT.709 in the limited one.
        let color = isTransparent ? "in_range=full" : "in_color_matrix=bt601:in_range=full"
        list += ["-vf", "scale=\(color):out_color_matrix=bt709:out_range=tv,format=\(isTransparent ? "yuva420p" : "yuv420p")"]
        list += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"] + format.video
        if format.name == "mp4" { list += ["-movflags", "+faststart"] }
        return list + ["-map_metadata", "-1", "-fflags", "+bitexact", "-f", format.name, output]
    }
}
