import Foundation
import HemiolaSystem
import TestSupport
import Testing

@testable import PresetsSink

@Suite struct PresetListTests {
    @Test(arguments: [
        ("Geiss - Reaction", "geiss - reaction"), ("ÉTÉ", "ete"), ("e\u{301}te\u{301}", "ete"), ("Smørrebrød", "smorrebrod"),
        ("Ωμέγα", "ωμεγα"), ("ЁЛКА", "ёлка"), ("Ångström ½", "ANGSTROM ½"), ("日本 1", "日本 1"),
    ])
    func `folded names are equal regardless of case and accents`(one: String, other: String) {
        #expect(one.folded == other.folded)
    }

    @Test(arguments: [("a", "b"), ("α", "a"), ("日", "本"), ("p1", "p2"), ("é", "è x")])
    func `folded names of different letters differ`(one: String, other: String) {
        #expect(one.folded != other.folded)
    }

    @Test func `lookup: exact match, then folded match, then part of a name`() {
        let list = PresetNames(["Nebula", "NEBULA", "Nebula (remix)", "Élan"])
        #expect(list.matches("NEBULA") == ["NEBULA"])
        #expect(list.matches("nebula") == ["Nebula", "NEBULA"])
        #expect(list.matches("REMIX") == ["Nebula (remix)"])
        #expect(list.matches("elan") == ["Élan"])
        #expect(list.matches("neb") == ["Nebula", "NEBULA", "Nebula (remix)"])
        #expect(list.matches("zzz") == [])
        #expect(list.matches("") == [])
    }

    @Test func `unknown name: the most similar name is suggested`() {
        #expect(
            PresetNames(["Élan", "Nebula"]).notFoundMessage("Nebule") == "there is no preset \"Nebule\"; did you mean \"Nebula\"?")
        #expect(PresetNames(["Élan"]).notFoundMessage("qqqqq") == "there is no preset \"qqqqq\"")
    }

    @Test func `long lists of names are truncated in messages`() {
        #expect(PresetNames.quoted(names(3)) == "\"p0\", \"p1\", \"p2\"")
        #expect(PresetNames.quoted(names(10), limit: 2) == "\"p0\", \"p1\" and 8 more")
    }

    @Test func `text file: one name per line, without comments, blanks and repetitions`() throws {
        let folder = try TemporaryFolder()
        let path = folder("names.txt")
        let text = "\u{FEFF}Geiss + Rovastar - A, B\r\n\n# a comment\r\n  Élan \nGeiss + Rovastar - A, B\nlast"
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(try PresetList.names(at: path) == ["Geiss + Rovastar - A, B", "Élan", "last"])
    }

    @Test func `folder: names of the preset files, including subfolders`() throws {
        let folder = try TemporaryFolder()
        let root = folder("presets")
        try FileManager.default.createDirectory(atPath: root + "/deep/er", withIntermediateDirectories: true)
        for name in ["b.milk", "a.JSON", "deep/er/c.v2.milk", "deep/b.milk", "readme.txt", ".hidden.milk"] {
            try Data().write(to: URL(filePath: "\(root)/\(name)"))
        }
        #expect(try PresetList.names(at: root) == ["a", "b", "c.v2"])
    }

    @Test func `missing file: an error`() throws {
        #expect(throws: Problem.self) { try PresetList.names(at: "/nowhere/names.txt") }
    }

    @Test(arguments: ["/proc/self/exe", "/dev/zero"]) func `list that is not text, or is too large: refused`(path: String) throws {
        let error = #expect(throws: Problem.self) { try PresetList.names(at: path) }
        #expect(error?.message.hasPrefix(path) == true)
    }

    @Test func `empty file: an empty list`() throws {
        let folder = try TemporaryFolder()
        try Data("# nothing\n".utf8).write(to: URL(filePath: folder("empty")))
        #expect(try PresetList.names(at: folder("empty")) == [])
    }
}
