// The forms in which samples, texts, names, keys and files are sent.

const SAMPLE_MESSAGE_KIND = 1;
const SAMPLE_HEADER_BYTES = 24;
const SAMPLES_PER_MESSAGE = 2048;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_TEXT_BYTES = 1000;

/** Decodes a binary sample message. Returns null if it is not one. */
function decodeSamples(buffer) {
    if (buffer.byteLength !== SAMPLE_HEADER_BYTES + 4 * SAMPLES_PER_MESSAGE) return null;
    const view = new DataView(buffer);
    if (view.getUint32(0, true) !== SAMPLE_MESSAGE_KIND) return null;
    return {
        sequence: view.getUint32(4, true),
        frame: view.getFloat64(8, true),
        hostTime: view.getFloat64(16, true),
        samples: new Float32Array(buffer, SAMPLE_HEADER_BYTES, SAMPLES_PER_MESSAGE),
    };
}

/** Shortens a text to at most `limit` bytes of UTF-8, and replaces unpaired surrogates, which JSON in UTF-8 cannot contain. */
function shorten(text, limit = MAX_TEXT_BYTES) {
    const wellFormed = String(text).replace(/\p{Surrogate}/gu, "\ufffd");
    // Encodes whole characters only.
    const { read } = new TextEncoder().encodeInto(wellFormed, new Uint8Array(limit));
    return wellFormed.slice(0, read);
}

/** Text of an error or of any other thrown value. */
function describe(error) {
    try {
        if (error instanceof Error) return `${error.name}: ${error.message}`;
        return typeof error === "string" ? error : JSON.stringify(error) ?? String(error);
    } catch {
        return "unknown error";
    }
}

function encodeBase64(bytes) {
    // A multiple of three, and few enough for the arguments of a function.
    const CHUNK = 3 * 8192;
    const parts = [];
    for (let start = 0; start < bytes.length; start += CHUNK) {
        parts.push(btoa(String.fromCharCode.apply(null, bytes.subarray(start, start + CHUNK))));
    }
    return parts.join("");
}

function decodeBase64(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** Names of presets from the value of getPresetNames(): an array of names or objects, an object by name, or JSON text of these. */
function presetNames(value) {
    if (typeof value === "string") {
        try {
            value = JSON.parse(value);
        } catch {
            return [];
        }
    }
    if (!value || typeof value !== "object") return [];
    const list = Array.isArray(value) ? value : Object.keys(value);
    const names = list.map(presetName).filter((name) => name !== null).slice(0, 10000);
    // The names must fit into one message.
    let bytes = 0;
    const sent = names.filter((name) => (bytes += new TextEncoder().encode(JSON.stringify(name)).length + 1) < MAX_MESSAGE_BYTES - 1024);
    if (sent.length < names.length) console.warn(`hemiola: only ${sent.length} of ${names.length} presets are reported: 1 MiB`);
    return sent;
}

/** A preset's name from a message body or a function's value, or null. */
function presetName(value) {
    if (value && typeof value === "object") value = value.name ?? value.preset ?? value.presetName;
    if (typeof value !== "string" || value === "") return null;
    return shorten(value) === value ? value : null;
}

/** Key events from the body of a keyHandler message: a key's name alone is a key that was pressed and released. */
function keyEvents(body) {
    const key = body && typeof body === "object" ? body.key : body;
    if (typeof key !== "string" || key === "") return [];
    const event = body.event ?? body.type;
    return (event === "keydown" || event === "keyup" ? [event] : ["keydown", "keyup"]).map((event) => ({ key, event }));
}
