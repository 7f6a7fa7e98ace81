from pathlib import Path

from heedmap.lab.registry import experiment
from heedmap.lab.request import Request
from heedmap.lab.run import RunPlace, perform

settings = {"causal": experiment("causal").Settings()}
request = Request("causal", settings, {"name": "minilm"}, limit=2)
report = perform(RunPlace(request, request.load(), Path("report")))
assert report.verdict == "not causal, as built"
assert report.figures["causal.usable"].value == 2
