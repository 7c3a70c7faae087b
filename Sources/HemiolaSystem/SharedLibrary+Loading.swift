internal import Glibc

extension SharedLibrary {
    /// The version of a library that does not say it.
    package static let unknownVersion = "of an unknown version"

    /// The version that is installed; nil: none. Loads the library, which stays loaded.
    package var installedVersion: String? {
        guard let library = dlopen("\(soname)", RTLD_NOW | RTLD_LOCAL) else { return nil }
        guard let versionSymbol, let symbol = dlsym(library, "\(versionSymbol.name)") else { return Self.unknownVersion }
        switch versionSymbol {
        case .text: return String(cString: symbol.assumingMemoryBound(to: CChar.self))
        case .textPointer: return String(cString: symbol.load(as: UnsafePointer<CChar>.self))
        case .textFunction:
            typealias Version = @convention(c) () -> UnsafePointer<CChar>
            return String(cString: unsafeBitCast(symbol, to: Version.self)())
        case .numbersFunction:
            // A result is ignored.
            typealias Version =
                @convention(c) (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Void
            var (major, minor, patch) = (Int32(0), Int32(0), Int32(0))
            unsafeBitCast(symbol, to: Version.self)(&major, &minor, &patch)
            return "\(major).\(minor).\(patch)"
        }
    }

    /// The address of a function of the program or of its libraries; nil: there is none.
    package static func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
}

extension SharedLibrary.VersionSymbol {
    fileprivate var name: StaticString {
        switch self {
        case .text(let name), .textPointer(let name), .textFunction(let name), .numbersFunction(let name): name
        }
    }
}
