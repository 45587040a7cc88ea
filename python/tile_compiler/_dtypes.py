"""The dtypes of the language, written from manifest/Dtypes.def by
test/house-rules/check_dtypes.py --update.
"""

# (name, bits, family, DLPack's type code, NumPy's type string without the order of bytes, the name
# in PyTorch, and in NumPy or ml_dtypes), None where there is none.
ROWS = (
    ("bool", 8, "Bool", 6, "b1", "bool"),
    ("i8", 8, "Signed", 0, "i1", "int8"),
    ("i16", 16, "Signed", 0, "i2", "int16"),
    ("i32", 32, "Signed", 0, "i4", "int32"),
    ("i64", 64, "Signed", 0, "i8", "int64"),
    ("u8", 8, "Unsigned", 1, "u1", "uint8"),
    ("u16", 16, "Unsigned", 1, "u2", "uint16"),
    ("u32", 32, "Unsigned", 1, "u4", "uint32"),
    ("u64", 64, "Unsigned", 1, "u8", "uint64"),
    ("f16", 16, "Float", 2, "f2", "float16"),
    ("bf16", 16, "Float", 4, None, "bfloat16"),
    ("f32", 32, "Float", 2, "f4", "float32"),
    ("f64", 64, "Float", 2, "f8", "float64"),
    ("f8e4m3", 8, "Float", 10, None, "float8_e4m3fn"),
    ("f8e5m2", 8, "Float", 12, None, "float8_e5m2"),
    ("i4", 4, "Signed", None, None, None),
    ("u4", 4, "Unsigned", None, None, None),
)
