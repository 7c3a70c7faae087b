import TestSupport
import Testing

/// Completion in bash: the generated script, with words split as in bash.
@Suite(.mayNotHang, .needs(.program("bash"))) struct BashCompletionTests {
    /// The candidates for the last word of a line.
    private func answers(to words: String, typed: String) throws -> [String] {
        let line = words.replacing(" : ", with: ":").replacing(" = ", with: "=")
        let script = """
            source <(hemiola --generate-completion-script bash)
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
            if [ -z '\(typed)' ] && [[ "$COMP_LINE" = *' ' ]]; then COMP_WORDS+=(''); COMP_CWORD=$((COMP_CWORD + 1)); fi
            _hemiola_joined hemiola '\(typed)' "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try Hemiola.shell("exec bash --norc -c '\(script.replacing("'", with: "'\\''"))'")
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.lines
    }

    @Test func `SPEC in bash: completes plugins, settings and values`() throws {
        #expect(try answers(to: "hemiola analyze --analyzer spec", typed: "spec") == ["spectrum:"])
        #expect(try answers(to: "hemiola analyze --analyzer spectrum : ba", typed: "ba") == ["bands="])
        #expect(try answers(to: "hemiola analyze --analyzer spectrum : scale = mel", typed: "mel") == ["mel-slaney", "mel-htk"])
        #expect(try answers(to: "hemiola analyze --sink csv : a.csv,sel", typed: "a.csv,sel") == ["a.csv,select="])
        #expect(try answers(to: "hemiola listen --capture tone : cl", typed: "cl") == ["clicks"])
    }

    @Test func `bash: completes records, devices, controls, plugins and subcommands`() throws {
        #expect(try answers(to: "hemiola analyze --select levels,beat.bp", typed: "levels,beat.bp") == ["levels,beat.bpm"])
        #expect(try answers(to: "hemiola listen --device auto-", typed: "auto-") == ["auto-input"])
        #expect(try answers(to: "hemiola send next", typed: "next") == ["nextPreset"])
        #expect(try answers(to: "hemiola send win", typed: "win") == ["window"])
        #expect(try answers(to: "hemiola send window sn", typed: "sn") == ["snapshot"])
        #expect(try answers(to: "hemiola send window fullscreen t", typed: "t") == ["true"])
        #expect(try answers(to: "hemiola win", typed: "win") == ["window"])
        #expect(try answers(to: "hemiola window --mem", typed: "--mem") == ["--memory-limit"])
        #expect(try answers(to: "hemiola plugins pres", typed: "pres") == ["presets"])
        #expect(try answers(to: "hemiola eva", typed: "eva") == ["evaluate"])
    }
}
