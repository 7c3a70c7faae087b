public import FoundationEssentials
internal import Glibc
public import HemiolaSystem

/// What a window stores between two starts.
public struct SavedState: Sendable, Hashable {
    /// Maximum number of pages; the page that was used longest ago is removed first.
    public static let pageLimit = 256
    /// Maximum length of a page's name, a preset's name or a path, in bytes.
    public static let textLimit = 4096
    /// Maximum size of the session state of a page, in bytes. A larger one is not stored.
    public static let sessionLimit = 64 << 10
    /// The range of a speed.
    private static let speeds = 0.1...1.0
    /// The range of a zoom.
    static let zooms = 0.25...5.0

    /// What is stored for one page.
    public struct Page: Sendable, Hashable, Codable {
        /// The page: a path or address.
        public var path: String
        /// The last preset that the page has reported or was sent.
        public var preset: String?
        /// The last speed, 0.1…1.
        public var speed: Double?
        /// The zoom, 0.25…5; 1: none.
        public var zoom: Double?
        /// The history of the page, as WebKitGTK serialises it.
        public var session: Data?

        /// A page without stored values.
        public init(path: String) {
            self.path = path
        }
    }

    /// The state of the window.
    public struct Window: Sendable, Hashable, Codable {
        /// The pages that were shown; empty: none is restored.
        public var tabs: [Tab] = []
        /// The index of the visible tab.
        public var selection = 0
        /// Whether the window filled the screen.
        public var isFullScreen = false
        /// The size while the window does not fill the screen.
        public var size: WindowSize?

        private enum CodingKeys: String, CodingKey {
            case tabs, selection, size
            case isFullScreen = "fullscreen"
        }

        /// Removes values that are not valid.
        fileprivate mutating func check() {
            tabs = Array(tabs.prefix(TabDirective.tabLimit))
            let isValid = tabs.allSatisfy { tab in
                !tab.path.isEmpty && [tab.id, tab.title, tab.path].allSatisfy { $0.utf8.count <= textLimit }
            }
            if !isValid || Set(tabs.map(\.id)).count != tabs.count { tabs = [] }
            if !tabs.indices.contains(selection) { selection = 0 }
            if size?.isPossible == false { size = nil }
        }
    }

    /// The pages, the last used one last.
    public fileprivate(set) var pages: [Page] = []
    /// The window.
    public var window = Window()
    private let version = Self.currentVersion

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
        guard !path.isEmpty, path.utf8.count <= Self.textLimit else { return }
        if let preset = page.preset, preset.utf8.count > Self.textLimit { page.preset = nil }
        if let speed = page.speed, !Self.speeds.contains(speed) { page.speed = nil }
        if let zoom = page.zoom, !Self.zooms.contains(zoom) { page.zoom = nil }
        if let session = page.session, session.count > Self.sessionLimit { page.session = nil }
        pages.append(page)
        if pages.count > Self.pageLimit { pages.removeFirst(pages.count - Self.pageLimit) }
    }
}

extension SavedState: Codable {
    private static let currentVersion = 1

    private enum CodingKeys: CodingKey {
        case version, pages, window
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard try fields.decode(Int.self, forKey: .version) == Self.currentVersion else { throw Problem("another version") }
        for page in try fields.decode([Page].self, forKey: .pages) { update(page.path) { $0 = page } }
        window = try fields.decode(Window.self, forKey: .window)
        window.check()
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
    /// - Parameter variable: Reads a variable; a test gives other values.
    /// - Returns: nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    public static func standard(_ variable: (String) -> String? = EnvironmentVariable.value) -> SavedStateFile? {
        EnvironmentVariable.stateFolder(variable).map { SavedStateFile(path: "\($0)/window.json") }
    }

    /// Reads the file.
    ///
    /// - Parameter warn: Called with a message when the file cannot be read or is damaged. A damaged file is renamed to `NAME.damaged`, so
    ///   that it is not overwritten.
    /// - Returns: The stored state; without values when the file does not exist, cannot be read or is damaged.
    public func read(warn: (String) -> Void) -> SavedState {
        func fail(_ reason: String) -> SavedState {
            warn("\(path): \(reason); starting without the stored state of the window")
            return SavedState()
        }
        do {
            let file = try FileDescriptor.open(path, [.nonBlocking])
            defer { file.close() }
            let status = try file.status()
            guard status.kind == .file else { return fail("not a regular file") }
            // The state names the pages that the window opens.
            guard status.isOwn || status.owner == 0, status.permissions & 0o022 == 0 else { return fail("other users can change it") }
            let bytes = try file.readAll(atMost: Self.sizeLimit + 1)
            if bytes.count <= Self.sizeLimit, let state = try? JSONDecoder().decode(SavedState.self, from: Data(bytes)) { return state }
            let newPath = path + ".damaged"
            return fail("damaged file, \(rename(path, newPath) == 0 ? "renamed to \(newPath)" : "cannot be renamed")")
        } catch {
            return error.isMissingFile ? SavedState() : fail("\(error)")
        }
    }

    /// Applies a change to the stored state: reads the file, and writes the changed state. What other windows have written since this one
    /// has read the file is kept, except for what the change replaces. A reader sees the old file or the new one, and only the user can
    /// read it. A missing folder is created.
    ///
    /// - Parameters:
    ///   - warn: As for ``read(warn:)``.
    ///   - change: Changes the state that the file has now.
    /// - Returns: The state that was written.
    /// - Throws: The path and the reason.
    public func update(warn: (String) -> Void, _ change: (inout SavedState) -> Void) throws(Problem) -> SavedState {
        let folderPath = FileSystem.folder(of: path)
        do { try FileSystem.createFolder(folderPath, permissions: 0o700) } catch { throw Problem("\(folderPath): \(error)") }
        // Two windows do not change the file at the same time. It is replaced by each change: the lock is that of its folder.
        let folder = try? FileDescriptor.open(folderPath)
        defer { folder?.close() }
        // A process that is stopped may hold the lock: after a second, the change is made without it.
        var attempts = 100
        while folder?.lock() == false, attempts > 0 {
            MonotonicTime.sleep(for: 0.01)
            attempts -= 1
        }
        var state = read(warn: warn)
        change(&state)
        try write(state)
        return state
    }

    private func write(_ state: SavedState) throws(Problem) {
        var state = state
        do {
            var json = try encoded(state)
            while json.count > Self.sizeLimit {
                // Rounded up: without pages, the state is never too large.
                state.pages.removeFirst((state.pages.count + 1) / 2)
                json = try encoded(state)
            }
            try PartialFile.write(json, to: path, permissions: 0o600)
        } catch {
            throw Problem("\(path): \(error)")
        }
    }

    private func encoded(_ state: SavedState) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(state)) + [UInt8(ascii: "\n")]
    }
}
