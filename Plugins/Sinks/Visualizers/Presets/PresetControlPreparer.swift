internal import Hemiola
internal import HemiolaRecords
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
        let name = control["name"].string ?? ""
        let names = (control[control.type == .ready ? "presets" : "names"].items ?? []).compactMap(\.string)
        var error: String?
        // A copy: the search below is slow and needs no lock.
        let copy = state.withLock { state in
            switch control.type {
            case .ready, .presetNames:
                if !state.library.setPageNames(names, of: origin, isNewPage: control.type == .ready) {
                    error = "none of these presets is in the list: \(NameMatch.quoted(names, limit: 3))"
                }
            case .presetRefused: state.library.refuse(name, by: origin)
            case .pageClosed: state.library.close(origin)
            default: break
            }
            return state
        }
        var preparation = Preparation(copy)
        preparation.error = error
        if control.type == .loadPreset {
            let found = copy.library.find(name)
            (preparation.name, preparation.error) = (found.name, found.name == nil ? found.error : nil)
        }
        return preparation
    }
}

extension PresetControlPreparer.Preparation {
    fileprivate init(_ state: PresetControlPreparer.State) {
        self.init(revision: state.revision, known: state.library.known, chosen: state.library.chosen, pages: state.library.pagePresets)
    }
}
