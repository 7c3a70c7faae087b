"""Training of the beat analyzer's network: scores are rendered to audio, band amplitudes are stored, the network is trained on them."""
