import json
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import heedmap as hm

schemas = {path.name: json.loads(path.read_text()) for path in Path("schemas").glob("*.json")}
registry = Registry().with_resources((name, Resource.from_contents(body)) for name, body in schemas.items())

trace = hm.attend(query=[1.0, 0.6], key=[[0.1, 0.0], [1.0, 0.8]], value=[[0.1, 0.1], [1.0, 0.2]]).to_json()
Draft202012Validator(schemas["trace-1.json"], registry=registry).validate(trace)
print(trace["schema"], "holds; weights", [round(weight, 2) for weight in trace["weights"][0]])
