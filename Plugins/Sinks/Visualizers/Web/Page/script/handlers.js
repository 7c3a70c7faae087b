// The messages of the page: webkit.messageHandlers, as in a native web view.

const STANDARD_HANDLERS = ["presetHandler", "speedHandler", "keyHandler", "closeViz"];

function post(handler, body) {
    switch (handler) {
        case "presetHandler": {
            const name = presetName(body);
            if (name !== null) transmit({ type: "presetHandler", name });
            break;
        }
        case "speedHandler": {
            const speed = Number(body && typeof body === "object" ? body.speed ?? body.value : body);
            if (Number.isFinite(speed)) transmit({ type: "speedHandler", speed });
            break;
        }
        case "keyHandler":
            for (const event of keyEvents(body)) transmit({ type: "keyHandler", ...event });
            break;
        case "closeViz":
            hemiola.closed = true;
            transmit({ type: "closeViz" });
            setTimeout(() => hemiola.closed && hemiola.disconnect(), 500);
            break;
        default: {
            const text = JSON.stringify(body) ?? "null";
            if (shorten(text, 1024) === text) transmit({ type: "pageMessage", handler, body: text });
            else console.warn(`hemiola: ${handler}: the message is longer than 1024 bytes`);
        }
    }
}

window.webkit ??= /** @type {Window["webkit"]} */ ({});
const handlers = (window.webkit.messageHandlers ??= /** @type {Window["webkit"]["messageHandlers"]} */ ({}));
for (const name of [...STANDARD_HANDLERS, ...(hemiolaInitial?.handlers ?? [])]) {
    if (!Object.hasOwn(handlers, name)) handlers[name] = { postMessage: (body) => post(name, body) };
}
if (typeof hemiolaInitial?.presetB64 === "string") window.initialPresetNameB64 = hemiolaInitial.presetB64;
if (typeof hemiolaInitial?.speed === "number") window.initialSpeed = hemiolaInitial.speed;
