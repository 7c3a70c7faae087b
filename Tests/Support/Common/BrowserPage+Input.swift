import Foundation

extension BrowserPage {
    /// Presses and releases a key.
    ///
    /// - Parameter key: The value of `KeyboardEvent.key`: a character, or a name such as `Escape`, `Tab`, `Enter` or `ArrowDown`.
    public func press(_ key: String, isShifted: Bool = false) throws {
        let text = key == "Enter" ? "\r" : key.count == 1 ? key : ""
        var parameters: [String: Any] = [
            "key": key, "code": Self.code(of: key), "windowsVirtualKeyCode": Self.number(of: key), "modifiers": isShifted ? 8 : 0,
        ]
        parameters["type"] = text.isEmpty ? "rawKeyDown" : "keyDown"
        parameters["text"] = text
        try call("Input.dispatchKeyEvent", parameters)
        parameters["type"] = "keyUp"
        parameters["text"] = nil
        try call("Input.dispatchKeyEvent", parameters)
    }

    /// Types characters, each with key events.
    public func type(_ text: String) throws {
        for character in text { try press(String(character)) }
    }

    /// Inserts a text at the cursor without key events, as an input method does.
    public func insert(_ text: String) throws {
        try call("Input.insertText", ["text": text])
    }

    /// Clicks the centre of the element that matches a selector.
    ///
    /// Waits until the element exists, is enabled and has a size.
    ///
    /// - Throws: An error when another element covers it.
    public func click(_ selector: String) throws {
        let quoted = try Self.quote(selector)
        try wait(
            for: "(e => e && !e.disabled && e.getBoundingClientRect().width > 0)(document.querySelector(\(quoted)))")
        let place = try evaluate(
            """
            (() => {
                const element = document.querySelector(\(quoted));
                element.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
                const box = element.getBoundingClientRect();
                const x = box.x + box.width / 2, y = box.y + box.height / 2;
                const hit = document.elementFromPoint(x, y);
                return {x, y, hit: element.contains(hit) || hit?.contains(element) ? null : hit?.outerHTML.slice(0, 120) ?? 'nothing'};
            })()
            """, as: Place.self)
        if let hit = place.hit { throw Browser.Failure(description: "\(selector) is covered by \(hit)") }
        try click(x: place.x, y: place.y)
    }

    /// Clicks a place in CSS pixels of the viewport.
    public func click(x: Double, y: Double) throws {
        for (type, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = type == "mouseMoved" ? "none" : "left"
            try call(
                "Input.dispatchMouseEvent",
                ["type": type, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": type == "mouseMoved" ? 0 : 1])
        }
    }

    /// A text as a JavaScript string.
    public static func quote(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private struct Place: Decodable {
        var x: Double
        var y: Double
        /// The element that covers the place.
        var hit: String?
    }

    /// `KeyboardEvent.code` on a US keyboard.
    private static func code(of key: String) -> String {
        guard key.count == 1, let character = key.uppercased().first else { return key }
        if character.isLetter { return "Key\(character)" }
        if character.isNumber { return "Digit\(character)" }
        return [" ": "Space", "/": "Slash", ",": "Comma", ".": "Period", "-": "Minus", "=": "Equal"][key] ?? ""
    }

    /// `KeyboardEvent.keyCode`.
    private static func number(of key: String) -> Int {
        let named = [
            "Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
            "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "/": 191,
        ]
        if let number = named[key] { return number }
        return key.count == 1 ? key.uppercased().unicodeScalars.first.map { Int($0.value) } ?? 0 : 0
    }
}
