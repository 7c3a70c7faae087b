internal import CFieldMaps
internal import Hemiola
public import HemiolaSystem

extension FieldMap {
    /// The names of the built-in maps.
    ///
    /// - Parameter direction: nil: of both directions.
    public static func builtInNames(_ direction: Direction? = nil) -> [String] {
        builtIn.filter { direction == nil || $0.direction == direction }.map { String(cString: $0.name) }
    }

    /// The built-in map of a name.
    ///
    /// - Throws: There is no such map.
    public static func builtIn(_ name: String, _ direction: Direction = .output) throws(Problem) -> FieldMap {
        try FieldMap(entry(name, direction).text, title: name, direction)
    }

    /// The direction and the text of the built-in map of a name, with its comments.
    ///
    /// - Throws: There is no such map.
    public static func text(ofBuiltIn name: String) throws(Problem) -> (direction: Direction, text: String) {
        let map = try entry(name, nil)
        return (map.direction, map.text)
    }

    private static func entry(_ name: String, _ direction: Direction?) throws(Problem) -> cfieldmaps_map {
        let names = builtInNames(direction)
        if names.contains(name), let map = builtIn.first(where: { String(cString: $0.name) == name }) { return map }
        let hint =
            name.nearest(in: names).map { "did you mean \($0)?" }
            ?? "built-in maps: \(names.joined(separator: ", ")); write a file as ./NAME"
        throw Problem("there is no field map \"\(name.onOneLine)\"; \(hint)")
    }

    private static var builtIn: [cfieldmaps_map] {
        var maps: [cfieldmaps_map] = []
        while case let map = cfieldmaps_map_at(UInt32(maps.count)), map.name != nil { maps.append(map) }
        return maps
    }
}

extension cfieldmaps_map {
    fileprivate var direction: FieldMap.Direction { is_input ? .input : .output }

    /// The bytes are a constant of the program.
    fileprivate var text: String { String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self) }
}
