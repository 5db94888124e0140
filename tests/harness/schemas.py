"""Reports, and the schemas that describe them."""

import json
import pathlib

import jsonschema
import straightway

FOLDER = pathlib.Path(straightway.__file__).parent / "schemas"


def check(name, report, needs):
    """A report is as NAME.schema.json says. Without the key `needs`, or under
    another schema's name, it would not be."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema)
    found.validate(report)
    assert not found.is_valid({**report, "schema": "straightway-other/1"})
    assert not found.is_valid({key: value for key, value in report.items()
                               if key != needs})
