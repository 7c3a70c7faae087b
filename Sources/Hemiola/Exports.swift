// Who writes a plugin imports Hemiola alone: what its roles are written in comes with it.
@_exported public import HemiolaRecords
@_exported public import HemiolaSignal
@_exported public import HemiolaSystem
