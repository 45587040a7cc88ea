"""Makes the tree-sitter grammar and its highlights from the ANTLR grammar and the compiler's
tables: generate.py [--check]. --check compares with what is there. `tree-sitter generate` makes the
parser of grammar.js.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "test", "house-rules"))

# Levels of precedence that only pass through would bury every name under a dozen nodes.
HIDDEN = {
    "expr",
    "comparison",
    "arithmetic",
    "cast",
    "unary",
    "primary",
    "suffix",
    "statement",
    "clause",
    "tuneItem",
}
WIDTH = 100
COMMENTS = ("DOC_COMMENT", "LINE_COMMENT", "BLOCK_COMMENT")
WORDS = (
    r"\s*(?:('(?:\\.|[^'\\])*')|(\[(?:\\.|[^\]\\])*\])|(\w+)\s*(=)(?!=)"
    r"|(#\s*\w+)|(\w+)|([()|?*+~.])|(->.*))"
)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return re.sub(r"^//.*$|(?<=\s)//.*$", "", file.read(), flags=re.M)


def rules(text):
    """{name: right side} of a grammar file; fragments are rules too."""
    return {
        name: body.strip()
        for name, body in re.findall(
            r"^(?:fragment\s+)?(\w+)\s*:((?:'(?:\\.|[^'\\])*'|\[(?:\\.|[^\]\\])*\]|[^;'\[])*);",
            text,
            re.M,
        )
    }


def snake(name):
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), name)


class Reader:
    """One right side as nested tuples: ("choice", …), ("seq", …), ("repeat", x), ("literal", …)."""

    def __init__(self, body):
        self.tokens = [match for match in re.finditer(WORDS, body)]
        self.at = 0
        self.labels = {}  # alternative: its label

    def peek(self):
        return self.tokens[self.at][0].strip() if self.at < len(self.tokens) else None

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def choice(self):
        options = [self.sequence()]
        while self.peek() == "|":
            self.take()
            options.append(self.sequence())
        return options[0] if len(options) == 1 else ("choice", *options)

    def sequence(self):
        parts = []
        label = None
        while self.peek() not in (None, "|", ")"):
            if self.peek().startswith("#"):
                label = self.take()[0].strip("# \t\n")
            elif self.peek().startswith("->"):
                self.take()
            else:
                parts.append(self.suffixed())
        result = parts[0] if len(parts) == 1 else ("seq", *parts)
        return ("label", label, result) if label else result

    def suffixed(self, repeats=True):
        token = self.take()
        word = token[0].strip()
        if token[4]:  # lo=expr
            inner = ("field", token[3], self.suffixed())
        elif word == "(":
            inner = self.choice()
            self.take()
        elif word == "~":
            inner = ("not", self.suffixed(repeats=False))
        elif word == ".":
            inner = ("any",)
        elif token[1]:
            inner = ("literal", token[1][1:-1])
        elif token[2]:
            inner = ("set", token[2])
        else:
            inner = ("name", word)
        while repeats and self.peek() in ("?", "*", "+"):
            inner = (
                {"?": "optional", "*": "repeat", "+": "repeat1"}[self.take()[0].strip()],
                inner,
            )
        return inner


def regex(node, lexer):
    """A lexer rule as a regular expression of JavaScript."""
    kind, *rest = node
    if kind == "literal":
        return re.sub(r"([\\/.*+?()\[\]{}|^$])", r"\\\1", rest[0].replace("\\\\", "\\"))
    if kind == "set":
        return rest[0].replace("/", "\\/")
    if kind == "not":
        inner = regex(rest[0], lexer)
        return "[^" + (inner[1:-1] if inner.startswith("[") else inner) + "]"
    if kind == "any":
        return r"[\s\S]"
    if kind == "name":
        return "(" + regex(Reader(lexer[rest[0]]).choice(), lexer) + ")"
    if kind == "choice":
        return "(" + "|".join(regex(each, lexer) for each in rest) + ")"
    if kind == "seq":
        return "".join(regex(each, lexer) for each in rest)
    inner = regex(rest[0], lexer)
    return (inner if re.fullmatch(r"\[.*\]|\(.*\)|\\?.", inner) else f"({inner})") + {
        "optional": "?",
        "repeat": "*",
        "repeat1": "+",
    }[kind]


def javascript(node, lexer, out, depth=0):
    """A parser rule in tree-sitter's words. Labelled alternatives become rules in `out`."""
    kind, *rest = node
    if kind == "label":
        name = snake(rest[0])
        out[name] = javascript(rest[1], lexer, out)
        return f"$.{name}"
    if kind == "field":
        return f"field('{rest[0]}', {javascript(rest[1], lexer, out)})"
    if kind == "name":
        name = rest[0]
        if not name.isupper():
            return "$." + ("_" if name in HIDDEN else "") + snake(name)
        if name == "EOF":
            return None
        body = Reader(lexer[name]).choice()
        return "'" + body[1] + "'" if body[0] == "literal" else "$." + name.lower()
    parts = [each for each in (javascript(each, lexer, out) for each in rest) if each]
    return parts[0] if kind == "seq" and len(parts) == 1 else f"{kind}({', '.join(parts)})"


def arguments(text):
    """The arguments of a call, `text` without its brackets: split at the commas that stand in no
    brackets, strings and regular expressions.
    """
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        sign = text[at]
        if sign in "'/":  # to its end; in a set of characters a slash is escaped, too
            at += 1
            while text[at] != sign:
                at += 2 if text[at] == "\\" else 1
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return [*parts, text[begin:].strip()]


def wrapped(text, indent, before=""):
    """Lines of `before` and the expression `text`: one where that fits, else one for each argument
    of the call that it is.
    """
    line = " " * indent + before + text + ","
    call, _, rest = text.partition("(")
    if len(line) <= WIDTH or not re.fullmatch(r"\w+", call):
        return [line]
    inner = [wrapped(each, indent + 2) for each in arguments(rest[:-1])]
    return [" " * indent + before + call + "(", *sum(inner, []), " " * indent + "),"]


def token(name, lexer):
    """A lexer rule as a token; alternatives that are too long for a line stand by themselves."""
    body = Reader(lexer[name]).choice()
    expression = regex(body, lexer)
    if body[0] == "choice" and len(expression) > WIDTH - 30:
        return "token(choice(" + ", ".join(f"/{regex(each, lexer)}/" for each in body[1:]) + "))"
    return f"token(/{expression}/)"


def grammar():
    lexer, parser = rules(read("grammar", "TileLexer.g4")), rules(read("grammar", "TileParser.g4"))
    done = {}
    for name, body in parser.items():
        if name in ("options", "parser"):
            continue
        extra = {}
        done[("_" if name in HIDDEN else "") + snake(name)] = javascript(
            Reader(body).choice(), lexer, extra
        )
        done |= extra
    for name in ("INT", "FLOAT", "STRING", "ID"):
        done[name.lower()] = token(name, lexer)
    for name in COMMENTS:
        done[name.lower()] = (
            f"token({'prec(1, ' if name == 'DOC_COMMENT' else ''}"
            f"/{regex(Reader(lexer[name]).choice(), lexer)}/)"
            + (")" if name == "DOC_COMMENT" else "")
        )
    lines = [
        "// Made by generate.py from grammar/*.g4.",
        "module.exports = grammar({",
        "  name: 'tile',",
        "  word: $ => $.id,",
        "  extras: $ => [/[ \\t\\r\\n\\f]/, "
        + ", ".join("$." + name.lower() for name in COMMENTS)
        + "],",
        "  rules: {",
    ]
    for name, body in done.items():
        lines += wrapped(body, 4, f"{name}: $ => ")
    return "\n".join(lines + ["  },", "});", ""])


def highlights():
    from check_editors import words

    kinds = {}
    for word, kind in sorted(words(ROOT).items()):
        kinds.setdefault(kind, []).append(word)
    keywords = [word for word in kinds["keyword"] if word not in ("true", "false", "None")]
    names = lambda list_: " ".join(f'"{word}"' for word in list_)
    return f"""; Made by generate.py from the grammar and the compiler's tables.
(line_comment) @comment
(block_comment) @comment
(doc_comment) @comment.documentation
(string) @string
(int) @number
(float) @number
[{names(["true", "false", "None"])}] @constant.builtin
[{names(keywords)}] @keyword
((name) @function.builtin (#any-of? @function.builtin {names(kinds["built-in"])}))
((name) @type.builtin (#any-of? @type.builtin {names(kinds["dtype"])}))
(type_spec (id) @type)
(attribute (name) @attribute)
(fn_decl (name) @function)
(kernel_decl (name) @function)
(param (name) @variable.parameter)
(fn_param (name) @variable.parameter)
(static_param (name) @variable.parameter)
"""


def main(*options):
    wrong = 0
    for path, text in (
        ("grammar.js", grammar()),
        (os.path.join("queries", "highlights.scm"), highlights()),
    ):
        full = os.path.join(HERE, path)
        if options == ("--check",):
            with open(full, encoding="utf-8") as file:
                if file.read() != text:
                    print(
                        f"{path} is not what the grammar says: run editors/tree-sitter/generate.py"
                    )
                    wrong = 1
        else:
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
    return wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
