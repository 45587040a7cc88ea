"""Makes pictures of pages small: a PNG of true colours becomes one of at most 256 colours, which
pages have few of.
"""

import struct
import zlib

import numpy


def _chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length


def read(path):
    """Pixels of an 8-bit RGB or RGBA file, [height, width, 3]."""
    with open(path, "rb") as file:
        data = file.read()
    header, packed = b"", b""
    for kind, body in _chunks(data):
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
    width, height, depth, color = struct.unpack(">IIBB", header[:10])
    assert depth == 8 and color in (2, 6), "expected 8 bits of RGB or RGBA"
    channels = 3 if color == 2 else 4
    rows = numpy.frombuffer(zlib.decompress(packed), numpy.uint8).reshape(
        height, 1 + width * channels
    )
    pixels = numpy.zeros((height, width, channels), numpy.int32)
    above = numpy.zeros((width, channels), numpy.int32)
    for y in range(height):
        kind, line = rows[y, 0], rows[y, 1:].reshape(width, channels).astype(numpy.int32)
        if kind == 0:
            above = line
        elif kind == 1:
            above = numpy.cumsum(line, axis=0) & 255
        elif kind == 2:
            above = (line + above) & 255
        else:  # average and Paeth need the pixel on the left
            result = numpy.zeros_like(line)
            left = corner = numpy.zeros(channels, numpy.int32)
            for x in range(width):
                up = above[x]
                if kind == 3:
                    guess = (left + up) // 2
                else:
                    p = left + up - corner
                    a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                    guess = numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, corner))
                left = (line[x] + guess) & 255
                result[x] = left
                corner = up
            above = result
        pixels[y] = above
    return pixels[:, :, :3]


def write(path, pixels):
    """The same picture with the 256 colours that most pixels have; others take the nearest of
    them.
    """
    height, width, _ = pixels.shape
    codes = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
    colors, where, counts = numpy.unique(codes, return_inverse=True, return_counts=True)
    kept = numpy.argsort(-counts, kind="stable")[:256]
    parts = numpy.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1).astype(numpy.int64)
    palette = parts[kept]
    nearest = numpy.array(
        [int(numpy.argmin(((palette - one) ** 2).sum(axis=1))) for one in parts], numpy.uint8
    )
    image = nearest[where.reshape(height, width)]
    rows = numpy.concatenate([numpy.zeros((height, 1), numpy.uint8), image], axis=1).tobytes()

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", palette.astype(numpy.uint8).tobytes())
            + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b"")
        )


def shrink(path):
    write(path, read(path))
