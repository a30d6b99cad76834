"""PNG pictures with at most 256 colours: a third of the size of a browser's screenshots."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode

from playwright.sync_api import Page

# Takes the most frequent colours that differ visibly, and each pixel becomes the nearest of them.
_REDUCE = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const pixels = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) {
    counts.set(pixel, (counts.get(pixel) || 0) + 1);
  }
  const colours = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  const distance = (one, other) =>
    [0, 8, 16].reduce((sum, at) => sum + (((one >> at) & 255) - ((other >> at) & 255)) ** 2, 0);
  let palette = [];
  for (let apart = 0; palette.length === 0; apart += 4) {
    for (const colour of colours) {
      if (palette.every((other) => distance(colour, other) > apart ** 2 - 1)) {
        palette.push(colour);
      }
      if (palette.length > 256) {
        palette = [];
        break;
      }
    }
  }
  const nearest = new Map(colours.map((colour) => {
    const distances = palette.map((other) => distance(colour, other));
    return [colour, distances.indexOf(Math.min(...distances))];
  }));
  const indices = Uint8Array.from(pixels, (pixel) => nearest.get(pixel));
  const parts = [];
  for (let at = 0; at < indices.length; at += 32768) {
    parts.push(String.fromCharCode(...indices.subarray(at, at + 32768)));
  }
  const channels = palette.flatMap((colour) => [0, 8, 16].map((at) => (colour >> at) & 255));
  return { width, height, indices: btoa(parts.join("")), palette: channels };
}"""


def small_png(page: Page, picture: bytes) -> bytes:
    """The picture as a PNG with a palette; any page of a browser does the work."""
    reduced = page.evaluate(_REDUCE, b64encode(picture).decode())
    width, height = reduced["width"], reduced["height"]
    indices = b64decode(reduced["indices"])
    # A zero before each line: it is not filtered.
    lines = b"".join(b"\0" + indices[at : at + width] for at in range(0, len(indices), width))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(reduced["palette"])),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
