// Calls of the page's functions, and files that the page imports.

// Hemiola accepts 512 levels in a message.
const MAX_DEPTH = 500;

let currentCall = null;
// Calls that were cancelled and whose functions still run: which function reports its progress is then unknown.
const cancelledCalls = new Set();

/**
 * Calls a function of the page and sends its value. A value that is not JSON, an exception and a missing function are answers too.
 * `address`: that of a file whose bytes, as base64, become the second value.
 */
async function call(number, name, values, address) {
    const running = { number };
    currentCall = running;
    const answer = { type: "result", call: number };
    try {
        const target = pageFunction(name);
        if (!target) throw new Error(`the page has no function ${shorten(name, 100)}`);
        if (address) values[1] = encodeBase64(await fileBytes(address));
        if (currentCall !== running) throw new Error("the call was cancelled");
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
    if (currentCall?.number !== number) return;
    cancelledCalls.add(currentCall);
    currentCall = null;
}

/** The bytes of a file that Hemiola serves once. */
async function fileBytes(address) {
    const url = new URL(address, scriptAddress);
    const token = accessToken();
    if (token) url.searchParams.set("token", token);
    const response = await fetch(url);
    if (!response.ok) throw new Error((await response.text()).trim());
    return new Uint8Array(await response.arrayBuffer());
}
