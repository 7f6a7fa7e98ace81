"""The shapes of data: a sentence, a question about a word, a pair of questions, and two texts that part somewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Sentence:
    """One text, read for itself.

    Attributes:
        id: unique in its set.
        family: what sort of sentence it is; the set's name where the set does not say.
        text: the sentence.
    """

    id: str
    family: str
    text: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two texts that begin alike and part somewhere.

    Attributes:
        id: unique in its set.
        family: what sort of contrast it is.
        texts: the two.
    """

    id: str
    family: str
    texts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """One text, a word in it, and two nouns of which the word means one.

    Attributes:
        id: unique in its set.
        family: what sort of question it is.
        text: the sentence.
        word: the pronoun (or blank) as `Tokens.find` takes it: "it", or "they#2" where it stands several times.
        candidates: noun A and noun B, as they would stand in the word's place.
        answer: 0 where the word means A, 1 where it means B.
        unit: what is drawn again in a bootstrap: the id of the pair, or its own id where it has no twin.
        blank: whether the word only keeps the place of a candidate (WinoGrande's "_"), so that it cannot be asked about
            and the candidates go there exactly as they are.
    """

    id: str
    family: str
    text: str
    word: str
    candidates: tuple[str, str]
    answer: int
    unit: str
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a sentence: one small change, and the word means the other noun.

    Attributes:
        id: unique in its set.
        family: what sort of pair it is.
        texts: version 1 and version 2.
        words: the pronoun in each version, as `Tokens.find` takes it ("it", or "they#2").
        candidates: noun A and noun B.
        answers: for each version 0 (A) or 1 (B).
        other_order: both versions again, with the nouns in the other order and the same meaning; None where no such
            text is known.
        blank: whether the word is only a blank, see `Question`.
    """

    id: str
    family: str
    texts: tuple[str, str]
    words: tuple[str, str]
    candidates: tuple[str, str]
    answers: tuple[int, int]
    other_order: tuple[str, str] | None = None
    blank: bool = False

    @property
    def word(self) -> str:
        """The pronoun as it is written, for a heading.

        Example:
            >>> Pair("1", "f", ("It is here, it is big.", "It is here, it is small."), ("it#2", "it#2"),
            ...      ("the cat", "the dog"), (0, 1)).word
            'it'
        """
        return self.words[0].partition("#")[0]

    @property
    def questions(self) -> tuple[Question, Question]:
        """The two versions, each as a question of its own."""
        first, second = (
            Question(f"{self.id}/{version + 1}", self.family, text, word, self.candidates, answer, self.id, self.blank)
            for version, (text, word, answer) in enumerate(zip(self.texts, self.words, self.answers, strict=True))
        )
        return first, second

    def swapped(self) -> Pair | None:
        """The same pair with the nouns in the other order, where such a text is known.

        Example:
            >>> pair = Pair("1", "f", ("The cat saw the dog as it ran.", "The cat saw the dog as it sat."),
            ...             ("it", "it"), ("the cat", "the dog"), (0, 1),
            ...             ("The dog was seen by the cat as it ran.", "The dog was seen by the cat as it sat."))
            >>> pair.swapped().texts[0]
            'The dog was seen by the cat as it ran.'
        """
        if self.other_order is None:
            return None
        return replace(self, texts=self.other_order, other_order=self.texts)
