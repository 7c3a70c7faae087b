/// What the messages about a stream suggest, which depends on how the user named it.
public struct PCMAdvice: Sendable, Hashable {
    /// How to decode another format.
    var decoding: String
    /// How to convert an unsupported sample rate or number of channels.
    var conversion: String
    /// The option or setting that declares raw samples.
    var rawOption: String
    /// The same with an example.
    var rawExample: String

    /// A pipe or standard input.
    public static let pipe = PCMAdvice(
        decoding: "decode it in the pipe: ffmpeg -v error -i - -f wav - | hemiola analyze -, or save it to a file and analyse the file",
        conversion: "convert it in the pipe: ffmpeg -v error -i - -ar 48000 -ac 2 -f wav - | hemiola analyze -",
        rawOption: "--raw", rawExample: "--raw \(PCMFormat.example)")

    /// The output of a program that Hemiola starts.
    public static let command = PCMAdvice(
        decoding: "decode it in the command: … | ffmpeg -v error -i - -f wav -",
        conversion: "convert it in the command: … | ffmpeg -v error -i - -ar 48000 -ac 2 -f wav -",
        rawOption: "raw", rawExample: "raw=f32le:44100:2")

    /// How to decode another format in a file.
    static let file =
        "analyse it as a file: hemiola analyze PATH, or decode it: ffmpeg -v error -i - -f wav - | hemiola analyze -"
}
