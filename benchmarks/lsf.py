"""Line spectral frequencies and back to filters, compared with other packages; one thread, one run.

PAIRUP_DATA=folder python3 dev.py bench lsf

The other packages are optional: pip install pysptk spectrum
"""

import time
import warnings

import numpy as np

from pairup.datasets import data_folder
from pairup.voice.audio import read_recordings
from pairup.voice.frames import Frames, Framing
from pairup.voice.lsf import lpc_from_lsf, lsf_from_lpc


def apply_by_row(to_lsf, to_lpc):
    def try_to_lsf(a):
        try:
            return to_lsf(a)
        except RuntimeError:  # pysptk missed a root
            return np.full(len(a) - 1, np.nan)

    return (lambda a: np.array([try_to_lsf(row) for row in a])), (lambda lsf: np.array([to_lpc(row) for row in lsf]))


def list_packages():
    yield "pairup", lsf_from_lpc, lpc_from_lsf
    try:
        import spectrum

        yield "spectrum", *apply_by_row(spectrum.poly2lsf, spectrum.lsf2poly)
    except ImportError as error:
        print(f"spectrum is not installed: {error}")
    try:
        import pysptk

        def to_lpc(lsf):
            a = pysptk.lsp2lpc(np.concatenate([[0.0], lsf]))
            a[0] = 1.0
            return a

        for name, settings in (
            ("pysptk", {}),
            ("pysptk, fine", {"numsp": 4096, "maxiter": 64, "eps": 1e-14}),  # close pairs need a fine grid
        ):
            yield name, *apply_by_row(lambda a, settings=settings: pysptk.lpc2lsp(a, otype=0, **settings)[1:], to_lpc)
    except ImportError as error:
        print(f"pysptk is not installed: {error}")


def main() -> None:
    recordings, _ = read_recordings(sorted((data_folder() / "voice/audiomnist_48k/spk01").glob("*_0[0-2].wav")))
    parts = [Framing.at(44100)(recording) for recording in recordings]
    a = Frames.concatenate([part.speech for part in parts]).lpc
    print(f"{len(a)} frames of speech, order {a.shape[1] - 1}")
    print("              µs per frame to LSF  back   largest error in a   frames missed")
    for name, to_lsf, to_lpc in list_packages():
        begin = time.process_time()
        lsf = to_lsf(a)
        middle = time.process_time()
        error = np.nanmax(np.abs(np.asarray(to_lpc(lsf)) - a))
        forth, back = middle - begin, time.process_time() - middle
        missed = np.isnan(lsf).any(axis=1).sum()
        print(f"{name:>12} {1e6 * forth / len(a):18.0f} {1e6 * back / len(a):9.0f} {error:16.1e} {missed:12d}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
