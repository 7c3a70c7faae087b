internal import ArgumentParser
internal import Hemiola

/// `--capture`: sources other than files and devices.
struct CaptureOptions: ParsableArguments {
    @Option(
        name: .customLong("capture"),
        help: ArgumentHelp(
            "A capture plugin, as in tone:sine or pcm:path=-,raw=f32le+44100+2; repeatable. See \"hemiola plugins\".",
            valueName: "spec"), completion: Completions.capture)
    var captures: [String] = []
}
