"""The network: two convolutions over bands, nine dilated convolutions over time, three sigmoids. Causal and whole-file variants."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from .features import BANDS, CENTRES

HEADS = ("onset", "beat", "downbeat")
CHANNELS = 8
LAYERS = 9
TAPS = 5
# Harmonic change: bands from this frequency on are a semitone wide. Means over this number of frames are compared with those a lag earlier.
LOWEST_SEMITONE = 370.0
PITCH_CLASSES = 12
HARMONIC_FRAMES, HARMONIC_LAG = 10, 20
# The tempi of the tempo head in beats per minute.
TEMPI = np.geomspace(40, 240, 32)
# The places of the bar head: of bars of three beats, then of bars of four.
PLACES = 7


def harmonic_change(levels):
    """Levels (batch, frames, bands) to (batch, 12, frames): how much each pitch class is louder in the last 100 ms than in those 200 ms
    earlier."""
    classes = np.round(PITCH_CLASSES * np.log2(CENTRES / CENTRES[0])).astype(int) % PITCH_CLASSES
    bank = np.zeros((BANDS, PITCH_CLASSES), np.float32)
    for pitch in range(PITCH_CLASSES):
        chosen = (classes == pitch) & (CENTRES >= LOWEST_SEMITONE)
        bank[chosen, pitch] = 1 / chosen.sum()
    chroma = (levels @ torch.from_numpy(bank)).transpose(1, 2)
    mean = functional.avg_pool1d(functional.pad(chroma, (HARMONIC_FRAMES - 1, 0), "replicate"), HARMONIC_FRAMES, 1)
    return functional.relu(mean - functional.pad(mean, (HARMONIC_LAG, 0), "replicate")[:, :, :mean.shape[2]])


class TemporalBlock(nn.Module):
    """x + 1×1(ELU(dilated convolution of x))."""

    def __init__(self, width, dilation, is_causal):
        super().__init__()
        self.convolution = nn.Conv1d(width, width, TAPS, dilation=dilation)
        self.mixing = nn.Conv1d(width, width, 1)
        self.dropout = nn.Dropout1d(0.1)
        span = (TAPS - 1) * dilation
        self.padding = (span, 0) if is_causal else (span // 2, span // 2)

    def forward(self, x):
        return x + self.mixing(self.dropout(functional.elu(self.convolution(functional.pad(x, self.padding)))))


class BeatNetwork(nn.Module):
    """Input: levels and increases (batch, 2, frames, bands), onset activation (batch, frames). Output: probabilities (batch, 3, frames)
    of onset, beat and downbeat.

    `onset_share` is the weight w of the onset activation in the beat's probability (1 − w) · network + w · onset activation. With
    `has_onset_input`, the onset activation is an input of the temporal part too; with `has_harmonic_input`, the harmonic change. With
    `has_tempo_head`, training learns the tempo of the excerpt too; with `has_bar_head`, the place of each beat in its bar.
    """

    def __init__(self, bands=73, width=24, is_causal=True, onset_share=0.35, has_onset_input=True, has_harmonic_input=False,
                 has_tempo_head=False, has_bar_head=False, blocks=LAYERS):
        super().__init__()
        self.settings = {"bands": bands, "width": width, "is_causal": is_causal, "onset_share": onset_share,
                         "has_onset_input": has_onset_input, "has_harmonic_input": has_harmonic_input, "has_tempo_head": has_tempo_head,
                         "has_bar_head": has_bar_head, "blocks": blocks}
        self.is_causal, self.onset_share = is_causal, onset_share
        self.has_onset_input, self.has_harmonic_input = has_onset_input, has_harmonic_input
        self.normalization = nn.BatchNorm2d(2)
        self.first = nn.Conv2d(2, CHANNELS, (3, 5), stride=(1, 2))
        self.second = nn.Conv2d(CHANNELS, CHANNELS, (3, 3), stride=(1, 2))
        rows = ((bands - 5) // 2 + 1 - 3) // 2 + 1
        self.entry = nn.Conv1d(CHANNELS * rows + int(has_onset_input) + PITCH_CLASSES * int(has_harmonic_input), width, 1)
        self.blocks = nn.ModuleList(TemporalBlock(width, 2 ** index, is_causal) for index in range(blocks))
        self.heads = nn.Conv1d(width, len(HEADS), 1)
        self.dropout = nn.Dropout2d(0.1)
        # Events are rare: a start near their frequency.
        nn.init.constant_(self.heads.bias, -3.0)
        # The heads of the training alone are last, so that they change no other initial weight.
        self.tempo_head = nn.Linear(width, len(TEMPI)) if has_tempo_head else None
        self.bar_head = nn.Conv1d(width, PLACES, 1) if has_bar_head else None

    @torch.no_grad()
    def copy_front(self, other):
        """Takes over the normalization and the convolutions over bands."""
        for name in ("normalization", "first", "second"):
            getattr(self, name).load_state_dict(getattr(other, name).state_dict())

    def forward(self, x, onsets):
        return self.outputs(self.hidden(x, onsets), onsets)

    def hidden(self, x, onsets):
        """The last block's sum (batch, width, frames), after ELU."""
        padding = (0, 0, 2, 0) if self.is_causal else (0, 0, 1, 1)
        harmony = [harmonic_change(x[:, 0])] if self.has_harmonic_input else []
        x = self.normalization(x)
        x = functional.elu(self.first(functional.pad(x, padding)))
        x = functional.elu(self.second(functional.pad(self.dropout(x), padding)))
        x = x.permute(0, 1, 3, 2).flatten(1, 2)
        if self.has_onset_input:
            x = torch.cat([x, onsets[:, None]], dim=1)
        x = functional.elu(self.entry(torch.cat([x, *harmony], dim=1)))
        for block in self.blocks:
            x = block(x)
        return functional.elu(x)

    def outputs(self, hidden, onsets):
        onset, beat, downbeat = torch.sigmoid(self.heads(hidden)).unbind(1)
        beat = (1 - self.onset_share) * beat + self.onset_share * onsets
        return torch.stack([onset, beat, downbeat], dim=1)

    def tempo(self, hidden):
        """Logits of `TEMPI`, from the mean over the frames."""
        return self.tempo_head(hidden.mean(dim=2))


@torch.no_grad()
def widened(network, width, has_tempo_head=False, has_bar_head=False):
    """A network with more hidden values and almost the same outputs: the new hidden values start at random and are hardly used yet
    (T. Chen, I. Goodfellow, J. Shlens, "Net2Net", ICLR 2016)."""
    settings = {**network.settings, "width": width, "has_tempo_head": has_tempo_head, "has_bar_head": has_bar_head}
    result = BeatNetwork(**settings)
    values = dict(network.named_parameters())
    values.update(network.named_buffers())
    for name, target in [*result.named_parameters(), *result.named_buffers()]:
        if name not in values:
            continue
        source = values[name]
        if target.shape != source.shape:
            # The old outputs hardly use the new inputs.
            if target.dim() > 1 and target.shape[1] != source.shape[1]:
                target[:source.shape[0], source.shape[1]:] *= 0.02
            target[tuple(slice(0, size) for size in source.shape)] = source
        else:
            target.copy_(source)
    return result


def load(path):
    """The averaged network of a checkpoint, in evaluation mode."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    network = BeatNetwork(**state["settings"])
    network.load_state_dict(state["average"])
    return network.eval()
