"""From a name to a loaded torch module and its tokenizer: the catalogue, fetching, loading, safety.

Nothing heavy is imported here: `heedmap.models.load` imports torch only when it has found the model.
"""
