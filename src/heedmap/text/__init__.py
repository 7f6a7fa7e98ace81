"""Words, tokens, spans and labels: what a person wrote against what the model saw.

- `tokenize` cuts a text into `Tokens`, each with its place in the text and a label fit to be shown;
  `from_ids` does the same where only the numbers are known.
- `Tokens.find` turns a word into the tokens it is made of; `Tokens.words` and `Tokens.groups` give all of them.
- `merge` turns weights between tokens into weights between words.
"""

from heedmap.text.merge import merge
from heedmap.text.tokenize import from_ids, tokenize
from heedmap.text.tokens import Token, Tokens, Word

__all__ = ["Token", "Tokens", "Word", "from_ids", "merge", "tokenize"]
