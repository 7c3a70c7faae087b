import Foundation
import TestSupport
import Testing

/// Reads records with common tools and the column types of `hemiola schema --columns`, by running `examples/read`.
@Suite struct ReadingTests {
    private func expectRead(by reader: String, location: SourceLocation = #_sourceLocation) throws {
        let outcome = try ChildProcess.run(
            Hemiola.root + "/examples/read/run", [reader], environment: ["HEMIOLA": Hemiola.path, "HEMIOLA_PYTHON": Tool.python],
            timeout: Hemiola.timeout)
        #expect(outcome.status == 0, "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.lines.first == "== \(reader)" && outcome.lines.count > 1, sourceLocation: location)
    }

    @Test(.needs(.jq)) func `jq reads the records`() throws {
        try expectRead(by: "jq")
    }

    @Test(.needs(.python(module: "pandas"))) func `pandas reads the records`() throws {
        try expectRead(by: "pandas")
    }

    @Test(.needs(.python(module: "duckdb"))) func `DuckDB reads the records`() throws {
        try expectRead(by: "duckdb")
    }

    @Test(.needs(.python(module: "polars"))) func `Polars reads the records`() throws {
        try expectRead(by: "polars")
    }

    @Test(.needs(.python(module: "pyarrow"))) func `PyArrow reads the records`() throws {
        try expectRead(by: "pyarrow")
    }
}
