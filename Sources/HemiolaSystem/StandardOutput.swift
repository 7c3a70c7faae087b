internal import Glibc
internal import Synchronization

/// The standard output of this process, as the destination of records.
///
/// Any code in the process can print there, such as a library with `printf`. In a program whose standard output is for records,
/// ``reserve()`` keeps them apart. A program that uses Hemiola as a library decides that itself.
public enum StandardOutput {
    /// The descriptor of standard output: 1, or its copy after ``reserve()``.
    public static var descriptor: Int32 { number.load(ordering: .acquiring) }

    private static let number = Atomic<Int32>(STDOUT_FILENO)

    /// The lowest number of the copy: lower ones are for the descriptors that the caller of the program passes, as in shells.
    private static let firstNumber: Int32 = 10

    /// Moves standard output to another descriptor, which programs do not inherit. Descriptor 1 becomes standard error.
    public static func reserve() {
        guard descriptor == STDOUT_FILENO else { return }
        let copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, firstNumber)
        // Without a free descriptor, all goes to standard output as before.
        guard copy >= 0 else { return }
        dup2(STDERR_FILENO, STDOUT_FILENO)
        number.store(copy, ordering: .releasing)
    }

    /// Undoes ``reserve()``, for a program that takes the place of this one.
    public static func release() {
        let copy = descriptor
        guard copy != STDOUT_FILENO else { return }
        dup2(copy, STDOUT_FILENO)
        number.store(STDOUT_FILENO, ordering: .releasing)
        close(copy)
    }
}
