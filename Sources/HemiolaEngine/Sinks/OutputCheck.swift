internal import Hemiola
internal import HemiolaFiles

extension Pipeline {
    /// Whether each input of a run from files has output files of its own, so that one which cannot be written does not concern the others.
    func hasFilePerInput(_ entry: SinkEntry) -> Bool {
        hasSeveralInputs && !isLive && !isPaced && !entry.needs.outputs.isEmpty
            && entry.needs.outputs.allSatisfy { (try? PathTemplate($0.path, isNumbered: true))?.isPerInput == true }
    }

    /// Checks the files that are opened only when their input begins, so that no other sink has written when one cannot be.
    ///
    /// The names of a live capture are not known yet: then only a folder that does not depend on them is checked. Where each input has files
    /// of its own, the run is only refused if none of them can be written.
    ///
    /// - Returns: The first sink that cannot write one of its files, and why.
    func firstUnwritableOutput(startTime: Int) -> (sink: String, error: Problem)? {
        let inputs = inputs.filter { $0.fault == nil }
        var folders: Set<String> = []
        // The run goes on without the others.
        for entry in sinkEntries where entry.policy != .skip {
            for output in entry.needs.outputs {
                guard let template = try? PathTemplate(output.path, isNumbered: true), template.isPerInput else { continue }
                if isLive, (try? PathTemplate(FileSystem.folder(of: output.path), isNumbered: true))?.isPerInput != false { continue }
                let time = PathTemplate.timeText(startTime)
                var failures = 0
                for input in inputs {
                    let path = template.path(PathTemplate.Values(input: input.path ?? input.name, time: time))
                    do throws(Problem) {
                        try OutputTarget(path).checkWritable(
                            replaces: output.replacesFile && !template.isNumbered && !isLive, isRealTime: isPaced, folders: &folders)
                    } catch {
                        failures += 1
                        if error.remedy != .nextInput || failures == inputs.count || !hasFilePerInput(entry) { return (entry.name, error) }
                    }
                }
            }
        }
        return nil
    }
}
