// A sink: reads JSON Lines from standard input and prints a line when a beat sounds, where a real program would switch a lamp.
//
//     hemiola listen --sink 'exec:node lights.mjs,select=beat'

import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

for await (const line of createInterface({ input: process.stdin })) {
  const record = JSON.parse(line);
  if (record.type !== "beat") continue;
  await setTimeout(1000 * Math.max(0, record.due_in_s));
  const color = record.position === 1 ? "red" : "white";
  console.log(`${record.t.toFixed(3).padStart(7)} s  ${color}`);
}
