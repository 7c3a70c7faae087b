public import FoundationEssentials
internal import Glibc

/// What a window stores between two starts.
public struct SavedState: Sendable, Hashable {
    /// Maximum number of pages; the page that was used longest ago is removed first.
    public static let pageLimit = 256
    /// Maximum length of a page's name, a preset's name or a path, in bytes.
    public static let textLimit = 4096
    /// Maximum size of the session state of a page, in bytes. A larger one is not stored.
    public static let sessionLimit = 64 << 10
    /// The range of a speed.
    public static let speeds = 0.1...1.0
    /// The range of a zoom.
    public static let zooms = 0.25...5.0

    /// What is stored for one page.
    public struct Page: Sendable, Hashable {
        /// The page: a path or address.
        public var path: String
        /// The last preset that the page has reported or was sent.
        public var preset: String?
        /// The last speed, 0.1…1.
        public var speed: Double?
        /// The zoom, 0.25…5; 1: none.
        public var zoom: Double?
        /// The history of the page, as WebKitGTK serialises it.
        public var session: [UInt8]?

        /// A page without stored values.
        public init(path: String) {
            self.path = path
        }
    }

    /// The state of the window.
    public struct Window: Sendable, Hashable {
        /// The pages that were shown; empty: none is restored.
        public var tabs: [Tab] = []
        /// The index of the visible tab.
        public var selection = 0
        /// Whether the window filled the screen.
        public var isFullScreen = false
        /// The size while the window does not fill the screen.
        public var size: WindowSize?

        /// A window without stored values.
        public init() {}
    }

    /// The pages, the last used one last.
    public private(set) var pages: [Page] = []
    /// The window.
    public var window = Window()

    /// Nothing is stored.
    public init() {}

    /// What is stored for a page; without stored values if it is unknown.
    public func page(_ path: String) -> Page {
        pages.last { $0.path == path } ?? Page(path: path)
    }

    /// Changes what is stored for a page. Values out of range and texts that are too long are not stored.
    public mutating func update(_ path: String, _ change: (inout Page) -> Void) {
        var page = page(path)
        change(&page)
        page.path = path
        pages.removeAll { $0.path == path }
        guard let page = Self.checked(page) else { return }
        pages.append(page)
        if pages.count > Self.pageLimit { pages.removeFirst(pages.count - Self.pageLimit) }
    }

    private static func checked(_ page: Page) -> Page? {
        guard !page.path.isEmpty, page.path.utf8.count <= textLimit else { return nil }
        var page = page
        if let preset = page.preset, preset.utf8.count > textLimit { page.preset = nil }
        if let speed = page.speed, !speeds.contains(speed) { page.speed = nil }
        if let zoom = page.zoom, !zooms.contains(zoom) { page.zoom = nil }
        if let session = page.session, session.count > sessionLimit { page.session = nil }
        return page
    }

    /// The window with valid values only.
    private static func checked(_ window: Window) -> Window {
        var window = window
        window.tabs = Array(window.tabs.prefix(TabDirective.tabLimit))
        let isValid = window.tabs.allSatisfy { tab in
            !tab.path.isEmpty && [tab.id, tab.title, tab.path].allSatisfy { $0.utf8.count <= textLimit }
        }
        if !isValid || Set(window.tabs.map(\.id)).count != window.tabs.count { window.tabs = [] }
        if !window.tabs.indices.contains(window.selection) { window.selection = 0 }
        let sides = WindowArguments.sides
        if let size = window.size, !sides.contains(size.width) || !sides.contains(size.height) { window.size = nil }
        return window
    }
}

/// The form in the file. `[UInt8]` would be a list of numbers: the session is stored as Base64.
extension SavedState: Codable {
    private struct Stored: Codable {
        struct Page: Codable {
            var path: String
            var preset: String?
            var speed: Double?
            var zoom: Double?
            var session: Data?
        }

        struct Window: Codable {
            var tabs: [Tab]
            var selection: Int
            var fullscreen: Bool
            var size: WindowSize?
        }

        var version: Int
        var pages: [Page]
        var window: Window
    }

    private static let version = 1

    public init(from decoder: any Decoder) throws {
        let stored = try Stored(from: decoder)
        guard stored.version == Self.version else {
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "another version"))
        }
        var seen: Set<String> = []
        for entry in stored.pages.suffix(Self.pageLimit) {
            var page = Page(path: entry.path)
            page.preset = entry.preset
            page.speed = entry.speed
            page.zoom = entry.zoom
            page.session = entry.session.map { Array($0) }
            guard let page = Self.checked(page), seen.insert(page.path).inserted else { continue }
            pages.append(page)
        }
        var window = Window()
        window.tabs = stored.window.tabs
        window.selection = stored.window.selection
        window.isFullScreen = stored.window.fullscreen
        window.size = stored.window.size
        self.window = Self.checked(window)
    }

    public func encode(to encoder: any Encoder) throws {
        let window = Self.checked(window)
        try Stored(
            version: Self.version,
            pages: pages.map {
                Stored.Page(path: $0.path, preset: $0.preset, speed: $0.speed, zoom: $0.zoom, session: $0.session.map { Data($0) })
            },
            window: Stored.Window(
                tabs: window.tabs, selection: window.selection, fullscreen: window.isFullScreen, size: window.size)
        ).encode(to: encoder)
    }
}

/// The file with the stored state of the window.
public struct SavedStateFile: Sendable, Hashable {
    /// Maximum size of the file in bytes. The pages that were used longest ago are not written beyond it.
    public static let sizeLimit = 8 << 20

    /// The path of the file.
    public var path: String

    /// A file.
    public init(path: String) {
        self.path = path
    }

    /// The file of the user: `hemiola/window.json` in the folder for state.
    ///
    /// - Returns: nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    public static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> SavedStateFile? {
        // The XDG Base Directory Specification requires that relative paths are ignored.
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return SavedStateFile(path: "\(state)/hemiola/window.json") }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return SavedStateFile(path: "\(home)/.local/state/hemiola/window.json")
    }

    /// Why a file could not be read or written: `PATH: reason`.
    public struct Fault: Error, Sendable, Hashable {
        /// The message.
        public var message: String
    }

    /// Reads the file.
    ///
    /// - Parameter warn: Called with a message when the file cannot be read or is damaged. A damaged file is renamed to `NAME.damaged`, so
    ///   that it is not overwritten.
    /// - Returns: The stored state; without values when the file does not exist, cannot be read or is damaged.
    public func read(warn: (String) -> Void) -> SavedState {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno != ENOENT { warn("\(path): \(Self.reason); starting without the stored state of the window") }
            return SavedState()
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            warn("\(path): not a regular file; starting without the stored state of the window")
            return SavedState()
        }
        // The state names the pages that the window opens.
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            warn("\(path): other users can change it; starting without the stored state of the window")
            return SavedState()
        }
        guard status.st_size <= Self.sizeLimit, let bytes = Self.bytes(of: descriptor) else { return damaged(warn) }
        guard let state = try? JSONDecoder().decode(SavedState.self, from: Data(bytes)) else { return damaged(warn) }
        return state
    }

    private func damaged(_ warn: (String) -> Void) -> SavedState {
        let newPath = path + ".damaged"
        let isRenamed = rename(path, newPath) == 0
        if isRenamed {
            warn("\(path): damaged file, renamed to \(newPath); starting without the stored state of the window")
        } else {
            warn("\(path): damaged file, cannot be renamed; starting without the stored state of the window")
        }
        return SavedState()
    }

    /// The bytes up to the limit; nil if there are more, or they cannot be read.
    private static func bytes(of descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = systemRead(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += block[..<count]
            if bytes.count > sizeLimit { return nil }
        }
    }

    /// Applies a change to the stored state: reads the file, and writes the changed state. What other windows have written since this one
    /// has read the file is kept, except for what the change replaces.
    ///
    /// - Parameters:
    ///   - warn: As for ``read(warn:)``.
    ///   - change: Changes the state that the file has now.
    /// - Returns: The state that was written.
    /// - Throws: The path and the reason.
    public func update(warn: (String) -> Void, _ change: (inout SavedState) -> Void) throws(Fault) -> SavedState {
        try createFolder()
        let lock = FolderLock(path: path)
        defer { lock?.release() }
        var state = read(warn: warn)
        change(&state)
        try write(state)
        return state
    }

    /// The lock of the file's folder: two windows do not change the file at the same time. The file itself is replaced by each change.
    private struct FolderLock {
        /// Attempts to lock, and the pause after each, in microseconds: one second in all. A process that is stopped may hold the lock.
        private static let attempts = (count: 100, pause: useconds_t(10_000))

        private let descriptor: Int32

        /// - Returns: nil when another process holds the lock for a second, or the file system has no locks: the change is made without it.
        init?(path: String) {
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            for _ in 0..<Self.attempts.count {
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
                guard errno == EWOULDBLOCK || errno == EINTR else { break }
                usleep(Self.attempts.pause)
            }
            close(descriptor)
            return nil
        }

        func release() {
            close(descriptor)
        }
    }

    /// Writes the file atomically: a reader sees the old file or the new one. Only the user can read it. A missing folder is created.
    ///
    /// - Throws: The path and the reason.
    public func write(_ state: SavedState) throws(Fault) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var state = state
        var json = try encoded(state, encoder)
        while json.count > Self.sizeLimit {
            // Each round removes the older half of the sessions.
            let before = state
            state.removeOlderHalf()
            if state == before { throw Fault(message: "\(path): the state of the window has more than 8 MiB") }
            json = try encoded(state, encoder)
        }
        try createFolder()
        var name = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Fault(message: "\(path): \(Self.reason)") }
        let isWritten = Self.write(Array(json), to: descriptor) && fsync(descriptor) == 0
        let reason = Self.reason
        close(descriptor)
        guard isWritten else {
            unlink(name)
            throw Fault(message: "\(path): \(reason)")
        }
        guard rename(name, path) == 0 else {
            let reason = Self.reason
            unlink(name)
            throw Fault(message: "\(path): \(reason)")
        }
    }

    private func encoded(_ state: SavedState, _ encoder: JSONEncoder) throws(Fault) -> Data {
        do {
            return try encoder.encode(state) + Data("\n".utf8)
        } catch {
            throw Fault(message: "\(path): the state of the window cannot be encoded")
        }
    }

    /// Creates the folder and the ones above it, private to the user.
    private func createFolder() throws(Fault) {
        var index = path.index(after: path.startIndex)
        while let slash = path[index...].firstIndex(of: "/") {
            let folder = String(path[..<slash])
            if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Fault(message: "\(folder): \(Self.reason)") }
            index = path.index(after: slash)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

// The methods of SavedStateFile with the same names hide these functions.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

extension SavedState {
    /// Removes the pages that were used longest ago, rounded up to half of them.
    fileprivate mutating func removeOlderHalf() {
        pages.removeFirst((pages.count + 1) / 2)
    }
}
