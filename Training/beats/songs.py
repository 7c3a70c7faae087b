"""Songs in which only the pattern tells how fast the beat is: slow grooves that subdivide busily, and fast ones with the same notes.

A listener hears from the place of the snare, the length of bass notes and chords, and the breathing of the melody whether sixteenths at
75 beats per minute or eighths at 150 are played. `GENRES` has both sides of each such pair. Bars show as they do in music: chords and
bass roots change on one, fills come before a phrase, crashes at its start, and melodies have pick-ups.
"""
from dataclasses import dataclass

import numpy as np

from .arrange import (BASSES, BRASS, CHOIR, CLAP, CRASH, GUITARS, HAT, KICK, MALLETS, MARACAS, MELODY, OPEN_HAT, ORGANS, PADS, PEDAL_HAT,
                      PIANOS, RIDE, SIDE_STICK, SNARE, STRINGS, TAMBOURINE, WINDS, swung)
from .scores import Track, sorted_notes

TOMS = (50, 48, 47, 45, 43, 41)
ELECTRIC_PIANOS, CLEAN_GUITARS, DISTORTED_GUITARS = (4, 5), (24, 25, 26, 27), (29, 30)
CHORDAL = PIANOS[:6] + CLEAN_GUITARS + ORGANS[:3]
SYNTHESIZERS = PADS + (50, 51, 80, 81, 62, 63)

# Degrees of the scale, from 0, of chord loops; two thirds of the songs are in major.
MAJOR, MINOR = (0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10)
LOOPS = ((0, 4, 5, 3), (0, 5, 3, 4), (5, 3, 0, 4), (0, 3, 4, 3), (1, 4, 0, 5), (0, 5, 1, 4), (0, 3), (0, 6), (0, 6, 5, 6), (0, 4, 5, 2, 3, 0, 3, 4),
         (0, 0, 3, 0), (0, 2, 3, 4), (3, 4, 2, 5), (0,), (0, 5), (0, 0, 0, 0, 3, 3, 0, 0, 4, 3, 0, 4))

BACKBEAT, BACKBEAT_12 = "....x.......x...", "...x.....x.."
EIGHTHS, SIXTEENTHS, QUARTERS, OFFBEATS = "x.x.x.x.x.x.x.x.", "xoxoxoxoxoxoxoxo", "x...x...x...x...", "..x...x...x...x."
TRIPLETS = "xooxooxooxoo"
SWUNG_RIDE = "x..x.xx..x.x"
HELD, HALVES = "x---------------", "x-------x-------"


@dataclass(frozen=True)
class Genre:
    """One kind of music.

    A pattern is a string for one bar of any resolution; bars that differ are separated by spaces. Drums: `X` accent, `x`, `o` soft,
    `?` soft and by chance. Bass: `r` root, `3`, `5`, `o` octave, `w` walking, `-` held. Comping: `x` chord, `l` its lowest note, `u` the
    others, `a` the next note of a broken chord, `-` held. `tempi` are those of the beat that listeners tap; `chords` the
    beats that a chord lasts, `phrase` the beats between two breaths of the melody and `unit` its shortest note.
    """
    tempi: tuple
    drums: tuple
    bass: tuple
    comping: tuple
    chords: tuple = (4, 4, 4, 2, 8)
    phrase: tuple = (4, 8, 8)
    unit: tuple = (0.5, 0.25)
    meter: int = 4
    # The probability of swing, and whether sixteenths swing (eighths if not).
    swing: float = 0.0
    swings_sixteenths: bool = True
    programs: tuple = CHORDAL
    # The probability of one-shot samples and oscillators in place of a band, and the bass's level against the kick then.
    machine: float = 0.0
    bass_level: tuple = (0.2, 0.8)
    freedom: tuple = (0.0, 0.003, 0.008)
    # Sections in bars.
    section: tuple = (4, 8)
    share: float = 1.0


def _kit(cymbal, *kicks, snare=(SNARE, BACKBEAT)):
    """A drum pattern for each kick pattern, with the same cymbal or hat and backbeat."""
    return tuple({KICK: kick, snare[0]: snare[1], cymbal[0]: cymbal[1]} for kick in kicks)


SLOW_KICKS = ("x.......x.x.....", "x......xx.......", "x.....x.x.....x.", "x.......x.......", "x..x......x.....", "x.........x..x..")
BALLAD_BASS = ("r-------r-----5-", "r---------------", "r-----r-r-------", "r-------5-------", "r-----r-........", "r-----5-r-----r-")
BALLAD_COMPING = ("x-x-x-x-x-x-x-x-", "x---x---x---x---", "a-a-a-a-a-a-a-a-", "aaaaaaaaaaaaaaaa", "l-u-l-u-l-u-l-u-", HELD, "laualaualaualaua",
                  "x--x--x-x--x--x-")
FAST_KICKS = ("x.......x.......", "x.......x.x.....", "x.....x.x.......", "x.x.....x.x.....", "x.....x...x.....")
DRIVING_BASS = ("r-r-r-r-r-r-r-r-", "r---r---r---r---", "r---r---5---5---", "r-r-r-r-5-5-5-5-", "rrrrrrrrrrrrrrrr")
DRIVING_COMPING = ("x-x-x-x-x-x-x-x-", "x---x---x---x---", "x---..x-x---..x-", HELD, "x.xxx.xxx.xxx.xx", "..x...x...x...x.", "a-a-a-a-a-a-a-a-")

GENRES = {
    # Slow beats, busy notes.
    "ballad": Genre((54, 84), (*_kit((HAT, EIGHTHS), *SLOW_KICKS), *_kit((RIDE, EIGHTHS), *SLOW_KICKS[:3]),
                               *_kit((HAT, EIGHTHS), *SLOW_KICKS[:3], snare=(SIDE_STICK, BACKBEAT))),
                    BALLAD_BASS, BALLAD_COMPING, share=1.6),
    "ballad-sixteenths": Genre((54, 82), (*_kit((HAT, SIXTEENTHS), *SLOW_KICKS), *_kit((MARACAS, SIXTEENTHS), *SLOW_KICKS[:4], snare=(SIDE_STICK, BACKBEAT))),
                               BALLAD_BASS, BALLAD_COMPING, share=1.2),
    "ballad-twelve": Genre((52, 80), (*_kit((HAT, TRIPLETS), "x.....x.....", "x.....x.x...", "x....xx.....", "x..........x", snare=(SNARE, BACKBEAT_12)),
                                      *_kit((RIDE, TRIPLETS), "x.....x....x", "x.....x.....", snare=(SIDE_STICK, BACKBEAT_12))),
                           ("r-----r----5", "r-----5-----", "r----rr-----", "r-----------", "r--r--3--5--"),
                           ("xxxxxxxxxxxx", "aaaaaaaaaaaa", "l-ul-ul-ul-u", "x-----------", "lxxlxxlxxlxx", "x--x--x--x--"),
                           unit=(1 / 3, 1 / 3, 2 / 3), share=1.2),
    "hip-hop": Genre((68, 102), (*_kit((HAT, EIGHTHS), "x..x......x..x..", "x.x....x..x.....", "x......x.xx.....", "x.....xx..x.....", "x..x....x....x.."),
                                 *_kit((HAT, SIXTEENTHS), "x..x......x.....", "x......x..x.....")),
                     ("r--r------r-----", "r------.r.r-....", "r---....r--r--5-", "r-----------....", "r..r..r.......5-"),
                     (HELD, "x--x--x---------", "a-a-a-a-a-a-a-a-", "x-......x-......", "..x...x...x...x.", "aaaa....aaaa...."),
                     swing=0.6, programs=ELECTRIC_PIANOS + PIANOS[:2] + MALLETS[:4] + (48, 24, 26), machine=0.6, share=1.4),
    "trap": Genre((60, 84), ({KICK: "x.....x...x.....", CLAP: BACKBEAT, HAT: "xxxxxxxxxxxxxxxx"},
                             {KICK: "x..x......x.....", CLAP: BACKBEAT, HAT: "x.x.x.x.xxx.x.x.x.x.x.x.x.xxxxxx"},
                             {KICK: "x.........x..x.. x......x..x.....", SNARE: BACKBEAT, HAT: "x..x..x..x..x..x..x.x.x. x..x..x..x..x..xxxx.x.x."},
                             {KICK: "x......x.....x..", SNARE: BACKBEAT, HAT: "x.xxx.x.x.xxx.xx", OPEN_HAT: "..............x."}),
                  ("r-----r---r-----", "r---------------", "r--r------r-----", "r---------r--5--"),
                  (HELD, "a-a-a-a-a-a-a-a-", "aaaaaaaaaaaaaaaa", "a--a--a-a--a--a-", "x-------........"),
                  chords=(4, 4, 8, 2), programs=MALLETS[:6] + PADS + (0, 4, 46, 48, 52), machine=0.8, bass_level=(0.5, 1.0), share=1.3),
    "dubstep": Genre((66, 75), ({KICK: "x.........x.....", SNARE: BACKBEAT, HAT: "x.x.x.xxx.x.x.xx"}, {KICK: "x..x..x.........", SNARE: BACKBEAT, HAT: SIXTEENTHS}),
                     ("r-r-r-r-rrrrr-r-", "r--r--r-r---r-r-", "rrrrrrrrr-r-r-r-", "r-------........"), (HELD, "..x...x...x...x.", "x---............"),
                     machine=1.0, bass_level=(0.6, 1.1), share=0.5),
    "half-time-jungle": Genre((78, 92), ({KICK: "x.........x.....", SNARE: BACKBEAT, HAT: "xoxoxoxoxoxoxoxoxoxoxoxoxoxoxoxo"},
                                         {KICK: "x..x......x.....", SNARE: BACKBEAT, HAT: "x.x.x.xox.x.x.xo"},
                                         {KICK: "x......x..x.....", SNARE: "....X..o.o..X..o", RIDE: SIXTEENTHS}),
                              ("r---------------", "r-----r---------", "r-------5-r-3---", "r--r--r-........"), (HELD, "x-----x---------", "aaaaaaaaaaaaaaaa"),
                              machine=0.85, bass_level=(0.4, 1.0), share=0.6),
    "reggae": Genre((58, 92), ({KICK: "....x.......x...", SIDE_STICK: "....x.......x...", HAT: EIGHTHS}, {KICK: "....x.......x...", SNARE: "....x.......x.o.", HAT: SIXTEENTHS},
                               {KICK: QUARTERS, SIDE_STICK: BACKBEAT, HAT: EIGHTHS}, {KICK: "x...x...x.x.x...", SNARE: BACKBEAT, HAT: EIGHTHS}),
                    ("....r-r-..5-r---", "r---..r-..3-5-..", "..r-r---....5-3-", "r-r-....r-5-3---", "r---5-o-....r-r-"),
                    ("..x...x...x...x.", "..xx..xx..xx..xx", ".xx..xx..xx..xx.", "..x.x.x...x.x.x."), chords=(4, 4, 8, 8),
                    swing=0.4, programs=CLEAN_GUITARS + ORGANS[:3] + (0, 7), share=1.4),
    "soul": Genre((56, 96), ({KICK: "x.......x.x..x..", SNARE: "....x..o.o..x...", HAT: SIXTEENTHS}, {KICK: "x..x....x.....x.", SIDE_STICK: BACKBEAT, HAT: "x.xxx.xxx.xxx.xx"},
                             {KICK: "x.....xx......x.", SNARE: "....x.......x..o", HAT: EIGHTHS, TAMBOURINE: BACKBEAT}, {KICK: "x..x..x...x.....", CLAP: BACKBEAT, HAT: SIXTEENTHS}),
                  ("r-----r...r--5..", "r..r--......r-5-", "r---..rrr---5-3-", "r------.r.r-....", "r-r---..r--r--o-"),
                  (HELD, "x-----..x--x----", "a-a-a-a-a-a-a-a-", "..x...xx..x...x.", "x---......x-x---"),
                  swing=0.5, programs=ELECTRIC_PIANOS + ORGANS[:3] + CLEAN_GUITARS, machine=0.3, share=1.3),
    "country": Genre((60, 100), (*_kit((HAT, EIGHTHS), *SLOW_KICKS[:4]), *_kit((HAT, EIGHTHS), *SLOW_KICKS[:3], snare=(SIDE_STICK, BACKBEAT)),
                                 {KICK: "x.......x.......", SNARE: "ooooXoooooooXooo"}),
                     ("r-------5-------", "r-----r-5-----5-", "r---------------", "r-------r---3-5-"),
                     ("..x-..x-..x-..x-", "....x-......x-..", "l-u-l-u-l-u-l-u-", "laualaualaualaua", "x--xx-x-x--xx-x-", "l-xxl-xxl-xxl-xx"),
                     programs=CLEAN_GUITARS + (0, 1, 22, 105), swing=0.2, share=0.9),
    "slow-rock": Genre((56, 94), (*_kit((HAT, EIGHTHS), *SLOW_KICKS), *_kit((OPEN_HAT, EIGHTHS), *SLOW_KICKS[:4]), *_kit((RIDE, EIGHTHS), *SLOW_KICKS[:3]),
                                  *_kit((CRASH, QUARTERS), *SLOW_KICKS[:2])),
                       ("r-r-r-r-r-r-r-r-", "r-----r-r-----r-", "r-------r-----5-", "r---r---r---r---", "r--r--r-r--r--r-", "r---------------"),
                       ("x-x-x-x-x-x-x-x-", HELD, "x-xxx-xxx-xxx-xx", "a-a-a-a-a-a-a-a-", "x---x-x-x---x-x-", "xxxxxxxxxxxxxxxx"),
                       programs=DISTORTED_GUITARS + DISTORTED_GUITARS + CLEAN_GUITARS + ORGANS[:3], share=1.4),
    "blues-shuffle": Genre((58, 128), ({KICK: "x.....x.....", SNARE: BACKBEAT_12, HAT: "x.xx.xx.xx.x"}, {KICK: "x.xx.xx.xx.x", SNARE: BACKBEAT_12, RIDE: "x.xx.xx.xx.x"},
                                       {KICK: "x..x..x..x..", SNARE: "..oX.o..oX.o", HAT: "x.xx.xx.xx.x"}, {KICK: "x.....x..x..", SNARE: BACKBEAT_12, RIDE: TRIPLETS}),
                           ("r-rr-r5-55-5", "r--3--5--3--", "w--w--w--w--", "r-r5-5o-o5-5", "r-----r---5-"),
                           ("x-xx-xx-xx-x", "x--x--x--x--", "...x.....x..", "..x..x..x..x", "x-----------", "xxxxxxxxxxxx"),
                           chords=(4, 8), unit=(1 / 3, 2 / 3), programs=GUITARS + ORGANS[:3] + (0, 22), share=1.0),
    "funk": Genre((84, 116), ({KICK: "x.x....x..x..x..", SNARE: "....x..o.o..x..o", HAT: SIXTEENTHS}, {KICK: "x..x..x...x.....", SNARE: "....x..o.o..x...", HAT: EIGHTHS}),
                  ("r.rr..r.r..r..5.", "r..r..o...r.rr..", "r-..o...r.r-5.o."), ("..x...x.x..x..x.", "xxxxxxxxxxxxxxxx", "x..x..x...x..x..", "....x.......x.x."),
                  chords=(4, 8, 16), programs=CLEAN_GUITARS + (4, 7, 16, 61), machine=0.2, share=0.7),
    "reggaeton": Genre((82, 106), ({KICK: QUARTERS, SNARE: "...x..x....x..x.", HAT: EIGHTHS}, {KICK: "x...x...x...x...", CLAP: "...x..x....x..x.", HAT: SIXTEENTHS}),
                       ("r--r--r-r--r--r-", "r-----r-r-----r-", "r--r--r-........"), (HELD, "..x...x...x...x.", "x--x--x-x--x--x-", "a-a-a-a-a-a-a-a-"),
                       machine=0.6, share=0.6),
    "adagio": Genre((50, 82), ({},), ("r---------------", "r-------5-------", "r---5---3---5---", "r-------r-------"),
                    ("a-a-a-a-a-a-a-a-", "aaaaaaaaaaaaaaaa", "laualaualaualaua", "x-x-x-x-x-x-x-x-", "aaaaaaaaaaaa", "l-ul-ul-ul-u", "xxxxxxxxxxxxxxxx", HELD, HALVES,
                     "x---x---x---x---", "aaaaaaaaaaaaaaaaaaaaaaaa"), unit=(0.5, 1.0, 0.25), programs=STRINGS + PIANOS[:2] + WINDS[4:9] + CHOIR[:2] + (46,),
                    freedom=(0.006, 0.015, 0.03, 0.05), share=1.6),
    "slow-waltz": Genre((66, 116), ({KICK: "x...........", SNARE: "....o...x...", HAT: "x.x.x.x.x.x."}, {KICK: "x...........", SIDE_STICK: "....x...x...", RIDE: "x.x.x.x.x.x."},
                                    {}, {KICK: "x.....x.....", SNARE: "........x...", HAT: "xoxoxoxoxoxo"}),
                        ("r-----------", "r-------5---", "r---3---5---"), ("....x---x---", "x-----------", "a-a-a-a-a-a-", "aaaaaaaaaaaa", "l---u---u---", "x---x---x---"),
                        chords=(3, 3, 6), phrase=(6, 12), unit=(0.5, 1.0), meter=3, freedom=(0.0, 0.006, 0.02), share=1.2),
    # Fast beats, the same notes.
    "punk": Genre((138, 210), (*_kit((HAT, EIGHTHS), *FAST_KICKS), *_kit((OPEN_HAT, QUARTERS), *FAST_KICKS), *_kit((CRASH, QUARTERS), *FAST_KICKS[:3]),
                               *_kit((RIDE, EIGHTHS), *FAST_KICKS[:3])),
                  DRIVING_BASS[:4], DRIVING_COMPING[:5], chords=(4, 8, 8, 2), phrase=(8, 16), unit=(1.0, 0.5), programs=DISTORTED_GUITARS, section=(8, 16), share=1.4),
    "metal": Genre((132, 196), ({KICK: EIGHTHS, SNARE: BACKBEAT, OPEN_HAT: QUARTERS}, {KICK: "x.xxx.xxx.xxx.xx", SNARE: BACKBEAT, RIDE: QUARTERS},
                                {KICK: "xxxxxxxxxxxxxxxx", SNARE: BACKBEAT, CRASH: QUARTERS}, *_kit((OPEN_HAT, EIGHTHS), *FAST_KICKS)),
                   ("r-r-r-r-r-r-r-r-", "r.rrr.rrr.rrr.rr", "rrrrrrrrrrrrrrrr", "r---r---r---r---"), ("x-x-x-x-x-x-x-x-", "x.xxx.xxx.xxx.xx", "xxxxxxxxxxxxxxxx", HALVES),
                   chords=(4, 8, 2), phrase=(8, 16), unit=(1.0, 0.5), programs=DISTORTED_GUITARS, section=(8, 16), share=1.2),
    "drum-and-bass": Genre((160, 182), ({KICK: "x.........x.....", SNARE: BACKBEAT, HAT: EIGHTHS}, {KICK: "x.x.......x.....", SNARE: "....x..o.o..x..o", HAT: EIGHTHS},
                                        {KICK: "x.........xx....", SNARE: BACKBEAT, RIDE: EIGHTHS}, {KICK: "x.x.......xx....", SNARE: "....X..o.o....X. ....X..o.o..X...", HAT: QUARTERS}),
                           ("r---------------", "r-------r-r-----", "r-r---r-r-r---r-", "r---r-r---r-5---"), (HELD, HALVES, "..x...x...x...x.", "a-a-a-a-a-a-a-a-"),
                           chords=(8, 8, 4, 16), phrase=(8, 16), unit=(1.0, 0.5), machine=0.85, bass_level=(0.3, 1.0), section=(8, 16), share=1.1),
    "swing": Genre((126, 224), ({RIDE: SWUNG_RIDE, PEDAL_HAT: BACKBEAT_12}, {RIDE: SWUNG_RIDE, PEDAL_HAT: BACKBEAT_12, KICK: "o..o..o..o..", SNARE: "..?..?..?..?"},
                                {RIDE: "x..x..x..x..", PEDAL_HAT: BACKBEAT_12, SNARE: "?....o..?..?"}, {SNARE: "x..o.ox..o.o", PEDAL_HAT: BACKBEAT_12}),
                   ("w--w--w--w--", "w--w--w--w--", "r-----5-----"), ("x..........x", "...x....x...", "x....x......", "x-----------", "x--x--x--x--", ".....x.....x"),
                   chords=(4, 4, 2, 8), phrase=(8, 16), unit=(1 / 3, 1.0, 2 / 3), programs=(0, 1, 4, 16, 26, 11), section=(8,), share=1.1),
    "jazz-ballad": Genre((54, 84), ({RIDE: SWUNG_RIDE, PEDAL_HAT: BACKBEAT_12}, {SNARE: "x.ox.ox.ox.o", PEDAL_HAT: BACKBEAT_12}, {SNARE: TRIPLETS, KICK: "o.....o....."}, {}),
                         ("r-----5-----", "r-----------", "r-----5--w-w", "r----wr----5"), ("x-----------", "x-----x-----", "...x-----x--", "aaaaaaaaaaaa"), chords=(4, 2, 2),
                         unit=(1 / 3, 2 / 3, 1 / 6), programs=(0, 1, 4, 26), freedom=(0.003, 0.01, 0.02), share=0.7),
    "pop-rock": Genre((100, 178), (*_kit((HAT, EIGHTHS), *FAST_KICKS), *_kit((RIDE, QUARTERS), *FAST_KICKS[:3]), *_kit((OPEN_HAT, QUARTERS), *FAST_KICKS[:3]),
                                   {KICK: QUARTERS, SNARE: BACKBEAT, HAT: EIGHTHS}),
                      DRIVING_BASS[:4] + ("r-------5-------", "r---------------"), DRIVING_COMPING[:4] + DRIVING_COMPING[5:], chords=(4, 4, 8, 2), phrase=(8, 8, 16),
                      unit=(1.0, 0.5, 0.5), programs=GUITARS + PIANOS[:2] + SYNTHESIZERS[:4], section=(4, 8), share=1.4),
    "rock-and-roll": Genre((138, 198), ({KICK: "x.......x.......", SNARE: BACKBEAT, RIDE: EIGHTHS}, {KICK: QUARTERS, SNARE: BACKBEAT, HAT: EIGHTHS}, {KICK: "x.......x.x.....", SNARE: "....x.x.....x...", RIDE: QUARTERS}),
                           ("r---3---5---o---", "w---w---w---w---", "r-r-3-3-5-5-3-3-", "r---5---r---5---"), ("x-x-x-x-x-x-x-x-", "....x-......x-..", "..x...x...x...x.", "x---x---x---x---"),
                           chords=(4, 8), phrase=(8, 16), unit=(1.0, 0.5), swing=0.5, swings_sixteenths=False, programs=GUITARS + (0, 3, 66), section=(4, 8, 12), share=0.8),
    "ska": Genre((132, 188), ({KICK: "x.......x.......", SNARE: BACKBEAT, HAT: OFFBEATS}, {KICK: QUARTERS, SNARE: BACKBEAT, HAT: EIGHTHS}, {KICK: "x.......x.x.....", SIDE_STICK: BACKBEAT, HAT: OFFBEATS}),
                 ("w---w---w---w---", "r---3---5---3---", "r-r-5-5-r-r-5-5-"), ("..x...x...x...x.", "..x...x...x...x."), chords=(4, 8), phrase=(8, 16), unit=(1.0, 0.5),
                 programs=CLEAN_GUITARS + (16, 0, 61), section=(4, 8), share=0.8),
    "disco": Genre((102, 130), ({KICK: QUARTERS, SNARE: BACKBEAT, OPEN_HAT: OFFBEATS, HAT: "xx.xxx.xxx.xxx.x"}, {KICK: QUARTERS, CLAP: BACKBEAT, OPEN_HAT: OFFBEATS},
                                {KICK: QUARTERS, SNARE: BACKBEAT, OPEN_HAT: OFFBEATS, TAMBOURINE: SIXTEENTHS}),
                   ("r-o-r-o-r-o-r-o-", "r.r-o.r.r-o-..5-", "..r-..r-..r-..r-", "r---r-r---r-5-o-"), ("..x...x.x..x..x.", "xxxxxxxxxxxxxxxx", "..x...x...x...x.", HELD, "x..x..x...x..x.."),
                   chords=(4, 4, 8, 2), programs=CLEAN_GUITARS + PIANOS[:2] + (48, 50, 61), machine=0.4, section=(4, 8), share=1.0),
    "house": Genre((116, 134), ({KICK: QUARTERS, CLAP: BACKBEAT, OPEN_HAT: OFFBEATS, HAT: SIXTEENTHS}, {KICK: QUARTERS, OPEN_HAT: OFFBEATS}, {KICK: QUARTERS, CLAP: BACKBEAT, HAT: EIGHTHS}, {KICK: QUARTERS}),
                   ("..r-..r-..r-..r-", "r..r..r.r..r..r.", "..r...r...r..5..", "r-......r..r..o."), ("..x...x...x...x.", "x..x..x...x.x...", "...x..x....x..x.", HELD, "a-a-a-a-a-a-a-a-"),
                   chords=(4, 8, 8), phrase=(8, 16), machine=0.95, bass_level=(0.4, 1.1), section=(4, 8), share=1.0),
    "psytrance": Genre((128, 150), ({KICK: QUARTERS, OPEN_HAT: OFFBEATS}, {KICK: QUARTERS, OPEN_HAT: OFFBEATS, CLAP: BACKBEAT, HAT: SIXTEENTHS}, {KICK: QUARTERS, HAT: "..xx..xx..xx..xx"}, {KICK: QUARTERS}),
                       (".rrr.rrr.rrr.rrr", ".rrr.rrr.rrr.rr5", "..rr..rr..rr..rr"), (HELD, "aaaaaaaaaaaaaaaa", "..x...x...x...x.", "a..a..a.a..a..a."),
                       chords=(8, 16, 4), phrase=(8, 16), machine=1.0, bass_level=(0.7, 1.4), section=(4, 8), share=1.0),
    "hard-house": Genre((130, 156), ({KICK: QUARTERS, OPEN_HAT: OFFBEATS}, {KICK: QUARTERS, OPEN_HAT: OFFBEATS, CLAP: BACKBEAT}, {KICK: QUARTERS}, {KICK: QUARTERS, HAT: SIXTEENTHS, SNARE: BACKBEAT}),
                        ("..r-..r-..r-..r-", "..r-..r-..r-..r-", "..r-..o-..r-..5-"), (HELD, "..x...x...x...x.", "x..x..x...x.x...", "aaaaaaaaaaaaaaaa", "a-a-a-a-a-a-a-a-"),
                        chords=(4, 8, 16), phrase=(8, 16), machine=1.0, bass_level=(0.7, 1.4), section=(4, 8), share=1.2),
    "eurobeat": Genre((146, 178), ({KICK: QUARTERS, SNARE: BACKBEAT, OPEN_HAT: OFFBEATS}, {KICK: QUARTERS, CLAP: BACKBEAT, HAT: EIGHTHS}, {KICK: QUARTERS, OPEN_HAT: OFFBEATS}),
                      ("..r-..r-..r-..r-", "r-o-r-o-r-o-r-o-", "..rr..rr..rr..rr", "r-r-r-r-r-r-r-r-"), ("x---x---x---x---", "..x...x...x...x.", HELD, "a-a-a-a-a-a-a-a-"),
                      chords=(4, 4, 8), phrase=(8, 16), unit=(1.0, 0.5), machine=0.9, bass_level=(0.4, 1.2), section=(4, 8), share=0.8),
    "allegro": Genre((112, 176), ({},), ("r---5---r---5---", "r---r---r---r---", "r-r-r-r-r-r-r-r-", "r-------r-------", "r---............"),
                     ("a-a-a-a-a-a-a-a-", "l-u-l-u-l-u-l-u-", "x-x-x-x-x-x-x-x-", "l---u---l---u---", "..x-..x-..x-..x-", "x---x---x---x---"), chords=(4, 4, 8, 2), phrase=(8, 16),
                     unit=(1.0, 0.5), programs=STRINGS + PIANOS[:2] + WINDS[4:9] + BRASS[:4] + (6,), freedom=(0.003, 0.01, 0.02, 0.03), section=(4, 8), share=1.3),
    "fast-waltz": Genre((126, 204), ({KICK: "x...........", SNARE: "....x...x...", HAT: "x...x...x..."}, {RIDE: "x...x...x...", SIDE_STICK: "....x...x..."}, {}, {}),
                        ("r-----------", "r-----------", "r---5---5---"), ("....x---x---", "....x---x---", "l---u---u---", "a-a-a-a-a-a-"), chords=(3, 6, 6), phrase=(12, 24), unit=(1.0, 0.5),
                        meter=3, programs=PIANOS[:2] + STRINGS + (21, 24, 56), freedom=(0.0, 0.006, 0.02), section=(8,), share=0.9),
}


@dataclass
class Song:
    """Tracks by role, in beats; `positions` as in Score."""
    genre: Genre
    tempo: float
    tracks: dict
    positions: np.ndarray


def pattern_at(pattern, bar):
    """The pattern of a bar, if a pattern has several."""
    bars = pattern.split()
    return bars[bar % len(bars)]


def pattern_notes(pattern, meter):
    """The marks of one bar as (start, length, mark), in beats; `-` lengthens the note before."""
    step, result = meter / len(pattern), []
    for index, mark in enumerate(pattern):
        if mark == "-":
            if result:
                result[-1][1] += step
        elif mark != ".":
            result.append([index * step, step, mark])
    return result


def _pick(rng, choices):
    return choices[rng.integers(len(choices))]


def harmony(rng, genre, beats):
    """Chords as (start, end, pitch classes from the root), which change on the places of bars, and the scale's pitch classes."""
    key, scale = int(rng.integers(12)), MAJOR if rng.random() < 0.66 else MINOR
    loop, length = _pick(rng, LOOPS), float(_pick(rng, genre.chords))
    size = 4 if rng.random() < 0.25 else 3
    chords, at, index = [], 0.0, 0
    while at < beats:
        # A loop's last chord is sometimes two, and sometimes a chord stays for a bar more.
        chord_length = length
        if length >= genre.meter and rng.random() < 0.08:
            chord_length = length * 2
        degree = loop[index % len(loop)]
        classes = tuple((key + scale[(degree + 2 * step) % 7]) % 12 for step in range(size))
        if chords and chords[-1][2] == classes:
            chords[-1] = (chords[-1][0], at + chord_length, classes)
        else:
            chords.append((at, at + chord_length, classes))
        at, index = at + chord_length, index + 1
    return chords, [(key + step) % 12 for step in scale]


def sections(rng, genre, bars):
    """Consecutive (first bar, end, roles that play): an introduction, verses, and bridges with other roles."""
    result, first = [], 0
    while first < bars:
        length = int(_pick(rng, genre.section))
        playing = {"drums", "bass", "comping"}
        if rng.random() < 0.65:
            playing.add("melody")
        if rng.random() < 0.35:
            playing.add("pad")
        kind = rng.random()
        if first == 0 and kind < 0.5:  # Pads, or the comping alone, before the drums.
            playing = {"pad"} if rng.random() < 0.4 else {"comping", *(("pad",) if rng.random() < 0.5 else ())}
            length = int(rng.choice([2, 4]))
        elif kind < 0.14:  # A bridge without drums.
            playing -= {"drums"}
            playing.add(str(rng.choice(["pad", "melody", "comping"])))
            if rng.random() < 0.4:
                playing -= {"bass"}
        elif kind < 0.22:
            playing -= {"comping", "melody"}
        elif kind < 0.27:
            playing -= {"bass"}
        result.append((first, min(first + length, bars), playing))
        first += length
    return result


def drum_notes(rng, genre, bars, parts):
    """Hits of the genre's patterns: fills before and crashes at the start of a section, left-out hits, ghost notes."""
    pattern, rows, meter = _pick(rng, genre.drums), [], genre.meter
    if not pattern:
        return []
    other = _pick(rng, genre.drums) or pattern
    loose, fills, crashes = rng.uniform(0, 0.05), rng.random() * 0.9, rng.random()
    quiet_hats = rng.random() < 0.15
    levels = {instrument: rng.uniform(0.8, 1.15) for instrument in range(128)}
    for index, (first, end, playing) in enumerate(parts):
        if "drums" not in playing:
            continue
        current = other if index % 2 and rng.random() < 0.3 else pattern
        left_out = _pick(rng, list(current)) if len(current) > 2 and rng.random() < 0.12 else None
        for bar in range(first, end):
            start = bar * meter
            fill = 0.0
            if (bar == end - 1 and rng.random() < fills) or (bar % 4 == 3 and rng.random() < 0.15 * fills):
                fill = float(rng.choice([0.5, 1, 1, 2, meter]))
            for instrument, marks in current.items():
                if instrument == left_out:
                    continue
                bar_pattern = pattern_at(marks, bar)
                step = meter / len(bar_pattern)
                for place, mark in enumerate(bar_pattern):
                    at = place * step
                    if mark == "." and not (instrument in (KICK, SNARE) and rng.random() < loose / 3 and step >= 0.24):
                        continue
                    if at >= meter - fill - 1e-6 or rng.random() < loose or (mark == "?" and rng.random() < 0.6):
                        continue
                    base = {"X": 118, "x": 100, "o": 60, "?": 50, ".": 45}[mark]
                    if instrument in (HAT, RIDE, MARACAS, TAMBOURINE, PEDAL_HAT):
                        base *= (0.5 if quiet_hats else 0.8) * (1 if abs(at - round(at)) < 0.01 else 0.88)
                    rows.append((start + at, start + at + step, instrument, base * levels[instrument] + rng.normal(0, 5)))
            if fill:
                triplet = any(len(pattern_at(marks, 0)) % 12 == 0 and len(pattern_at(marks, 0)) % 16 for marks in current.values()) and meter == 4
                step = 1 / 3 if triplet else float(rng.choice([0.5, 0.25, 0.25]))
                drum = 0
                for at in np.arange(meter - fill, meter - 1e-6, step):
                    if rng.random() < 0.85:
                        drum = min(drum + int(rng.random() < 0.4), len(TOMS))
                        rows.append((start + at, start + at + step, SNARE if drum == 0 else TOMS[drum - 1], rng.uniform(75, 118)))
        if first and rng.random() < crashes:
            rows.append((first * meter, first * meter + 2, CRASH, rng.uniform(85, 115)))
            rows.append((first * meter, first * meter + 0.5, KICK, 105))
    return [(start, end, pitch, float(np.clip(velocity, 12, 127))) for start, end, pitch, velocity in rows]


def _chord_at(chords, at):
    index = max(0, int(np.searchsorted([start for start, _, _ in chords], at + 1e-6)) - 1)
    return chords[index]


def bass_notes(rng, genre, chords, bars, parts, scale):
    pattern, rows, meter = _pick(rng, genre.bass), [], genre.meter
    low = int(rng.integers(28, 38))
    for first, end, playing in parts:
        if "bass" not in playing:
            continue
        for bar in range(first, end):
            for at, length, mark in pattern_notes(pattern_at(pattern, bar), meter):
                start = bar * meter + at
                chord_start, _, chord = _chord_at(chords, start)
                root = low + (chord[0] - low) % 12
                pitch = root + {"3": (chord[1] - chord[0]) % 12, "5": (chord[2] - chord[0]) % 12, "o": 12}.get(mark, 0)
                if mark == "w" and start > chord_start + 0.5:
                    pitch = low + (int(_pick(rng, scale)) - low) % 12
                rows.append((start, start + length * rng.uniform(0.8, 0.98), pitch, 92 if at == 0 else 84))
    return rows


def comping_notes(rng, genre, chords, bars, parts):
    pattern, rows, meter = _pick(rng, genre.comping), [], genre.meter
    high = int(rng.integers(50, 62))
    order = rng.permutation(4) if rng.random() < 0.4 else np.array([0, 1, 2, 1])
    for first, end, playing in parts:
        if "comping" not in playing:
            continue
        for bar in range(first, end):
            broken = 0
            for at, length, mark in pattern_notes(pattern_at(pattern, bar), meter):
                start = bar * meter + at
                _, chord_end, chord = _chord_at(chords, start)
                voicing = sorted(high + (pitch - high) % 12 for pitch in chord)
                if mark == "a":
                    voicing, broken = [voicing[order[broken % len(order)] % len(voicing)]], broken + 1
                elif mark == "l":
                    voicing = [voicing[0] - 12]
                elif mark == "u":
                    voicing = voicing[1:]
                stop = min(start + length * 0.95, max(chord_end, start + 0.2))
                rows += [(start, stop, pitch, 74) for pitch in voicing]
                # A held pattern follows chords that change inside it.
                for other_start, other_end, other in chords if length > 1 else ():
                    if start + 0.1 < other_start < start + length - 0.1:
                        rows += [(other_start, min(other_end, start + length), high + (pitch - high) % 12, 74) for pitch in other]
    return rows


def pad_notes(rng, chords, meter, parts):
    middle, rows = int(rng.integers(48, 64)), []
    for first, end, playing in parts:
        if "pad" in playing:
            for start, stop, chord in chords:
                start, stop = max(start, first * meter), min(stop, end * meter)
                if stop - start > 0.5:
                    rows += [(start, stop - 0.02, middle + (pitch - middle) % 12, 70) for pitch in chord]
    return rows


def melody_notes(rng, genre, chords, bars, parts, scale):
    """Phrases with pick-ups, repeated rhythms, a long last note and a breath."""
    rows, meter = [], genre.meter
    length, unit = float(_pick(rng, genre.phrase)), float(_pick(rng, genre.unit))
    pickup_probability, density = rng.random() * 0.8, rng.uniform(0.35, 0.8)
    pitch, rhythm = int(rng.integers(60, 76)), None
    playing = {bar for first, end, roles in parts if "melody" in roles for bar in range(first, end)}
    for start in np.arange(0, bars * meter, length):
        if int(start // meter) not in playing or rng.random() < 0.08:
            continue
        if rhythm is None or rng.random() < 0.45:
            slots = np.arange(0, length * rng.uniform(0.55, 0.85), unit)
            weights = np.where(abs(slots - np.round(slots)) < 0.01, 1.25, 0.9) * density
            rhythm = slots[rng.random(len(slots)) < weights]
            if rng.random() < pickup_probability:
                rhythm = np.concatenate([-unit * np.arange(int(rng.integers(1, 4)), 0, -1), rhythm])
        for index, at in enumerate(rhythm):
            stop = rhythm[index + 1] if index + 1 < len(rhythm) else min(at + rng.uniform(1, 3), length - 0.25)
            at_beat = start + at
            if at_beat < 0 or stop <= at:
                continue
            _, _, chord = _chord_at(chords, at_beat)
            pitch += int(rng.choice([-4, -2, -1, 0, 1, 2, 4]))
            pitch = pitch - 5 if pitch > 82 else pitch + 5 if pitch < 57 else pitch
            allowed = chord if abs(at - round(at)) < 0.01 and rng.random() < 0.7 else scale
            pitch = min(range(pitch - 6, pitch + 7), key=lambda value: (value % 12 not in allowed, abs(value - pitch)))
            rows.append((at_beat, start + max(stop, at + 0.1) - 0.03, pitch, 88))
    return rows


def _cut(rows, first, count):
    """The beats first ..< first + count of notes; notes that sound already begin there."""
    result = []
    for start, end, pitch, velocity in rows:
        if start < first and end - first > 0.4:
            start = first
        if first - 1e-6 <= start < first + count - 0.02:
            result.append((max(start - first, 0), end - first, pitch, velocity))
    return result


def notes_of(rng, genre, chords, scale, bars, parts):
    """The notes of each role, in beats."""
    return {
        "drums": drum_notes(rng, genre, bars, parts), "bass": bass_notes(rng, genre, chords, bars, parts, scale),
        "comping": comping_notes(rng, genre, chords, bars, parts), "pad": pad_notes(rng, chords, genre.meter, parts),
        "melody": melody_notes(rng, genre, chords, bars, parts, scale),
    }


def tracks_of(rng, genre, rows, first, count):
    """The tracks of the beats first ..< first + count, with instruments and swing."""
    swing = 0.5
    if rng.random() < genre.swing:
        swing = float(rng.uniform(0.54, 0.66) if genre.swings_sixteenths else rng.uniform(0.57, 0.68))
    programs = {"bass": BASSES, "comping": genre.programs, "pad": PADS + STRINGS[-3:] + CHOIR[:2], "melody": MELODY}
    tracks = {}
    for role, notes in rows.items():
        notes = _cut(notes, first, count)
        if not notes:
            continue
        notes = sorted_notes(notes)
        if swing != 0.5:
            # Sixteenths swing as eighths of twice the tempo.
            rate = 2 if genre.swings_sixteenths else 1
            notes[:, :2] = swung(notes[:, :2] * rate, swing) / rate
        tracks[role] = Track(notes, int(_pick(rng, programs[role])) if role in programs else 0, role == "drums")
    return tracks


def compose(rng, name, seconds):
    """A song of a genre: `seconds` of it, from its start or from any of its beats."""
    genre = GENRES[name]
    tempo = float(np.exp(rng.uniform(*np.log(genre.tempi))))
    meter, count = genre.meter, int(seconds * 1.15 * tempo / 60) + 4
    bars = max(32, -(-count // meter) + 8)
    chords, scale = harmony(rng, genre, bars * meter)
    parts = sections(rng, genre, bars)
    first = 0 if rng.random() < 0.3 else int(rng.integers(0, bars * meter - count + 1))
    rows = notes_of(rng, genre, chords, scale, bars, parts)
    # Somewhat fewer parts than a full arrangement: a duo or trio tells as much of the beat.
    if not rows["drums"] and rng.random() < 0.25:
        rows["melody" if rng.random() < 0.5 else "bass"] = []
    if rows["drums"]:
        for role, probability in (("bass", 0.08), ("comping", 0.12), ("melody", 0.1)):
            if rng.random() < probability:
                rows[role] = []
    return Song(genre, tempo, tracks_of(rng, genre, rows, first, count), 1 + (first + np.arange(count)) % meter)
