// The errors of the page, which become warnings of Hemiola.

const MAX_ERRORS_PER_MINUTE = 20;

const waitingErrors = [];
let errorTimes = [];

function report(error, source, line) {
    const now = performance.now();
    errorTimes = errorTimes.filter((time) => now - time < 60000);
    if (errorTimes.length >= MAX_ERRORS_PER_MINUTE) return;
    errorTimes.push(now);
    const message = { type: "pageError", message: shorten(describe(error)) };
    if (source) message.source = shorten(String(source).replace(/([?&]token=)[^&]*/, "$1…"));
    if (Number.isInteger(line) && line > 0) message.line = line;
    if (!transmit(message) && waitingErrors.length < MAX_ERRORS_PER_MINUTE) waitingErrors.push(message);
}

window.addEventListener("error", (event) => {
    // A page that includes this script itself gets it twice.
    if (event.message?.includes("hemiolaInitial")) return event.preventDefault();
    if (!event.message) return;
    report(event.message, event.filename, event.lineno);
    reportToWindow("exception", `${event.message} (${String(event.filename).split("/").pop()}:${event.lineno})`);
});
window.addEventListener("unhandledrejection", (event) => {
    report(event.reason);
    reportToWindow("exception", `unhandled rejection: ${describe(event.reason)}`);
});
