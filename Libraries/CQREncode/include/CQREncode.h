// The part of libqrencode that Hemiola uses, loaded on demand: only `--sink web:bind=ADDRESS` prints a QR code. Only
// Plugins/Sinks/Visualizers/Web/QRCode.swift imports this module.
#ifndef CQRENCODE_H
#define CQRENCODE_H

/// Encodes a text as a QR code with the error correction level L, which restores 7 % of the modules.
///
/// - Parameters:
///   - text: Not empty, terminated by a zero byte.
///   - modules: Receives one byte per module, row by row: 1 is dark, 0 is light. The caller frees them with `free`.
///   - width: Receives the number of modules in a row and in a column.
/// - Returns: NULL, or an error message. Thread-safe.
const char *cqrencode(const char *text, unsigned char **modules, int *width);

#endif
