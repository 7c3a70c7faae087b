internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine

struct RunCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a pipeline from a YAML file.",
        usage: "hemiola run <pipeline> [<options>]",
        discussion: """
            The keys of a pipeline file. inputs or captures is required; all others are optional:

              min_version: 0.1.0             # the oldest version of Hemiola for it
              inputs: [song.flac]            # paths, relative to the working directory
              captures: ["tone:clicks"]      # capture plugins, with or without inputs
              analyzers:                     # default: levels, spectrum, visualizer, beat
                - levels
                - {id: spectrum, bands: 32, as: coarse}
              sinks:                         # default: JSON Lines on standard output
                - {id: json-lines, path: song.jsonl}
              controls: ["osc:9001"]         # control sources; default: none
              batch: 1024                    # frames per batch
              rate: 48000                    # in Hz, for live captures; or native
              realtime: false                # process at real-time speed
              whole_file: true               # read inputs as a whole first, as files are
              seed: 0                        # seed of the random number generators
              jobs: 1                        # files in parallel; 0: one per processor
              select: [levels, end]          # write only these records
              sync: false                    # fsync output files before exiting

            A plugin is a SPEC as on the command line (id:key=value,key=value) or a map. Each accepts on_error (fail, skip) and \
            min_version, the oldest version of the plugin. The file is one YAML 1.2 document in \
            UTF-8 of at most 8 MiB. Duplicate keys, anchors, aliases and tags are errors.

            Examples:
              hemiola run pipeline.yaml
              hemiola run pipeline.yaml --replay-controls recorded.jsonl
              sed s/song.flac/other.flac/ pipeline.yaml | hemiola run -

            "hemiola check" validates a file, or prints it with all defaults. The defaults file of "hemiola listen" is not read. "hemiola plugins" lists the settings of each plugin.

            Exit codes: 0 success; 1 at least one input failed or was incomplete; 2 the pipeline file is invalid; 3 output could \
            not be written. See "hemiola --help".
            """)

    @Argument(help: ArgumentHelp("The pipeline file; - is standard input.", valueName: "pipeline"), completion: .file())
    var path: String

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let builder = ConfigurationBuilder(registry, try PipelineFile(at: path, registry).configuration)
        if path == "-" && replay.controls == "-" {
            throw Failure("standard input cannot be both the pipeline and the controls; use a file for one of them")
        }
        let replay = try self.replay.read(registry.catalog)
        return try builder.assemble().run(on: console, replaying: replay)
    }
}
