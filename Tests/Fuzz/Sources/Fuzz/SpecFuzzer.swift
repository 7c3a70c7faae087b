import FoundationEssentials
import HemiolaEngine
import HemiolaPlugins
import HemiolaSystem

@testable import Hemiola

extension Fuzzer {
    /// Any text as a SPEC: refused, or equal after it is written in full and parsed again. Then as settings of each kind of plugin.
    func trySpec(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        tryQuoting(text)
        guard let spec = parsed(text) else { return }
        let written = spec.written
        require(parsed(written) == spec, "\(spec) is written \(written), which is \(String(describing: parsed(written)))")
        tryChecks(of: spec)
        let configuration = PipelineConfiguration(captures: [spec], analyzers: [spec], sinks: [spec], controls: [spec])
        do throws(Problem) {
            _ = try PluginRegistry.standard.assemble(configuration)
        } catch {
            require(!error.all.isEmpty, "refused without a reason")
        }
    }

    private func parsed(_ text: String) -> PluginSpec? {
        do throws(Problem) {
            return try PluginSpec(parsing: text)
        } catch {
            require(error.all.allSatisfy { !$0.message.isEmpty }, "refused without a reason")
            return nil
        }
    }

    /// Every text is unchanged after another JSON encoder has quoted it and the parser has read it.
    private func tryQuoting(_ text: String) {
        let quoted = String(decoding: try! JSONEncoder().encode(text), as: UTF8.self)
        require(parsed("x:\(quoted)")?.primary == .text(text), "\(quoted) is read as \(String(describing: parsed("x:\(quoted)")))")
    }

    /// A valid value is valid and unchanged when it is checked again.
    private func tryChecks(of spec: PluginSpec) {
        let registry = PluginRegistry.standard
        var plugins = registry.captures.map(\.about) + registry.analyzers.map(\.about) + registry.sinks.map(\.about)
        plugins += registry.controls.map(\.about)
        let raws = Array(spec.settings.values) + (spec.primary.map { [$0] } ?? [])
        for setting in plugins.flatMap(\.settings) {
            for raw in raws {
                do throws(Problem) {
                    let value = try setting.parse(raw)
                    require((try? setting.parse(value)) == value, "\(setting.name)=\(value) is checked twice")
                } catch {
                    require(!error.message.isEmpty, "refused without a reason")
                }
            }
        }
    }
}

extension PluginSpec {
    /// The SPEC with every value quoted, in the order of the keys.
    fileprivate var written: String {
        var items = [primary.map { $0.text.quoted } ?? ""]
        if let alias { items.append("as=\(alias.quoted)") }
        items += settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text.quoted)" }
        return "\(id):\(items.joined(separator: ","))"
    }
}

extension String {
    /// The text as a JSON string of ASCII characters.
    fileprivate var quoted: String {
        utf16.reduce("\"") { text, unit in
            let digits = String(unit, radix: 16)
            return text + "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } + "\""
    }
}
