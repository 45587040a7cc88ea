"""Syntax colours of the Tile language for Pygments."""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

KEYWORDS = (
    "kernel fn const import as let var with in for while if else return break continue where"
    " specialize grid tune key config opt step out inout"
).split()
RESERVED = "struct enum match type pub use yield".split()
CONSTANTS = "true false None inf nan".split()
TYPES = (
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2 i4 u4 index int float "
    "string dtype"
).split()
# Built-ins and attributes are names like others: they count where they are called.
BUILTINS = (
    "exp exp2 expm1 log log2 log1p sqrt rsqrt sin cos tan tanh erf floor ceil round trunc sigmoid "
    "isnan isinf isfinite pow minnum maxnum mulhi cdiv abs sign popcount clz next_pow2 identity "
    "clamp fma where min max sum prod any all count argmax argmin load store inside gather "
    "scatter atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg "
    "atomic_cas zeros full iota reshape permute broadcast block blocks at scan cumsum cumprod "
    "reduce take dot bitcast ptx print assert lowest highest static_assert present view concat "
    "stack repeat flip sort topk histogram rand randn randint random_bits"
).split()
ATTRIBUTES = (
    "warps stages grouped cluster consumers occupancy maxreg fp unroll split trips persistent"
    " flatten"
).split()


class TileLexer(RegexLexer):
    """`.tile` files, and ```tile blocks of Markdown."""

    name = "Tile"
    aliases = ["tile"]
    filenames = ["*.tile"]
    mimetypes = ["text/x-tile"]
    tokens = {
        "root": [
            (r"///(?!/).*$", String.Doc),
            (r"//.*$", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r"\s+", Text),
            (r'"', String, "string"),
            (r"(kernel|fn)(\s+)([A-Za-z_]\w*)", bygroups(Keyword, Text, Name.Function)),
            (words(BUILTINS + ATTRIBUTES, prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
            (words(("persistent", "flatten"), prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (words(TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(RESERVED, prefix=r"\b", suffix=r"\b"), Error),
            (r"0x[0-9a-fA-F][0-9a-fA-F_]*|0b[01][01_]*", Number.Integer),
            (
                r"\d[0-9_]*\.\d[0-9_]*([eE][-+]?\d[0-9_]*)?|\d[0-9_]*[eE][-+]?\d[0-9_]*",
                Number.Float,
            ),
            (r"\d[0-9_]*", Number.Integer),
            (r"[A-Za-z_]\w*", Name),
            (r"\.\.=?|[-+*/%&|^=<>!~]+", Operator),
            (r"[][(){},;:.]", Punctuation),
        ],
        "comment": [(r"\*/", Comment.Multiline, "#pop"), (r"[^*]+|\*", Comment.Multiline)],
        "string": [
            (r'"', String, "#pop"),
            (r"\\.", String.Escape),
            (r'[^"\\\n]+', String),
            (r"\n", Text, "#pop"),
        ],
    }
