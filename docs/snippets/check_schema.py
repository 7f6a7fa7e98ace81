import json
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import heedmap as hm

files = Path("schemas").glob("*.json")
schemas = {path.name: json.loads(path.read_text()) for path in files}
resources = [(name, Resource.from_contents(body)) for name, body in schemas.items()]
registry = Registry().with_resources(resources)
check = Draft202012Validator(schemas["trace-1.json"], registry=registry)

keys, values = [[0.1, 0.0], [1.0, 0.8]], [[0.1, 0.1], [1.0, 0.2]]
trace = hm.attend(query=[1.0, 0.6], key=keys, value=values).to_json()
check.validate(trace)
print(trace["schema"], "holds")
