internal import Foundation
public import Hemiola
internal import HemiolaSignal
internal import HemiolaTesting
public import TestSupport

extension ReadMe {
    /// The cells of the table row for a key, without backquotes.
    public func row(of key: String) -> [String]? {
        lines.first { $0.hasPrefix("| `\(key)` |") }?
            .split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
    }

    /// The settings whose row has another default, range, list of choices or unit than declared.
    public func settings(missingFrom plugin: PluginDescription) -> [String] {
        plugin.settings.filter { setting in
            guard let row = row(of: setting.key), row.count >= 3 else { return true }
            let isDefaultGiven = row[1] == setting.defaultValue.text || (setting.defaultValue == .none && row[1].hasPrefix("unset"))
            var range = setting.rangeText ?? ""
            if case .choice(let names) = setting.kind { range = names.joined(separator: ", ") }
            if case .boolean = setting.kind { range = "true, false" }
            return !isDefaultGiven || row[2] != range
        }.map(\.key)
    }

    /// The tolerance of a written value: 0.6 of the last digit.
    private func slack(_ unit: HemiolaSignal.Unit) -> Double {
        switch unit.numberText {
        case .decimals(let count): 0.6 * pow(10, -Double(count))
        case .significant: 1e-6
        case .all: 1e-7
        }
    }

    /// Differences between the JSON sample, a batch record, and that batch; and features without a row in a table.
    public func faults(inSampleOf analysis: Analysis, batch: Int) throws -> [String] {
        guard let json = samples("json").first else { return ["there is no JSON sample"] }
        let record = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] ?? [:]
        let header = analysis.stream.header
        let frame = analysis.batches[batch].frame
        var faults: [String] = []
        if record["type"] as? String != "batch" { faults.append("type") }
        if record["n"] as? Int != batch { faults.append("n") }
        if record["frame"] as? Int64 != frame { faults.append("frame") }
        if abs((record["t"] as? Double ?? -1) - header.format.seconds(at: frame)) > 1e-6 { faults.append("t") }
        let features = header.analyzers[0].outputs.features
        let sample = record[header.analyzers[0].name] as? [String: Any] ?? [:]
        if Set(sample.keys) != Set(features.map(\.name)) { faults.append("the features") }
        for feature in features {
            let given = feature.isArray ? sample[feature.name] as? [Double] : (sample[feature.name] as? Double).map { [$0] }
            let values = analysis.values(feature.name)[batch].map(Double.init)
            let slack = slack(feature.unit)
            let isNear = zip(given ?? [], values).allSatisfy { abs($0 - $1) <= max(slack, 2e-5 * abs($1)) }
            if given?.count != values.count || !isNear { faults.append("\(feature.name): it is \(values)") }
            if row(of: feature.name) == nil { faults.append("the table: \(feature.name)") }
        }
        return faults
    }
}
