import Testing

@testable import HemiolaBridge

@Suite struct HTMLInjectionTests {
    /// `|` marks the position of the script.
    @Test(arguments: [
        "<!DOCTYPE html><html><head>|<meta charset=utf-8><title>x</title>", "<HTML>\n <HEAD lang='a>b'>|<body>", "|",
        "|text", "<!doctype html>|<p>", "<!-- <head> --><head>|x", "\u{FEFF}<html>|<body>", "<html lang=en>|\n<script>1</script>",
        "<!doctype html>\n<!-- a --><html><!-- b -->\n<head\n>|</head>", "<!doctype html>|<header>", "<!--><head>|", "|<!-- no end <head>",
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC \"-//W3C//DTD\" \"x>y\"><html xmlns='a'><head/>|", "|<p><head>",
        "<html>|", "<!doctype html|",
    ]) func `script: is the first element of the head, after the document type`(marked: String) {
        let parts = marked.split(separator: "|", omittingEmptySubsequences: false)
        let document = parts.joined()
        let result = HTMLInjection.injecting(into: Array(document.utf8))
        #expect(String(decoding: result, as: UTF8.self) == "\(parts[0])<script src=\"/hemiola.js\"></script>\(parts[1])")
    }

    @Test func `document that is not UTF-8: its bytes are unchanged`() {
        let document: [UInt8] = Array("<head>".utf8) + [0xFF, 0xE9, 0x00, 0x80]
        #expect(HTMLInjection.injecting(into: document) == Array("<head>".utf8) + HTMLInjection.element + [0xFF, 0xE9, 0x00, 0x80])
    }
}
