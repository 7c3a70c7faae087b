// An analyzer: the crest factor of each block, peak divided by RMS.
//
//     hemiola analyze song.flac --analyzer 'exec:node crest.mjs,as=crest'

import { readSync, writeSync } from "node:fs";

const read = (buffer) => {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(0, buffer, length, buffer.length - length, null);
    if (count === 0) return false;
    length += count;
  }
  return true;
};
const print = (value) => writeSync(1, JSON.stringify(value) + "\n");

// The first line describes the stream; the first line of the answer declares the outputs.
let line = "";
const byte = Buffer.alloc(1);
while (read(byte) && byte[0] !== 10) line += String.fromCharCode(byte[0]);
const start = JSON.parse(line);
print({
  outputs: [{ name: "factor", unit: "ratio", minimum: 0, description: "Peak divided by RMS; null in silence." }],
});

const block = Buffer.alloc(4 * start.channels * start.block_frames);
while (read(block)) {
  let peak = 0;
  let sum = 0;
  for (let place = 0; place < block.length; place += 4) {
    const sample = block.readFloatLE(place);
    peak = Math.max(peak, Math.abs(sample));
    sum += sample * sample;
  }
  print({ factor: sum > 0 ? peak / Math.sqrt(sum / (block.length / 4)) : null });
}
