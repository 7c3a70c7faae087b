// FFTW 3 in single precision. Only HemiolaSpectrum/RealFFT.swift touches these names.
#include <fftw3.h>
