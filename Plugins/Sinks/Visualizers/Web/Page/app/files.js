// Files that are dropped on the page, or passed to it by `hemiola send import`: presets of the user.

import { decodeBase64, onClick, showMessage } from "./dom.js";

/** Every file that was dropped, also in folders. */
async function droppedFiles(items) {
    const files = [];
    const visit = async (entry) => {
        if (entry.isFile) return void files.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
        const reader = entry.createReader();
        for (;;) {
            const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
            if (entries.length === 0) return;
            for (const next of entries) await visit(next);
        }
    };
    // The list of items is empty after this turn. What a script drops has no entries.
    const dropped = [...items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
    for (const entry of dropped) {
        if (entry instanceof File) files.push(entry);
        else await visit(entry);
    }
    return files;
}

/** Adds files, and shows the first preset of them. Returns the names of the presets, and a text for the user. */
async function addFiles(user, presets, files) {
    const { added, names, failures } = await user.add(files);
    if (names.length > 0) presets.choose(names[0], 1);
    const refused = failures.length > 1 ? `${failures[0]}; ${failures.length - 1} more were refused` : failures[0];
    if (added.length === 0) throw new Error(refused ?? "there is no file");
    const hint = names.length === 0 ? ". Presets need Butterchurn and a preset or a pack" : "";
    const text = names.length > 1 ? `${names.length} presets` : names[0] ?? added[0];
    return { names, text: `${text} added${hint}${refused ? `. ${refused}` : ""}` };
}

export function connectFiles(user, presets) {
    window.importFile = async (name, base64) => {
        return (await addFiles(user, presets, [new File([decodeBase64(base64)], name)])).names;
    };
    window.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    window.addEventListener("drop", async (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        try {
            showMessage((await addFiles(user, presets, await droppedFiles(event.dataTransfer.items))).text);
        } catch (error) {
            showMessage(error.message);
        }
    });
    onClick("forget", () => user.forgetDropped());
}
