// The analysis panels, in the order of the page. A panel is a module with
//
//   id, title      the title is that of the panel and of its button
//   unit           a text beside the title (optional)
//   grow           its share of the width (default: 1)
//   narrow         whether a narrow page shows it until the user selects others
//   needs          plugins: it is shown if the stream has one of these analyzers, and the page then receives `batch` records; [] for all streams
//   create(body, unit, source)   adds its elements, and returns {draw(frame)}, which is called for each picture;
//                  `source` is {hemiola, analysis, isSlow}: reduced motion is `isSlow`

import harmony from "./harmony.js";
import rhythm from "./rhythm.js";
import spectrogram from "./spectrogram.js";
import spectrum from "./spectrum.js";
import waveform from "./waveform.js";

export const panels = [spectrum, spectrogram, waveform, rhythm, harmony];
