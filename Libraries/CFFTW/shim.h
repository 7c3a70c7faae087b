// FFTW 3 in single precision. Only HemiolaSignal/RealFFT.swift touches these names.
#include <fftw3.h>
