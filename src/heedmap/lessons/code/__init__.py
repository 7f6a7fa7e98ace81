"""Code exercises: the learner's own functions, run in a process of their own and held against the published vectors."""
