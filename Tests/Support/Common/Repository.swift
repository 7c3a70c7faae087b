public import Foundation

/// The checkout that these tests belong to.
public enum Repository {
    public static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    /// The bundled music: half a minute in stereo at 44.1 kHz.
    public static let minuet = root.appending(path: "examples/music/minuet.flac").path
}
