// Query parameters of the page.

const flag = (parameters, name) => parameters.has(name) && !["0", "false", "no"].includes(parameters.get(name));

function number(parameters, name, minimum, maximum) {
    const text = parameters.get(name);
    const value = text === null || text.trim() === "" ? NaN : Number(text);
    return Number.isFinite(value) ? Math.min(maximum, Math.max(minimum, value)) : null;
}

/**
 * Options of the page's address: transparent, bare (no controls), strobe (no limit of flashes), preset=NAME, seed=N, size=1280x720,
 * delay=SECONDS. Missing and invalid values are null or false.
 */
export function parseOptions(search) {
    const parameters = new URLSearchParams(search);
    const size = /^(\d{1,5})x(\d{1,5})$/i.exec(parameters.get("size") ?? "");
    const width = size ? Math.min(8192, Number(size[1])) : 0;
    const height = size ? Math.min(8192, Number(size[2])) : 0;
    const seed = number(parameters, "seed", 0, 2 ** 32 - 1);
    return {
        transparent: flag(parameters, "transparent"),
        bare: flag(parameters, "bare"),
        strobe: flag(parameters, "strobe"),
        preset: parameters.get("preset") || null,
        seed: seed === null ? null : Math.floor(seed),
        size: width >= 16 && height >= 16 ? { width, height } : null,
        delay: number(parameters, "delay", -1, 5),
    };
}
