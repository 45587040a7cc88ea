"""Checks a SARIF log: sarif.py LOG SOURCE [CODE]. With CODE, the first result has a rule of that
beginning, its place is in SOURCE, and its first fix, applied, removes the mistake's text.
"""

import json
import sys

log = json.load(open(sys.argv[1]))
assert log["version"] == "2.1.0" and len(log["runs"]) == 1, log
run = log["runs"][0]
assert run["tool"]["driver"]["name"] == "tilec", run
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert len(rules) == len(set(rules)) and {result["ruleId"] for result in run["results"]} == set(
    rules
), rules
if len(sys.argv) < 4:
    assert run["results"] == [], run["results"]
    sys.exit()
result = run["results"][0]
assert result["ruleId"].startswith(sys.argv[3]) and result["level"] == "error", result
place = result["locations"][0]["physicalLocation"]
assert place["artifactLocation"]["uri"] == sys.argv[2], place
text = open(sys.argv[2]).read()
region = place["region"]
line = text.splitlines()[region["startLine"] - 1]
assert (
    line[region["startColumn"] - 1 : region["endColumn"] - 1]
    == "blok"
    == text[region["byteOffset"] : region["byteOffset"] + region["byteLength"]]
), region
change = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
begin, length = change["deletedRegion"]["byteOffset"], change["deletedRegion"]["byteLength"]
fixed = text[:begin] + change["insertedContent"]["text"] + text[begin + length :]
assert "block(i, 64)" in fixed and "blok" not in fixed, fixed
