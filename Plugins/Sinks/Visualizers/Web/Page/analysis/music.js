// Values for the presets, derived from the page's frames: smoothed drive and kick, a continuous beat count, and the textures of
// waveform, spectrum and past spectra. Depends on the frames only, not on the clock.

const HISTORY_ROWS = 256;
const ROWS_PER_SECOND = 30;

/// The share by which a value approaches its target in `dt` seconds with the time constant `seconds`.
function approach(dt, seconds) {
    return 1 - Math.exp(-dt / Math.max(seconds, 1e-4));
}

function smoothstep(low, high, value) {
    const x = Math.min(1, Math.max(0, (value - low) / (high - low)));
    return x * x * (3 - 2 * x);
}

/// Follows the frames of the page. `follow(frame)` returns the frame for the presets: the page's fields and
/// `step` (seconds of motion: dt times speed), `drive` (0 in silence … 1), `kick` (0…1), `beats` (continuous count of beats, at a slow
/// idle tempo without bpm).
export class MusicFollower {
    constructor({ reducedMotion = false } = {}) {
        this.reducedMotion = reducedMotion;
        this.frame = {
            step: 0, dt: 0, drive: 0, kick: 0, beats: 0,
            waveform: new Float32Array(1024), left: new Float32Array(1024), right: new Float32Array(1024), spectrum: new Float32Array(256),
            bands: { bass: 1, mid: 1, treb: 1, bass_att: 1, mid_att: 1, treb_att: 1 },
            beat: { pulse: 0, phase: 0, bar: null, beatsPerBar: 4 },
        };
    }

    follow(input) {
        const { frame, reducedMotion } = this;
        const dt = Math.min(0.1, input.dt);
        frame.dt = dt;
        frame.step = dt * input.speed * (reducedMotion ? 0.35 : 1);
        for (const name of ["waveform", "left", "right", "spectrum"]) frame[name] = input[name];

        for (const name of ["bass", "mid", "treb"]) {
            const slow = Math.min(4, input.bands[`${name}_att`]);
            const fast = Math.min(4, input.bands[name]);
            const share = approach(dt, reducedMotion ? 0.8 : 0.02);
            frame.bands[name] += share * ((reducedMotion ? slow : fast) - frame.bands[name]);
            frame.bands[`${name}_att`] += approach(dt, reducedMotion ? 1.2 : 0.12) * (slow - frame.bands[`${name}_att`]);
        }

        const loud = input.silent ? 0 : smoothstep(0, 0.22, input.level);
        frame.drive += approach(dt, loud > frame.drive ? 0.35 : 1.4) * (loud - frame.drive);
        const hit = input.silent ? 0 : smoothstep(1.05, 2.1, frame.bands.bass);
        frame.kick += approach(dt, hit > frame.kick ? 0.03 : 0.22) * (hit - frame.kick);
        if (reducedMotion) frame.kick *= 0.5;

        const { bpm, phase, bar, beatsPerBar, pulse } = input.beat;
        if (bpm !== null) {
            let error = phase - (frame.beats - Math.trunc(frame.beats));
            error -= Math.round(error);
            frame.beats += Math.max(0, (dt * bpm) / 60 + error * approach(dt, 0.12));
        } else {
            frame.beats += frame.step * (0.25 + 0.5 * frame.drive);
        }
        frame.beat.bar = bar;
        frame.beat.beatsPerBar = beatsPerBar;
        frame.beat.phase = bpm === null ? frame.beats - Math.trunc(frame.beats) : phase;
        frame.beat.pulse = reducedMotion ? 0 : pulse;
        return frame;
    }
}

/// The textures and uniforms that all presets share.
export class MusicTextures {
    constructor(graphics) {
        const { gl } = graphics;
        this.graphics = graphics;
        this.waveData = new Float32Array(1024 * 2);
        this.wave = graphics.texture(1024, 1, [gl.RG16F, gl.RG, gl.FLOAT], { data: this.waveData });
        this.spectrum = graphics.texture(256, 1, [gl.R16F, gl.RED, gl.FLOAT], { data: new Float32Array(256) });
        this.history = graphics.texture(256, HISTORY_ROWS, [gl.R16F, gl.RED, gl.FLOAT], {
            wrap: gl.REPEAT, data: new Float32Array(256 * HISTORY_ROWS),
        });
        this.rows = 2;
        this.part = 0;
    }

    update(frame, uniforms) {
        const { gl } = this.graphics;
        const { waveData } = this;
        for (let index = 0; index < 1024; index += 1) {
            waveData[index * 2] = frame.left[index];
            waveData[index * 2 + 1] = frame.right[index];
        }
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.wave);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1024, 1, gl.RG, gl.FLOAT, waveData);
        gl.bindTexture(gl.TEXTURE_2D, this.spectrum);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RED, gl.FLOAT, frame.spectrum);
        gl.bindTexture(gl.TEXTURE_2D, this.history);
        this.part += frame.step * ROWS_PER_SECOND;
        while (this.part >= 1) {
            gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, this.rows % HISTORY_ROWS, 256, 1, gl.RED, gl.FLOAT, frame.spectrum);
            this.rows += 1;
            this.part -= 1;
        }
        const { bands, beat } = frame;
        uniforms.uWave = this.wave;
        uniforms.uSpectrum = this.spectrum;
        uniforms.uHistory = this.history;
        uniforms.uHead = (this.rows % (HISTORY_ROWS * 64)) - 2 + this.part;
        uniforms.uBands = [bands.bass, bands.mid, bands.treb];
        uniforms.uSoft = [bands.bass_att, bands.mid_att, bands.treb_att];
        uniforms.uBeat = [beat.pulse, beat.phase, frame.beats % 5040, frame.kick];
        uniforms.uDrive = frame.drive;
    }
}
