"""Checks a JSON document against a JSON Schema, as far as this project's schemas use that language:
check_schema.py SCHEMA FILE.
"""

import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "required",
    "properties",
    "items",
    "additionalProperties",
    "minimum",
    "maximum",
    "minItems",
    "pattern",
    "anyOf",
}


def hasType(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def problems(schema, value, root, path):
    unknown = set(schema) - KNOWN
    assert not unknown, f"the checker does not know {unknown}"
    if "$ref" in schema:
        yield from problems(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, root, path)
    if "anyOf" in schema and all(
        any(True for _ in problems(each, value, root, path)) for each in schema["anyOf"]
    ):
        yield f"{path}: fits no alternative: {value!r}"
    if "type" in schema and not hasType(value, schema["type"]):
        yield f"{path}: expected {schema['type']}, found {value!r}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{path}: expected {schema['const']!r}, found {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: expected one of {schema['enum']}, found {value!r}"
    if (
        "minimum" in schema
        and value < schema["minimum"]
        or "maximum" in schema
        and value > schema["maximum"]
    ):
        yield f"{path}: {value} is out of range"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{path}: lacks {key}"
        for key, each in value.items():
            if key in schema.get("properties", {}):
                yield from problems(schema["properties"][key], each, root, f"{path}.{key}")
            elif schema.get("additionalProperties", True) is False:
                yield f"{path}: the schema does not know {key}"
            elif isinstance(schema.get("additionalProperties"), dict):
                yield from problems(schema["additionalProperties"], each, root, f"{path}.{key}")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{path}: too few items"
        for i, each in enumerate(value):
            yield from problems(schema.get("items", {}), each, root, f"{path}[{i}]")


schema, document = (json.load(open(path)) for path in sys.argv[1:3])
found = list(problems(schema, document, schema, "$"))
print("\n".join(found))
sys.exit(bool(found))
