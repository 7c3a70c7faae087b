import Hemiola
import Testing

@Suite struct RunScopeTests {
    private final class Object: Sendable {}

    @Test func `shared object: one in each scope, released with it`() {
        weak var object: Object?
        do {
            let (run, other) = (RunScope(), RunScope())
            let first = run.shared(Object.self) { Object() }
            let second = run.shared(Object.self) { Object() }
            let third = other.shared(Object.self) { Object() }
            #expect(first === second)
            #expect(first !== third)
            object = first
        }
        #expect(object == nil)
    }

    @Test func `shared object that cannot be made: the next sink makes it`() {
        let run = RunScope()
        #expect(throws: Problem.self) { try run.shared(Int.self) { () throws(Problem) -> Int in throw Problem("not now") } }
        let number = run.shared(Int.self) { 5 }
        #expect(number == 5)
    }
}
