internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

/// The presets of a show, and what a control that names some means. It looks names up and reads lists for the director, on the
/// thread that prepares controls: the director's own cost does not depend on how long a name or a list is.
final class PresetLibrary: ControlPreparer {
    /// What the director needs of a control that names presets.
    struct Answer: Sendable {
        /// Changes with `reset`: an older answer is worth nothing.
        var generation: Int
        /// All presets that can be shown, after the control.
        var known: PresetNames
        /// Those that come by themselves.
        var chosen: PresetNames
        /// The preset that `loadPreset` means.
        var name: String?
        /// Why the control is refused.
        var fault: String?
    }

    fileprivate struct State {
        var repertoire: Repertoire
        var generation = 0
    }

    private let initial: Repertoire
    private let state: Mutex<State>

    init(_ settings: ShowSettings) {
        initial = Repertoire(own: settings.names, favourites: settings.favourites, skipped: settings.skipped)
        state = Mutex(State(repertoire: initial))
    }

    /// Which answers are valid now.
    var generation: Int { state.withLock { $0.generation } }

    /// Another show begins, with the user's own lists.
    func reset() -> Answer {
        state.withLock { state in
            state = State(repertoire: initial, generation: state.generation + 1)
            return Answer(state)
        }
    }

    func isNeeded(for control: Control) -> Bool {
        switch control {
        case .loadPreset, .ready, .presetNames, .presetRefused: true
        default: false
        }
    }

    func prepare(_ control: Control) -> any Sendable { answer(to: control) }

    /// Applies a control to the lists, or looks its name up in them.
    ///
    /// - Complexity: O(presets), for a name that is not known O(presets · their length · its length, 64 at most).
    func answer(to control: Control) -> Answer {
        switch control {
        case .ready(let names): adopt(names, isNewPage: true)
        case .presetNames(let names): adopt(names, isNewPage: false)
        case .presetRefused(let name):
            state.withLock { state in
                state.repertoire.refuse(name)
                return Answer(state)
            }
        case .loadPreset(let name): find(name)
        default: state.withLock { Answer($0) }
        }
    }

    private func adopt(_ names: [String], isNewPage: Bool) -> Answer {
        state.withLock { state in
            let isAny = state.repertoire.adopt(names, isNewPage: isNewPage)
            var answer = Answer(state)
            if !isAny { answer.fault = "none of these presets is in the list: \(NameMatch.listed(names, limit: 3))" }
            return answer
        }
    }

    private func find(_ name: String) -> Answer {
        // The search takes long and needs no lock.
        let now = state.withLock { $0 }
        let found = now.repertoire.find(name)
        var answer = Answer(now)
        (answer.name, answer.fault) = (found.name, found.name == nil ? found.fault : nil)
        return answer
    }
}

extension PresetLibrary.Answer {
    fileprivate init(_ state: PresetLibrary.State) {
        self.init(generation: state.generation, known: state.repertoire.known, chosen: state.repertoire.chosen)
    }
}
