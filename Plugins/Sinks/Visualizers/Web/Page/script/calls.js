// Calls of the page's functions, and files that the page imports.

const MAX_IMPORT_BYTES = 32 * 1024 * 1024;
// Hemiola accepts 512 levels in a message.
const MAX_DEPTH = 500;

let currentCall = null;
let currentImport = null;
// Calls that were cancelled and whose functions still run: which function reports its progress is then unknown.
const cancelledCalls = new Set();

/** Calls a function of the page and sends its value. A value that is not JSON, an exception and a missing function are answers too. */
async function call(number, name, values) {
    const running = { number };
    currentCall = running;
    const answer = { type: "result", call: number };
    try {
        const target = pageFunction(name);
        if (!target) throw new Error(`the page has no function ${shorten(name, 100)}`);
        answer.value = (await target(...values)) ?? null;
        if (JSON.stringify(answer.value) === undefined) answer.value = null;
    } catch (error) {
        delete answer.value;
        answer.error = shorten(describe(error));
    }
    if (currentCall === running) currentCall = null;
    if (cancelledCalls.delete(running)) return;
    if (depth(answer.value) > MAX_DEPTH) {
        delete answer.value;
        answer.error = `the result has more than ${MAX_DEPTH} levels`;
    }
    if (!transmit(answer)) transmit({ type: "result", call: number, error: "the result is longer than 1 MiB" });
}

/** The number of levels of a value that is a list or an object, at most MAX_DEPTH + 1. */
function depth(value) {
    let level = [value];
    for (let count = 0; count <= MAX_DEPTH; count++) {
        level = level.filter((item) => item !== null && typeof item === "object");
        if (level.length === 0) return count;
        level = level.flatMap((item) => Object.values(item));
    }
    return MAX_DEPTH + 1;
}

/** The host waits no longer for the answer to a call. */
function cancel(number) {
    if (currentImport?.number === number) {
        currentImport = null;
    } else if (currentCall?.number === number) {
        cancelledCalls.add(currentCall);
        currentCall = null;
    }
}

function beginImport({ call: number, name, size }) {
    currentImport = { number, name, size, received: 0, chunks: [] };
    if (!pageFunction("importFile")) return failImport("the page has no function importFile");
    if (!(size <= MAX_IMPORT_BYTES)) return failImport("the file is larger than 32 MiB");
    acknowledgeImport();
}

function continueImport({ call: number, data }) {
    if (currentImport?.number !== number) return;
    try {
        const bytes = decodeBase64(data);
        currentImport.chunks.push(bytes);
        currentImport.received += bytes.length;
    } catch {
        return failImport("invalid base64");
    }
    acknowledgeImport();
}

function acknowledgeImport() {
    const { number, name, size, received, chunks } = currentImport;
    if (received > size) return failImport("more data than announced");
    if (received < size) return void transmit({ type: "importReady", call: number });
    currentImport = null;
    call(number, "importFile", [name, encodeBase64(chunks)]);
}

function failImport(error) {
    transmit({ type: "result", call: currentImport.number, error });
    currentImport = null;
}
