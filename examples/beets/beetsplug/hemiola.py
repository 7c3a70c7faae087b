"""A plugin of beets: `beet hemiola [QUERY]` writes the tempo, the key and the ReplayGain that Hemiola finds into the tags of songs."""

import json
import os
import subprocess

from beets import plugins, ui

VALUES = "rhythm.bpm,musical_key.key,replaygain"


class HemiolaPlugin(plugins.BeetsPlugin):
    def commands(self):
        command = ui.Subcommand("hemiola", help="write tempo, key and ReplayGain into the tags")
        command.func = self.analyze
        return [command]

    def analyze(self, library, options, query):
        # In the order of the paths, the songs of an album follow one another.
        items = {os.fsdecode(item.path): item for item in sorted(library.items(query), key=lambda item: item.path)}
        program = [os.environ.get("HEMIOLA", "hemiola"), "analyze", "--summary", "--select", VALUES, "--files-from", "-", "-0"]
        result = subprocess.run(program, input="\0".join(items), stdout=subprocess.PIPE, text=True, errors="surrogateescape")
        for song in map(json.loads, result.stdout.splitlines()):
            if song["error"]:
                continue
            item, gains = items[song["file"]], song["replaygain"]
            tags = {
                "bpm": song["rhythm"]["bpm"],
                "initial_key": song["summaries"]["musical_key"]["key"],
                "rg_track_gain": gains["track_gain_db"],
                "rg_track_peak": gains["track_peak"],
                "rg_album_gain": gains["album_gain_db"],
                "rg_album_peak": gains["album_peak"],
            }
            item.update({name: value for name, value in tags.items() if value is not None})
            item.store()
            item.try_write()
        if result.returncode > 1:
            raise ui.UserError(f"hemiola ended with the exit code {result.returncode}")
