import ArgumentParser
import Testing

@testable import HemiolaCommandLine

@Suite struct PlainArgumentsTests {
    @Test(arguments: [
        ["a.wav"], ["-q", "a.wav", "b c.flac", ""], ["--quiet", "ä/ö.ogg", "--analyzer", "levels", "--analyzer", "+spectrum:bands=8"],
        ["--sink", "json-lines:/dev/null", "a", "--sink", "csv"], ["-o", "x.jsonl", "a"], ["a", "--output", "{stem}.csv"],
        ["a", "--select", "beat,levels.rms_db", "--select", "header", "-q", "-q"], [],
    ])
    func `arguments in plain form: every option has the argument parser's value`(arguments: [String]) throws {
        let plain = try #require(AnalyzeCommand(plain: ["analyze"] + arguments))
        let parsed = try #require(try AnalyzeCommand.parseAsRoot(arguments) as? AnalyzeCommand)
        #expect(Self.text(plain) == Self.text(parsed))
        #expect(!Self.text(plain).contains("definition"))
    }

    @Test(arguments: [
        ["-"], ["--", "-a"], ["-oa"], ["--sink=csv", "a"], ["a", "--sink"], ["a", "--sink", "--quiet"], ["a", "-o", "b", "-o", "c"],
        ["--help"], ["-h"], ["a", "--version"], ["a", "-v"], ["-qv", "a"], ["a", "--batch", "512"], ["a", "--analyser", "levels"],
        ["--generate-completion-script", "bash"],
    ])
    func `other arguments: left to the argument parser`(arguments: [String]) {
        #expect(AnalyzeCommand(plain: ["analyze"] + arguments) == nil)
    }

    @Test(arguments: [[], ["listen"], ["help", "analyze"], ["analyse", "a"], ["a.wav"]])
    func `another command: left to the argument parser`(arguments: [String]) {
        #expect(AnalyzeCommand(plain: arguments) == nil)
    }

    /// The values of all properties, also of those of the groups; `*definition*` for one that is not set.
    private static func text(_ command: AnalyzeCommand) -> String {
        String(describing: command)
    }
}
