// A sink: reads JSON Lines from standard input and prints one line per beat, where a real program would switch a lamp.
//
//     hemiola analyze song.flac --select beat --sink 'exec:node lights.mjs'

import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const record = JSON.parse(line);
  if (record.type !== "beat") continue;
  const color = record.position === 1 ? "red" : "white";
  console.log(`${record.t.toFixed(3).padStart(7)} s  ${color}`);
}
