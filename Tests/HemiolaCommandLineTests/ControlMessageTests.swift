import ArgumentParser
import Hemiola
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct ControlMessageTests {
    private static let dimmer = ControlType(
        "setDimmer", "Sets a dimmer.",
        fields: [
            .integer("channel", in: 1...512, "The channel."), .number("level", in: 0...1, "The level."),
            .choice("curve", of: ["linear", "square"], default: .text("linear"), "The curve."),
            .numbers("steps", "Levels to pass."),
        ])
    private static let catalog = RecordCatalog(controls: PluginRegistry.standard.catalog.controls + [dimmer])

    private func line(_ type: String, _ fields: String...) throws -> String {
        String(decoding: try ControlMessage(type, fields, Self.catalog).line, as: UTF8.self)
    }

    @Test func `values without a name: set in the declared fields, in their order`() throws {
        #expect(try line("setSpeed", "0.5") == #"{"type":"setSpeed","id":"send","speed":0.5}"# + "\n")
        #expect(try line("loadPreset", "a = b") == #"{"type":"loadPreset","id":"send","name":"a = b"}"# + "\n")
        #expect(try line("presetNames", "x+y") == #"{"type":"presetNames","id":"send","names":["x","y"]}"# + "\n")
        #expect(try line("tempoRange", "90", "180") == #"{"type":"tempoRange","id":"send","min_bpm":90,"max_bpm":180}"# + "\n")
        #expect(try line("tempoRange", "null", "max_bpm=180") == #"{"type":"tempoRange","id":"send","min_bpm":null,"max_bpm":180}"# + "\n")
        #expect(try line("lockTempo") == #"{"type":"lockTempo","id":"send"}"# + "\n")
        #expect(try line("lockTempo", "null") == #"{"type":"lockTempo","id":"send","bpm":null}"# + "\n")
    }

    @Test func `control of another plugin: every field by its declared type`() throws {
        #expect(
            try line("setDimmer", "7", "level=0.25", "curve=square", "steps=0+1.5")
                == #"{"type":"setDimmer","id":"send","channel":7,"level":0.25,"curve":"square","steps":[0,1.5]}"# + "\n")
    }

    @Test(arguments: [
        (["setSpeed", "fast"], "speed: \"fast\" is not a number"),
        (["setSpeed"], "the control setSpeed needs its \"speed\""),
        (["setSpeed", "sped=1"], "setSpeed has no field \"sped\"; did you mean speed?"),
        (["lockPreset", "maybe"], "locked: \"maybe\" is not true or false"),
        (["tap", "1"], "\"1\" is not key=value; tap has no field"),
        (["tap", "x=1"], "tap has no field \"x\"; it has none"),
        (["setDimmer", "7", "level=1", "steps=1", "curve=cubic"], "curve: \"cubic\" is not one of linear, square"),
        (["setDimmer", "7.5"], "channel: \"7.5\" is not a whole number"),
        (["setDimmer", "7", "channel=8"], "\"channel\" is given twice"),
        (["setDimer", "7"], "unknown message \"setDimer\"; did you mean setDimmer?"),
    ])
    func `wrong field: refused before anything is sent`(words: [String], message: String) {
        #expect(throws: Failure(message)) { try ControlMessage(words[0], Array(words.dropFirst()), Self.catalog) }
    }

    @Test func `help of send: lists the controls that the program declares`() {
        Completions(PluginRegistry.standard).makeCurrent()
        let help = SendCommand.helpMessage(columns: 200)
        for control in PluginRegistry.standard.catalog.controls { #expect(help.contains(control.name)) }
        #expect(help.contains("setSpeed (speed, 0.1 to 1)"))
    }
}
