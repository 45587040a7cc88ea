"""Tensors of a device that a call must refuse, over the fake driver of the unit tests."""

import tempfile
import unittest

import numpy
import python_module as stand
import tile_compiler as tile


class Versioned:
    """NumPy's array by DLPack, told to be on a CUDA device."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return (2, 0)


class Exchange(stand.Exchange):
    """An f32 vector of 7 that the path through C reads by DLPack's exchange interface, the other by
    CUDA's.
    """

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.data + 16, False), "typestr": "<f4", "shape": (7,), "version": 3}


class Arguments(unittest.TestCase):
    def setUp(self):
        stand.fake.major, stand.fake.argumentCount, stand.fake.launchResult = 9, 6, 0
        stand.fake.symbols = b"scale_T_f16,scale_T_f32,scale_T_bf16,join,"
        self.folder = tempfile.TemporaryDirectory()
        self.scale = tile.load(stand.write(self.folder.name))["scale"]
        self.x = stand.Cai(0x1000, "<f4", (7,))
        self.before = stand.fake.launches

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        self.assertEqual(stand.fake.launches, self.before)

    def testReadOnly(self):
        frozen = stand.Cai(0x8000, "<f4", (7,))
        frozen.__cuda_array_interface__["data"] = (0x8000, True)
        self.refuses(
            tile.Error,
            "scale: 'y' is written by the kernel, but the array given is read-only",
            lambda: self.scale(self.x, frozen),
        )
        array = numpy.zeros(7, "f4")
        array.flags.writeable = False
        self.refuses(tile.Error, "scale: 'y' ", lambda: self.scale(self.x, Versioned(array)))

    def testNone(self):
        self.refuses(
            TypeError,
            "scale: 'y' is None, expected a tensor of f16 or f32 or bf16",
            lambda: self.scale(self.x, None),
        )

    def testPreparedWithSmallerTensors(self):
        torch = stand.makeTorch()
        try:
            tensor = lambda address, shape, strides=None: stand.TorchTensor(
                address, torch.float32, shape, strides
            )
            self.scale(
                tensor(0x1000, (7,)), tensor(0x8000, (7,))
            )  # introduces PyTorch to the path through C
            prepared = self.scale.prepare(tensor(0x1000, (7,)), tensor(0x8000, (7,)))
            prepared(tensor(0x2000, (7,)), tensor(0x9000, (7,)))
            self.before = stand.fake.launches
            self.refuses(
                tile.Error,
                "scale: 'y' has shape [3], but was prepared with [7]",
                lambda: prepared(tensor(0x1000, (7,)), tensor(0x8000, (3,))),
            )
            self.refuses(
                tile.Error,
                "scale: 'y' has strides [2], but was prepared with [1]",
                lambda: prepared(tensor(0x1000, (7,)), tensor(0x8000, (7,), (2,))),
            )
            small = self.scale.prepare(tensor(0x1000, (5,)), tensor(0x8000, (5,)))
            self.refuses(
                tile.Error,
                "scale: 'x' has shape [7], but was prepared with [5]",
                lambda: small(Exchange(0x3000), Exchange(0x9000)),
            )
        finally:
            del stand.sys.modules["torch"]


if __name__ == "__main__":
    unittest.main()
