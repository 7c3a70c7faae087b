import Glibc
import HemiolaSystem
import Testing

@testable import HemiolaFiles

@Suite struct PathTemplateTests {
    private func path(_ text: String, input: String = "", number: Int = 1) throws -> String {
        try PathTemplate(text, isNumbered: true).path(.init(input: input, time: "20261122-130501", number: number))
    }

    @Test(arguments: [
        ("out/{stem}.beats", "music/song.flac", "out/song.beats"), ("{name}.jsonl", "music/song.flac", "song.flac.jsonl"),
        ("{dir}/{stem}.x", "music/song.flac", "music/song.x"), ("{dir}/{stem}.x", "song.flac", "./song.x"),
        ("{dir}/{stem}.x", "/song.flac", "//song.x"), ("{dir}/{stem}.x", "../a/song.flac", "../a/song.x"),
        ("out/{dir}/{stem}.x", "../a/song.flac", "out/a/song.x"), ("out/{dir}/{stem}.x", "b/../../a/song.flac", "out/a/song.x"),
        ("out/{dir}/{stem}.x", "/a/b/song.flac", "out/a/b/song.x"), ("out/{dir}/{stem}.x", "../song.flac", "out/./song.x"),
        ("out/{dir}/{stem}.x", "./a/song.flac", "out/a/song.x"), ("{stem}", "two.x.mp3", "two.x"), ("{stem}", ".hidden", ".hidden"),
        ("{stem}", "-", "stdin"), ("{stem}", "", "input"), ("a-{time}.jsonl", "", "a-20261122-130501.jsonl"),
        ("{stem}{stem}", "{name}.wav", "{name}{name}"),
    ])
    func `placeholders: replaced by the input's names and the time of the run`(text: String, input: String, expected: String) throws {
        #expect(try path(text, input: input) == expected)
    }

    @Test func `a name that is not UTF-8: its bytes are written as %E9, so that two such names stay two`() throws {
        let names = ["caf\u{EFE9}.flac", "caf\u{EFE8}.flac"]
        #expect(try names.map { try path("{stem}.jsonl", input: $0) } == ["caf%E9.jsonl", "caf%E8.jsonl"])
    }

    @Test(arguments: [(1, "a.0001.b"), (42, "a.0042.b"), (9999, "a.9999.b"), (10_000, "a.10000.b")])
    func `number: at least four digits`(number: Int, expected: String) throws {
        #expect(try path("a.{n}.b", number: number) == expected)
    }

    @Test(arguments: ["a.jsonl", "a{}b", "a{1}b", "{", "}", "{stem", "a b{c d}"])
    func `braces around anything but letters: literal`(text: String) throws {
        #expect(try path(text, input: "x.wav") == text)
    }

    @Test func `double brace: a literal brace`() throws {
        #expect(try path("{{stem}-{stem}", input: "x.wav") == "{stem}-x")
    }

    @Test func `unknown placeholder: refused with the list of those that exist`() {
        #expect(throws: Problem.self) { try PathTemplate("{stm}.x") }
        do {
            _ = try PathTemplate("out/{stm}.x")
        } catch {
            #expect(
                error.message == "there is no placeholder {stm}; there are: {stem}, {name}, {dir}, {time}; for a brace in a name write {{")
        }
        #expect(throws: Problem.self) { try PathTemplate("{n}") }
    }

    @Test(arguments: [
        ("a.jsonl", "a.{n}.jsonl"), ("a.jsonl.zst", "a.{n}.jsonl.zst"), ("b.c/a", "b.c/a.{n}"), ("a.{n}", "a.{n}"),
        ("{stem}.csv", "{stem}.{n}.csv"), (".a", ".a.{n}"), ("a.zst", "a.{n}.zst"),
    ])
    func `numbered: the number comes before the ending`(text: String, expected: String) throws {
        #expect(try PathTemplate(text, isNumbered: true).numbered().text == expected)
    }

    @Test func `time of the run: local`() async {
        // The time zone is that of a whole process.
        await #expect(processExitsWith: .success) {
            setenv("TZ", "XYZ-2", 1)
            tzset()
            #expect(MonotonicTime.localText(1_795_345_501) == "20261122-130501")
        }
    }

    @Test(arguments: [("./a//b/./c", "a/b/c"), ("/a/./b", "/a/b"), ("a/../b", "a/../b"), ("//a", "/a")])
    func `normalized path: without empty and dot components`(path: String, expected: String) {
        #expect(OutputTarget.normalized(path) == expected)
    }
}
