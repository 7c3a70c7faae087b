internal import CFieldMaps
internal import Hemiola
internal import HemiolaSignal

extension FieldMap {
    /// The names of the built-in maps.
    public static var builtInNames: [String] { builtIn.map { String(cString: $0.name) } }

    /// The built-in map of a name.
    ///
    /// - Throws: There is no such map.
    public static func builtIn(_ name: String) throws(FieldMapError) -> FieldMap {
        try FieldMap(text(ofBuiltIn: name), title: name)
    }

    /// The text of the built-in map of a name, with its comments.
    ///
    /// - Throws: There is no such map.
    public static func text(ofBuiltIn name: String) throws(FieldMapError) -> String {
        if let map = builtIn.first(where: { String(cString: $0.name) == name }) {
            // The bytes are a constant of the program.
            return String(decoding: UnsafeBufferPointer(start: map.bytes, count: map.count), as: UTF8.self)
        }
        let names = builtInNames
        let hint =
            name.nearest(in: names).map { "did you mean \($0)?" }
            ?? "built-in maps: \(names.joined(separator: ", ")); write a file as ./NAME"
        throw FieldMapError(["there is no field map \"\(name.onOneLine)\"; \(hint)"])
    }

    private static var builtIn: [cfieldmaps_map] {
        var maps: [cfieldmaps_map] = []
        while case let map = cfieldmaps_map_at(UInt32(maps.count)), map.name != nil { maps.append(map) }
        return maps
    }
}
