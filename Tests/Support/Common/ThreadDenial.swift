import Glibc

/// Denies threads to a process, whatever limits its machine and its user have.
///
/// The stack of a new thread would be larger than the address space. A limit on processes (`RLIMIT_NPROC`) does not hold for root.
public enum ThreadDenial {
    /// Bytes of such a stack.
    private static let stackSize = 1 << 47

    /// From here on this process gets no further thread. For exit tests.
    public static func begin() {
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
            let attributes = buffer.baseAddress!
            pthread_attr_init(attributes)
            pthread_attr_setstacksize(attributes, stackSize)
            defer { pthread_attr_destroy(attributes) }
            return setDefault(attributes)
        }
        precondition(code == 0, "the default size of stacks was not set: \(code)")
    }

    /// Runs a program that gets a number of threads beside its first one.
    ///
    /// - Parameter threads: How many; 0: none.
    public static func run(
        _ program: String, _ arguments: [String], threads: Int, in folder: String? = nil
    ) throws -> ChildProcess.Outcome {
        // The C library takes the size of the threads' stacks from the limit on that of the first thread. The rest of the address space is
        // for all else, which is far less than one stack.
        let gibibyte = 1 << 30
        let limits =
            threads == 0
            ? ["--stack=\(stackSize):unlimited"] : ["--stack=\(gibibyte):unlimited", "--as=\(threads * gibibyte + gibibyte / 2)"]
        return try ChildProcess.run("/usr/bin/prlimit", limits + [program] + arguments, in: folder)
    }

    private typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32

    /// `pthread_setattr_default_np`, which the headers declare for GNU sources only.
    private static let setDefault: SetDefault = {
        guard let address = dlsym(nil, "pthread_setattr_default_np") else { fatalError("no pthread_setattr_default_np") }
        // Unsafe: that is its declaration in pthread.h.
        return unsafeBitCast(address, to: SetDefault.self)
    }()
}
