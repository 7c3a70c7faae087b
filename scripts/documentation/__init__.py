"""The parts of scripts/site, scripts/check-links and scripts/check-commands. Python's standard library only."""
