internal import Hemiola
internal import HemiolaVisualizer
internal import Synchronization

/// Looks up preset names and reads lists of names for the director, on the thread that prepares controls: the cost on the analysis
/// thread depends neither on the length of a name nor on that of a list.
final class PresetControlPreparer: ControlPreparer {
    struct Preparation: Sendable {
        /// The library after the control.
        var library: PresetLibrary
        /// The preset that `loadPreset` names.
        var name: String?
        /// Why the control is refused; nil: it is not.
        var error: String?
    }

    private let library: Mutex<PresetLibrary>

    init(_ settings: ScheduleSettings) {
        library = Mutex(PresetLibrary(userNames: settings.names))
    }

    /// Restores the user's lists for a new schedule and invalidates the preparations made before.
    func reset() -> PresetLibrary {
        library.withLock { library in
            library.reset()
            return library
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
        let copy = library.withLock { library in
            switch control.type {
            case .ready, .presetNames:
                if !library.setPageNames(names, of: origin, isNewPage: control.type == .ready) {
                    error = "none of these presets is in the list: \(PresetNames.quoted(names, limit: 3))"
                }
            case .presetRefused: library.refuse(name, by: origin)
            case .pageClosed: library.close(origin)
            default: break
            }
            return library
        }
        guard control.type == .loadPreset else { return Preparation(library: copy, error: error) }
        let found = copy.find(name)
        return Preparation(library: copy, name: found.name, error: found.error)
    }
}
