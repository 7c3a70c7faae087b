import HemiolaEngine
import HemiolaPlugins
import HemiolaSystem

@testable import Hemiola
@testable import HemiolaCommandLine
@testable import HemiolaFieldMaps

extension Fuzzer {
    /// Any text as a pipeline file: every problem has a position in the text; a valid file is equal after it is printed and read again.
    func tryPipeline(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        let registry = PluginRegistry.standard
        let extent = Extent(of: text)
        do throws(Problem) {
            let file = try PipelineFile(text, registry: registry)
            for problem in file.problems {
                require(!problem.message.isEmpty, "\(problem) is wrong without a reason")
                guard let position = file.position(of: problem.place) else { fatalError("\(problem) is nowhere") }
                extent.require(position, problem.message)
            }
            for position in file.positions.values { extent.require(position, "a value") }
        } catch {
            require(!error.message.isEmpty, "refused without a reason")
            if let place = error.place?.position { extent.require(place, error.message) }
            return
        }
        guard let written = print(text) else { return }
        guard let again = print(written) else { fatalError("what was printed is refused:\n\(written)") }
        require(written == again, "what was printed reads as another:\n\(written)\n\(again)")
    }

    /// Prints the pipeline in the same way as `hemiola check --print`.
    private func print(_ text: String) -> String? {
        do {
            let configuration = try PipelineFile(checking: text, title: "pipeline", .standard).configuration
            let analyzers = try PluginRegistry.standard.assemble(configuration).describeAnalyzers(
                for: PluginPage.format, startsExternals: false)
            return PipelineFile.text(configuration, analyzers: analyzers, registry: .standard)
        } catch let error as Failure {
            require(!error.lines.isEmpty && error.lines.allSatisfy { !$0.isEmpty }, "refused without a reason")
        } catch {
            require(!"\(error)".isEmpty, "refused without a reason")
        }
        return nil
    }
}

/// The size of a text.
private struct Extent {
    let lineCount: Int
    /// Unicode scalars of the longest line.
    let width: Int

    init(of text: String) {
        let breaks = "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { breaks.contains($0) }
        lineCount = lines.count
        width = lines.map(\.count).max() ?? 0
    }

    /// Requires that a position is in the text or directly after it.
    func require(_ place: TextPosition, _ message: String) {
        Fuzz.require((1...lineCount + 1).contains(place.line), "line \(place.line) of \(lineCount): \(message)")
        Fuzz.require((1...width + 2).contains(place.column), "column \(place.column) of \(width): \(message)")
    }
}
