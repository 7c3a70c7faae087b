import CWebKit
import WindowCore

// Full screen, keys and pointer.

extension WindowController {
    func setFullScreen(_ value: Bool) {
        guard value else { return gtk_window_unfullscreen(window) }
        guard let number = arguments.monitor else { return gtk_window_fullscreen(window) }
        let monitors = gdk_display_get_monitors(gdk_display_get_default())
        let count = g_list_model_get_n_items(monitors)
        guard number <= Int(count), let monitor = g_list_model_get_item(monitors, guint(number - 1)) else {
            printMessage("--monitor: \(number): there are \(count) monitors; the window's own is used")
            return gtk_window_fullscreen(window)
        }
        gtk_window_fullscreen_on_monitor(window, OpaquePointer(monitor))
        g_object_unref(monitor)
    }

    func fullScreenChanged() {
        isFullScreen = gtk_window_is_fullscreen(window) != 0
        updateTabBar()
        selectedPage?.readinessChanged()
        if isFullScreen { startCursorTimer() } else { showCursor() }
    }

    // MARK: - Keys and pointer

    func addKeys() {
        let keys = gtk_event_controller_key_new()!
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        handle(UnsafeMutableRawPointer(keys), "key-pressed", self) { controller, values in
            controller.pressed(Int32(bitPattern: values.unsigned(0)), values.flags(2))
        }
        gtk_widget_add_controller(cast(window!), keys)
    }

    /// Handles a key of the window. Returns false for a key of the page.
    func pressed(_ key: Int32, _ modifiers: UInt32) -> Bool {
        let control = modifiers & GDK_CONTROL_MASK.rawValue != 0
        let alt = modifiers & GDK_ALT_MASK.rawValue != 0
        let shift = modifiers & GDK_SHIFT_MASK.rawValue != 0
        // With Shift or Caps Lock, letters are others.
        switch (Int32(bitPattern: gdk_keyval_to_lower(guint(bitPattern: key))), control, alt) {
        case (GDK_KEY_F11, false, false): setFullScreen(!isFullScreen)
        case (GDK_KEY_Escape, false, false) where isFullScreen: setFullScreen(false)
        case (GDK_KEY_F12, false, false):
            guard let page = selectedPage else { return false }
            guard arguments.inspects else {
                printMessage("F12: start the window with --inspect to open the inspector")
                return true
            }
            webkit_web_inspector_show(webkit_web_view_get_inspector(page.view))
        case (GDK_KEY_r, true, false), (GDK_KEY_F5, false, false): reload()
        case (GDK_KEY_plus, true, false), (GDK_KEY_equal, true, false), (GDK_KEY_KP_Add, true, false): selectedPage?.zoom(by: PageZoom.step)
        case (GDK_KEY_minus, true, false), (GDK_KEY_KP_Subtract, true, false): selectedPage?.zoom(by: 1 / PageZoom.step)
        case (GDK_KEY_0, true, false), (GDK_KEY_KP_0, true, false): selectedPage?.zoom(by: nil)
        case (GDK_KEY_Left, false, true): selectedPage?.goBack()
        case (GDK_KEY_Right, false, true): selectedPage?.goForward()
        case (GDK_KEY_Tab, true, false) where !shift, (GDK_KEY_Page_Down, true, false) where !shift: select(tabs.next.id)
        case (GDK_KEY_Tab, true, false), (GDK_KEY_ISO_Left_Tab, true, false),
            (GDK_KEY_Page_Up, true, false) where !shift:
            select(tabs.previous.id)
        case (GDK_KEY_o, true, false) where !shift, (GDK_KEY_t, true, false) where !shift: choosePage()
        case (GDK_KEY_w, true, false) where !shift: closeTab(tabs.selection)
        case (GDK_KEY_w, true, false), (GDK_KEY_q, true, false): close()
        default: return false
        }
        return true
    }

    func addPointer() {
        let motion = gtk_event_controller_motion_new()!
        gtk_event_controller_set_propagation_phase(motion, GTK_PHASE_CAPTURE)
        connect(UnsafeMutableRawPointer(motion), "motion", self) { controller, values in
            controller.moved(values.number(0), values.number(1))
        }
        gtk_widget_add_controller(cast(window!), motion)

        let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)!
        gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
        handle(UnsafeMutableRawPointer(wheel), "scroll", self) { controller, values in
            let (state, y) = (gtk_event_controller_get_current_event_state(wheel), values.number(1))
            guard state.rawValue & GDK_CONTROL_MASK.rawValue != 0, y != 0 else { return false }
            controller.selectedPage?.zoom(by: y < 0 ? PageZoom.step : 1 / PageZoom.step)
            return true
        }
        gtk_widget_add_controller(cast(window!), wheel)

        let buttons = gtk_gesture_click_new()!
        gtk_gesture_single_set_button(buttons, 0)
        gtk_event_controller_set_propagation_phase(buttons, GTK_PHASE_CAPTURE)
        connect(UnsafeMutableRawPointer(buttons), "pressed", self) { controller, _ in
            // The buttons for back and forward of a mouse.
            switch gtk_gesture_single_get_current_button(buttons) {
            case 8: controller.selectedPage?.goBack()
            case 9: controller.selectedPage?.goForward()
            default: break
            }
        }
        gtk_widget_add_controller(cast(window!), buttons)
    }

    func moved(_ x: Double, _ y: Double) {
        // GTK also sends this event when what is under the pointer changes.
        guard abs(x - lastPointer.x) + abs(y - lastPointer.y) > 1 else { return }
        lastPointer = (x, y)
        showCursor()
        if isFullScreen { startCursorTimer() }
    }

    func startCursorTimer() {
        cursorTimer?.stop()
        cursorTimer = Timer(every: Self.cursorSeconds) { [unowned self] in
            cursorTimer = nil
            if isFullScreen, let page = selectedPage {
                isCursorHidden = true
                gtk_widget_set_cursor_from_name(cast(page.view), "none")
            }
            return false
        }
    }

    func showCursor() {
        cursorTimer?.stop()
        cursorTimer = nil
        guard isCursorHidden else { return }
        isCursorHidden = false
        for page in pages.values { gtk_widget_set_cursor_from_name(cast(page.view), nil) }
    }
}
