internal import Hemiola
internal import HemiolaSignal
internal import HemiolaVisualizer
internal import Synchronization

/// Looks up preset names and reads lists of names for the director, on the thread that prepares controls: the cost on the analysis
/// thread depends neither on the length of a name nor on that of a list.
final class PresetControlPreparer: ControlPreparer {
    /// The library's state after a control, and the preset that the control names.
    struct Preparation: Sendable {
        /// Grows with every change of the library. A preparation that is older than one that the schedule has used is invalid.
        var revision: Int
        /// All presets that can be loaded.
        var known: PresetNames
        /// The presets for automatic changes.
        var chosen: PresetNames
        /// The presets of each page.
        var pages: [PagePresets]
        /// The preset that `loadPreset` names.
        var name: String?
        /// Why the control is refused; nil: it is not.
        var error: String?
    }

    fileprivate struct State {
        var library: PresetLibrary { didSet { revision += 1 } }
        var revision = 0
    }

    private let initial: PresetLibrary
    private let state: Mutex<State>

    init(_ settings: ScheduleSettings) {
        initial = PresetLibrary(userNames: settings.names, favourites: settings.favourites, skipped: settings.skipped)
        state = Mutex(State(library: initial))
    }

    /// Restores the user's lists for a new schedule and invalidates the preparations made before.
    func reset() -> Preparation {
        state.withLock { state in
            state = State(library: initial, revision: state.revision + 1)
            return Preparation(state)
        }
    }

    func isNeeded(for control: Control) -> Bool {
        switch control.type {
        case .loadPreset, .ready, .presetNames, .presetRefused, .pageClosed: true
        default: false
        }
    }

    func prepare(_ control: Control, from origin: String) -> any Sendable { preparation(for: control, from: origin) }

    /// Applies a control to the library, or looks up the name in a control.
    ///
    /// - Parameter origin: The page or client that has sent the control.
    /// - Complexity: O(presets · pages); for an unknown name O(presets · l²), where l is the length of the name, at most 64.
    func preparation(for control: Control, from origin: String = "") -> Preparation {
        switch control.type {
        case .ready: setPageNames(control["presets"].items ?? [], of: origin, isNewPage: true)
        case .presetNames: setPageNames(control["names"].items ?? [], of: origin, isNewPage: false)
        case .presetRefused:
            state.withLock { state in
                state.library.refuse(control["name"].string ?? "", by: origin)
                return Preparation(state)
            }
        case .pageClosed:
            state.withLock { state in
                state.library.close(origin)
                return Preparation(state)
            }
        case .loadPreset: find(control["name"].string ?? "")
        default: state.withLock { Preparation($0) }
        }
    }

    private func setPageNames(_ items: [ParameterValue], of page: String, isNewPage: Bool) -> Preparation {
        let names = items.compactMap(\.string)
        return state.withLock { state in
            let isAnyListed = state.library.setPageNames(names, of: page, isNewPage: isNewPage)
            var preparation = Preparation(state)
            if !isAnyListed { preparation.error = "none of these presets is in the list: \(NameMatch.quoted(names, limit: 3))" }
            return preparation
        }
    }

    private func find(_ name: String) -> Preparation {
        // A copy: the search is slow and needs no lock.
        let copy = state.withLock { $0 }
        let found = copy.library.find(name)
        var preparation = Preparation(copy)
        (preparation.name, preparation.error) = (found.name, found.name == nil ? found.error : nil)
        return preparation
    }
}

extension PresetControlPreparer.Preparation {
    fileprivate init(_ state: PresetControlPreparer.State) {
        self.init(revision: state.revision, known: state.library.known, chosen: state.library.chosen, pages: state.library.pagePresets)
    }
}
