package import Hemiola
internal import Synchronization

/// The presets that the pages of a run have reported. Thread-safe: the event loop writes them, and the analysis thread reads them too.
public final class PagePresets: Sendable {
    /// By the origins of the pages; nil: not known. Hash values, because the names of a page can have a megabyte, and there can be many
    /// pages. Two names with the same one would cost a message to a page.
    private let pages = Mutex<[String: Set<Int>?]>([:])

    /// As many presets of a page as a message can have.
    private static let limit = 10_000

    /// No pages.
    package init() {}

    /// The presets that all bridges of a run share.
    package static func shared(by run: RunScope) -> PagePresets { run.shared(PagePresets.self) { PagePresets() } }

    /// Keeps what a page reports of its presets.
    package func follow(_ control: Control, of page: String) {
        let name = control["name"].string?.hashValue ?? 0
        pages.withLock { pages in
            switch control.type {
            case .ready, .presetNames:
                let names = control[control.type == .ready ? "presets" : "names"].items ?? []
                pages.updateValue(names.isEmpty ? nil : Set(names.compactMap { $0.string?.hashValue }), forKey: page)
            case .presetRefused: pages[page]??.remove(name)
            case .presetHandler where pages[page]??.count ?? .max < Self.limit: pages[page]??.insert(name)
            case .pageClosed: pages.removeValue(forKey: page)
            default: break
            }
        }
    }

    /// Whether a page has a preset, as far as it is known.
    package func has(_ preset: String, page: String) -> Bool {
        pages.withLock { pages in pages[page]??.contains(preset.hashValue) != false }
    }

    /// Whether there are pages, and none of them has a preset.
    package func lack(_ preset: String) -> Bool {
        pages.withLock { pages in !pages.isEmpty && pages.values.allSatisfy { $0?.contains(preset.hashValue) == false } }
    }
}
