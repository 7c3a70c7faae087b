import Glibc
import LibFuzzer

/// The entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func tryOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safe: the bytes are valid during this call, and they are copied.
    Fuzzer.chosen.try(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

// Fuzz NAME [libFuzzer's options, folders and files]
guard CommandLine.argc > 1, Fuzzer(rawValue: CommandLine.arguments[1]) != nil else {
    print("which fuzzer? \(Fuzzer.allCases.map(\.rawValue).joined(separator: " "))")
    exit(2)
}
// libFuzzer gets the arguments without the name.
var count = CommandLine.argc - 1
var arguments = CommandLine.unsafeArgv + 1
arguments[0] = CommandLine.unsafeArgv[0]
exit(LLVMFuzzerRunDriver(&count, &arguments, tryOneInput))
