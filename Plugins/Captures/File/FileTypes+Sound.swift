internal import Hemiola
internal import HemiolaPCM

extension FileTypes {
    /// The sound files that `file` reads: by libsndfile, or by ffmpeg where it is installed. Videos are not selected by their
    /// extension or signature, but read when they are named.
    static let sound = FileTypes(
        extensions: [
            // libsndfile
            "wav", "wave", "bwf", "rf64", "w64", "aif", "aiff", "aifc", "au", "snd", "caf", "flac", "ogg", "oga", "opus", "mp1", "mp2",
            "mp3", "mpga", "voc", "sf", "ircam", "paf", "8svx", "nist", "sph", "avr", "htk", "sd2", "pvf", "xi", "wve", "fap", "svx",
            // ffmpeg
            "m4a", "m4b", "m4r", "aac", "adts", "loas", "latm", "mka", "weba", "wma", "asf", "ape", "wv", "mpc", "mp+", "tta", "tak",
            "shn", "dsf", "dff", "amr", "awb", "ac3", "ec3", "eac3", "dts", "dtshd", "mlp", "thd", "oma", "aa3", "at3", "vqf", "qcp", "ra",
            "rm", "spx",
            // No decoder reads it (OptimFROG): it is refused by its name rather than left out in silence.
            "ofr",
        ],
        otherExtensions: [
            "jpg", "jpeg", "png", "gif", "webp", "bmp", "tif", "tiff", "svg", "txt", "md", "nfo", "log", "m3u", "m3u8", "pls",
            "xspf", "pdf", "html", "htm", "xml", "json", "jsonl", "csv", "zst", "gz", "xz", "bz2", "zip", "rar", "7z", "tar", "mid", "midi",
            "ini", "db", "sqlite", "sfv", "md5", "lrc", "srt", "jams", "lab", "beats", "py", "sh", "c", "h", "o", "so", "swift", "mp4",
            "mkv", "webm", "mov", "avi", "mpg", "mpeg", "wmv", "flv", "ogv", "m4v", "partial",
        ],
        signatureLength: 64,
        matches: { head in
            // Two bytes, which are all that raw MPEG audio and AAC begin with, are too few to select a file by.
            guard head.first != 0xff else { return false }
            return switch FileSignature(head) {
            case .samples, .flac, .ogg, .mpeg: true
            case .other, .notAudio, .unknown: false
            }
        })
}
