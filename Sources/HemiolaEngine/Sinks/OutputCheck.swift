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
                let time = MonotonicTime.localText(startTime)
                var failures = 0
                for input in inputs {
                    let path = template.path(PathTemplate.Values(input: input.path ?? input.name, time: time))
                    do {
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

extension Assembly {
    /// Reports sinks and inputs whose results would be written to the same path, and results that would overwrite an input.
    ///
    /// - Parameters:
    ///   - inputs: The inputs that have results.
    ///   - files: The paths of all inputs.
    mutating func checkOutputs(inputs: [Pipeline.Input], files: [String], hasSeveralInputs: Bool) {
        let inputFiles = Set(files.compactMap(Self.identity(ofFile:)))
        /// By file: the sink that writes it, and the input of the result; nil: the result of all inputs.
        var owners: [String: (sink: Int, input: String?)] = [:]
        sinks: for (index, entry) in sinks.enumerated() {
            for output in entry.needs.outputs {
                guard let template = try? PathTemplate(output.path, isNumbered: true) else { continue }
                if !output.takesSeveralInputs, !template.isPerInput, hasSeveralInputs {
                    let name = OutputTarget(output.path).name
                    let count = inputs.isEmpty ? "several" : "\(inputs.count)"
                    let message =
                        "\(name) is for the result of one input, but there are \(count); write a file for each, with {stem} in the "
                        + "path of -o, or use --output-dir"
                    fail(message, at: entry.place)
                    continue sinks
                }
                for input in template.isPerInput ? inputs.map({ $0.path ?? $0.name }) : [nil] {
                    let file = template.path(PathTemplate.Values(input: input ?? "", time: "{time}", number: 0))
                    // Standard output, `-`, is not a file, even if there is one of that name.
                    if file != "-", let identity = Self.identity(ofFile: file), inputFiles.contains(identity) {
                        problems.append(Problem("\(file) is an input file and would be overwritten; write to another file"))
                        continue sinks
                    }
                    // Descriptors, devices and pipes accept several results.
                    if OutputTarget(file).isSpecial { continue }
                    let identity = OutputTarget.identity(of: file)
                    guard let owner = owners.updateValue((index, input), forKey: identity) else { continue }
                    let message =
                        if owner.sink == index, let input, let other = owner.input {
                            input == other
                                ? "\(input) is given twice, and both results would be written to \(file); give it once"
                                : "the results of \(other) and \(input) would both be written to \(file); "
                                    + "use {dir} or {name} in the path"
                        } else {
                            "another sink also writes to \(file); use another path for one of them"
                        }
                    fail(message, at: entry.place)
                    continue sinks
                }
            }
        }
    }

    /// Identifies the regular file at a path, links followed; nil when there is none.
    private static func identity(ofFile path: String) -> FileStatus.Identity? {
        (try? FileSystem.status(of: path)).flatMap { $0.kind == .file ? $0.identity : nil }
    }

    mutating func checkStandardOutput() {
        let writers = sinks.filter(\.needs.standardOutput)
        if writers.count > 1 {
            fail("\(writers.map(\.name).joined(separator: " and ")) both write to standard output; use a path for one of them", at: .sink())
        }
    }
}
