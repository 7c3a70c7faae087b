// Search in pages that are opened as files. Browsers start no worker from a file: URL, so this class runs the worker's script in an iframe
// of the page, with the functions of a worker that the search uses: postMessage, the event "message" and importScripts.
if (location.protocol === "file:") {
    window.IFrameWorker = window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            this.waiting = [];
            const frame = document.createElement("iframe");
            frame.hidden = true;
            frame.addEventListener("load", () => this.start(frame.contentWindow, url), { once: true });
            document.body.append(frame);
        }

        start(scope, url) {
            const load = (source) => new Promise((resolve, reject) => {
                const script = scope.document.createElement("script");
                script.src = source;
                script.onload = resolve;
                script.onerror = () => reject(new Error(`${source} could not be loaded`));
                scope.document.head.append(script);
            });
            scope.importScripts = (...sources) => sources.reduce((done, source) => done.then(() => load(source)), Promise.resolve());
            scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
            load(url).then(() => {
                this.scope = scope;
                this.waiting.splice(0).forEach((data) => this.postMessage(data));
            });
        }

        postMessage(data) {
            if (this.scope) this.scope.dispatchEvent(new MessageEvent("message", { data }));
            else this.waiting.push(data);
        }
    };
}
