// Types of hemiola.js, the page script. Messages are described in "Visualizers" of HemiolaBridge's documentation.

/** A message of the protocol: one JSON object with a type. */
export interface HemiolaMessage {
    type: string;
    [field: string]: unknown;
}

/** Answer to a request. */
export interface HemiolaReply {
    ok: boolean;
    /** The reason if `ok` is false, else null. */
    error: string | null;
    /** Result of a `call` or `import`. */
    value?: unknown;
}

/** 1024 stereo frames. */
export interface HemiolaSamples {
    /** 2048 interleaved samples L R L R … in −1…1. Valid during the event and afterwards: each message has its own array. */
    samples: Float32Array;
    /** Position of the first frame in the stream. */
    frame: number;
    /** Number of the message; a gap shows dropped messages. Null if the server sends JSON samples. */
    sequence: number | null;
}

export interface HemiolaConnection {
    connected: boolean;
    /** True after closeViz or disconnect(): the connection is not opened again automatically. */
    closed: boolean;
    /** Number of failed attempts since the connection was lost. */
    attempt: number;
    /** Milliseconds to the next attempt, or null. */
    retry_ms?: number | null;
}

/** A beat record: usually announced before its time `t`, else found after it. */
export interface HemiolaBeat extends HemiolaMessage {
    type: "beat";
    /** Seconds from this message to the beat. Negative: it has sounded already. So wait for Math.max(0, due_in_s). */
    due_in_s: number;
    /** Stream time in seconds. */
    t: number;
    bpm: number | null;
    /** Position in the bar, from 1, or null. */
    position: number | null;
    confidence: number;
}

/** A stroke of a drum, in a run with `beat:drums=true`: heard, or expected and announced before its time `t`. */
export interface HemiolaDrum extends HemiolaMessage {
    type: "drum" | "expected_drum";
    /** Stream time in seconds. */
    t: number;
    voice: "kick" | "snare" | "hihat";
    /** 1 is typical of the drum. */
    strength: number;
    /** Of `drum`: whether it was announced. */
    expected?: boolean;
    /** Of `expected_drum`: seconds from this message to the stroke. */
    due_in_s?: number;
}

/** First message of a connection, and of every new stream. */
export interface HemiolaHello extends HemiolaMessage {
    type: "hello";
    sample_rate: number;
    channels: number;
    source: { kind: string; name: string | null; [field: string]: unknown };
    /** The analyzers with their outputs, as in the `header` record. A `batch` record has their values under `id`. */
    analyzers: { id: string; plugin: string; outputs: { name: string; unit: string; count: number; [field: string]: unknown }[] }[];
    records: { name: string; description: string; fields: unknown[] }[];
    controls: { name: string; description: string; fields: unknown[] }[];
    visualizer: {
        preset: string | null; speed: number | null; cycling: boolean | null; next_in_s: number | null; favourites: string[];
    };
}

export interface HemiolaEventMap {
    connection: CustomEvent<HemiolaConnection>;
    samples: CustomEvent<HemiolaSamples>;
    hello: CustomEvent<HemiolaHello>;
    beat: CustomEvent<HemiolaBeat>;
    drum: CustomEvent<HemiolaDrum>;
    expected_drum: CustomEvent<HemiolaDrum>;
    /** A control that was handled, with its fields. */
    control: CustomEvent<HemiolaMessage & { control: string }>;
    delay: CustomEvent<{ delay: number }>;
    setSpeed: CustomEvent<{ type: "setSpeed"; speed: number }>;
    loadPresetByName: CustomEvent<{ type: "loadPresetByName"; name: string; blend_s: number }>;
}

/** `window.hemiola`. Besides the events of the map, every message is an event with the name of its type and the message as detail. */
export interface Hemiola extends EventTarget {
    readonly connected: boolean;
    readonly closed: boolean;
    /** The last `hello`, or null. */
    readonly hello: HemiolaHello | null;
    /** Duration in seconds of the transition to the preset of the last loadPresetByName; 0 is a hard cut. */
    readonly blendSeconds: number;
    /** Frames per second of the stream; NaN before the first `hello`. */
    readonly sampleRate: number;
    /** Seconds, −1…5, that the page adds to the time at which it shows sound. Stored per browser and server. */
    delay: number;
    /** Sets the delay; without `store` for this page view only. */
    setDelay(seconds: number, store?: boolean): void;
    /** Stream time in seconds of the sound that is audible now, without `delay`; NaN before the first samples. */
    now(): number;
    /** Value of performance.now() in milliseconds at a stream time in seconds, without `delay`. */
    toLocalTime(streamTime: number): number;
    /** Stream time in seconds at a value of performance.now(), without `delay`. */
    toStreamTime(localTime: number): number;
    /** Sends a message, and returns the reply. Rejects if the connection is or becomes closed. */
    send(message: HemiolaMessage): Promise<HemiolaReply>;
    /** Selects the received streams: record types and "pushSamples". */
    subscribe(streams: string[]): Promise<HemiolaReply>;
    /** Reports the progress of the call that the page works on. */
    progress(value: unknown): void;
    /** Opens the connection at once, also after closeViz. */
    connect(): void;
    disconnect(): void;
    addEventListener<Name extends keyof HemiolaEventMap>(
        type: Name, listener: (event: HemiolaEventMap[Name]) => void, options?: boolean | AddEventListenerOptions): void;
    addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

export interface HemiolaMessageHandler<Body = unknown> {
    postMessage(body: Body): void;
}

declare global {
    /** What Hemiola knows when the page is loaded. Pages read it from `initialPresetNameB64` and `initialSpeed`. */
    const hemiolaInitial: { presetB64?: string | null; speed?: number | null; handlers: string[]; windowKey?: string } | null;

    interface Window {
        hemiola: Hemiola;
        /** In `hemiola window` only: requests an action of the window, and resolves to its answer. */
        hemiolaWindow?: { request(action: string, value?: unknown): Promise<any> };
        webkit: {
            messageHandlers: {
                /** The page has changed the preset: its name. */
                presetHandler: HemiolaMessageHandler<string | { name: string }>;
                /** The page has changed the speed: 0.1…1.0. */
                speedHandler: HemiolaMessageHandler<number | { speed: number }>;
                /** A key; the name alone means pressed and released. */
                keyHandler: HemiolaMessageHandler<string | { key: string; event: "keydown" | "keyup" }>;
                closeViz: HemiolaMessageHandler;
                /** Handlers of the setting `handlers`: the body, at most 1024 bytes of JSON, becomes a `message` record. */
                [name: string]: HemiolaMessageHandler<any>;
            };
        };
        /** The current preset's name, UTF-8 in base64; set before the page's scripts run if it is known. */
        initialPresetNameB64?: string;
        initialSpeed?: number;

        // Functions of the page, all optional. They may return promises.
        /** 2048 interleaved samples of 1024 stereo frames, 43 times per second at 44.1 kHz. */
        pushSamples?(samples: number[]): void;
        /** Sound begins or continues: resume the AudioContext. Called again at the first gesture; the result is not awaited. */
        resumeAudio?(): void | Promise<void>;
        setSpeed?(speed: number): void;
        /** An exception or a rejection reports that the page cannot show the preset. */
        loadPresetByName?(name: string): void | Promise<void>;
        getPresetNames?(): string[] | Promise<string[]>;
        getCurrentPreset?(): string | null | Promise<string | null>;
        /** A file from `hemiola send import FILE`. The value is the command's output. */
        importFile?(name: string, base64: string): unknown;
    }
}
