internal import CCairo
package import HemiolaSystem

extension SharedLibrary {
    package static let cairo = SharedLibrary(
        "cairo", soname: "libcairo.so.2", package: "libcairo2", minimumVersion: "1.16", licence: "LGPL-2.1-only OR MPL-1.1",
        relation: .suggests, use: "hemiola render", versionSymbol: .textFunction("cairo_version_string"))
}

/// A surface of cairo. Only this file calls cairo.
///
/// Coordinates are pixels, points in SVG and PDF, from the upper left corner.
struct Canvas: ~Copyable {
    enum Horizontal {
        case left, center, right
    }

    enum Vertical {
        case baseline, middle
    }

    /// The bytes that cairo writes.
    private final class Output {
        var bytes: [UInt8] = []
    }

    let format: PictureOptions.Format
    private let surface: OpaquePointer
    private let context: OpaquePointer
    private let output = Output()
    /// The name of the font: the sans-serif font of the system, or cairo's own outlines if no font is installed.
    private let fontName: String
    private static let ownFont = "@cairo:sans-serif"

    /// Why cairo cannot be used, with the package to install; nil if it can.
    static var libraryFault: String? {
        ccairo_load().map { "cannot draw pictures: \(String(cString: $0)); \(SharedLibrary.cairo.remedy)" }
    }

    /// - Parameter title: The title in the properties of a PDF.
    init(_ format: PictureOptions.Format, width: Int, height: Int, title: String) throws(Problem) {
        if let fault = Self.libraryFault { throw Problem(fault) }
        self.format = format
        // Unsafe: cairo calls this with the object below, which lives as long as the surface.
        let write: cairo_write_func_t = { closure, data, length in
            guard let closure, let data else { return 11 }
            let output = Unmanaged<Output>.fromOpaque(closure).takeUnretainedValue()
            output.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(length)))
            return 0
        }
        let closure = Unmanaged.passUnretained(output).toOpaque()
        switch format {
        case .png:
            surface = cairo_image_surface_create(CCAIRO_FORMAT_RGB24, Int32(width), Int32(height))
        case .svg:
            surface = cairo_svg_surface_create_for_stream(write, closure, Double(width), Double(height))
        case .pdf:
            surface = cairo_pdf_surface_create_for_stream(write, closure, Double(width), Double(height))
            cairo_pdf_surface_set_metadata(surface, CCAIRO_PDF_TITLE, title)
            // A fixed date, so that the same input gives the same bytes.
            cairo_pdf_surface_set_metadata(surface, CCAIRO_PDF_CREATE_DATE, "2000-01-01T00:00:00Z")
        }
        context = cairo_create(surface)
        fontName = Self.findFont()
        let options = cairo_font_options_create()
        cairo_font_options_set_antialias(options, CCAIRO_ANTIALIAS_GRAY)
        let isPixels = format == .png
        cairo_font_options_set_hint_style(
            options, isPixels ? CCAIRO_HINT_STYLE_SLIGHT : CCAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CCAIRO_HINT_METRICS_OFF)
        cairo_set_font_options(context, options)
        cairo_font_options_destroy(options)
        cairo_set_line_join(context, CCAIRO_LINE_JOIN_ROUND)
    }

    deinit {
        cairo_destroy(context)
        // Before the object that receives the bytes is released.
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
    }

    /// Without an installed font, cairo uses its own outlines, and texts have the same width as with these; or it reports an error, which
    /// ends a context.
    private static func findFont() -> String {
        let surface = cairo_image_surface_create(CCAIRO_FORMAT_RGB24, 1, 1)
        let context = cairo_create(surface)
        defer {
            cairo_destroy(context)
            cairo_surface_destroy(surface)
        }
        func width(_ font: String) -> Double {
            var extents = cairo_text_extents_t()
            cairo_select_font_face(context, font, 0, CCAIRO_WEIGHT_NORMAL)
            cairo_set_font_size(context, 100)
            cairo_text_extents(context, "0123 Wide mill", &extents)
            return extents.x_advance
        }
        let (own, system) = (width(ownFont), width("sans-serif"))
        return cairo_status(context) == 0 && system > 0 && system != own ? "sans-serif" : ownFont
    }

    /// The file.
    consuming func finish(resolution: Int) throws(Problem) -> [UInt8] {
        if format == .png {
            let closure = Unmanaged.passUnretained(output).toOpaque()
            _ = cairo_surface_write_to_png_stream(
                surface,
                { closure, data, length in
                    guard let closure, let data else { return 11 }
                    let output = Unmanaged<Output>.fromOpaque(closure).takeUnretainedValue()
                    output.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(length)))
                    return 0
                }, closure)
        }
        let status = cairo_status(context)
        cairo_surface_finish(surface)
        let code = status != 0 ? status : cairo_surface_status(surface)
        guard code == 0, !output.bytes.isEmpty else {
            throw Problem("cannot draw the picture: cairo: \(String(cString: cairo_status_to_string(code)))")
        }
        return format == .png ? PNGResolution.insert(resolution, into: output.bytes) : output.bytes
    }

    // MARK: - Shapes

    private func setColor(_ color: Color) {
        cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
    }

    func fill(_ rect: Rect, _ color: Color) {
        setColor(color)
        cairo_rectangle(context, rect.x, rect.y, rect.width, rect.height)
        cairo_fill(context)
    }

    /// The border of a rectangle, inside of it.
    func frame(_ rect: Rect, width: Double, _ color: Color) {
        setColor(color)
        cairo_set_line_width(context, width)
        cairo_rectangle(context, rect.x + width / 2, rect.y + width / 2, rect.width - width, rect.height - width)
        cairo_stroke(context)
    }

    func stroke(_ points: [(x: Double, y: Double)], width: Double, _ color: Color) {
        guard trace(points) else { return }
        setColor(color)
        cairo_set_line_width(context, width)
        cairo_stroke(context)
    }

    func fill(_ points: [(x: Double, y: Double)], _ color: Color) {
        guard trace(points) else { return }
        setColor(color)
        cairo_close_path(context)
        cairo_fill(context)
    }

    private func trace(_ points: [(x: Double, y: Double)]) -> Bool {
        guard points.count > 1 else { return false }
        cairo_move_to(context, points[0].x, points[0].y)
        for point in points.dropFirst() { cairo_line_to(context, point.x, point.y) }
        return true
    }

    /// Restricts what is drawn to a rectangle until `unclip`.
    func clip(_ rect: Rect) {
        cairo_save(context)
        cairo_rectangle(context, rect.x, rect.y, rect.width, rect.height)
        cairo_clip(context)
    }

    func unclip() {
        cairo_restore(context)
    }

    /// Draws pixels, row by row, 0xRRGGBB, scaled to a rectangle.
    func draw(_ pixels: inout [UInt32], width: Int, height: Int, in rect: Rect) {
        let format = CCAIRO_FORMAT_RGB24
        pixels.withUnsafeMutableBytes { bytes in
            // Safe: SVG and PDF surfaces copy the pixels before the image is finished below.
            let image = cairo_image_surface_create_for_data(
                bytes.bindMemory(to: UInt8.self).baseAddress, format, Int32(width), Int32(height), Int32(4 * width))
            cairo_save(context)
            cairo_rectangle(context, rect.x, rect.y, rect.width, rect.height)
            cairo_clip(context)
            cairo_translate(context, rect.x, rect.y)
            cairo_scale(context, rect.width / Double(width), rect.height / Double(height))
            cairo_set_source_surface(context, image, 0, 0)
            let isExact = self.format == .png
            cairo_pattern_set_filter(
                cairo_get_source(context), isExact ? CCAIRO_FILTER_NEAREST : CCAIRO_FILTER_GOOD)
            cairo_pattern_set_extend(cairo_get_source(context), CCAIRO_EXTEND_PAD)
            cairo_paint(context)
            cairo_restore(context)
            cairo_surface_finish(image)
            cairo_surface_destroy(image)
        }
    }

    // MARK: - Text

    private func setFont(_ size: Double, isBold: Bool) {
        cairo_select_font_face(
            context, fontName, 0, isBold ? CCAIRO_WEIGHT_BOLD : CCAIRO_WEIGHT_NORMAL)
        cairo_set_font_size(context, size)
    }

    /// cairo's own outlines are those of ASCII.
    private func drawable(_ text: String) -> String {
        guard fontName == Self.ownFont else { return text }
        let replacements: [Character: String] = ["\u{2212}": "-", "∞": "inf", "·": ",", "…": "...", "♯": "#", "♭": "b"]
        return text.map { $0.isASCII ? String($0) : replacements[$0] ?? "?" }.joined()
    }

    /// The width of a text.
    func width(of text: String, size: Double, isBold: Bool = false) -> Double {
        setFont(size, isBold: isBold)
        var extents = cairo_text_extents_t()
        cairo_text_extents(context, drawable(text), &extents)
        return extents.x_advance
    }

    /// Draws a line of text.
    ///
    /// - Parameters:
    ///   - vertical: The line of the text at `y`: the baseline, or the middle of its digits.
    ///   - isUpward: Whether the text is turned by 90° and reads from bottom to top.
    func text(
        _ text: String, x: Double, y: Double, size: Double, _ color: Color, _ horizontal: Horizontal = .left,
        _ vertical: Vertical = .baseline, isBold: Bool = false, isUpward: Bool = false
    ) {
        let text = drawable(text)
        guard !text.isEmpty else { return }
        setFont(size, isBold: isBold)
        var extents = cairo_text_extents_t()
        cairo_text_extents(context, text, &extents)
        var digit = cairo_text_extents_t()
        cairo_text_extents(context, "0", &digit)
        let left =
            switch horizontal {
            case .left: 0.0
            case .center: -extents.x_advance / 2
            case .right: -extents.x_advance
            }
        let down = vertical == .middle ? digit.height / 2 : 0
        setColor(color)
        cairo_save(context)
        // Whole pixels keep the outlines of equal digits equal.
        if format == .png, !isUpward {
            cairo_translate(context, (x + left).rounded(), (y + down).rounded())
        } else {
            cairo_translate(context, x, y)
            if isUpward { cairo_rotate(context, -Double.pi / 2) }
            cairo_translate(context, left, down)
        }
        cairo_move_to(context, 0, 0)
        cairo_show_text(context, text)
        cairo_restore(context)
    }
}
