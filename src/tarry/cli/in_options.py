"""What went wrong in the words of the command line: advice names options, not arguments."""

from argparse import Namespace

ALWAYS = {
    "encoding='latin-1'": "--encoding latin-1",
    "give a dict with a different label for each policy": "name each policy and its settings once",
    "nothing is kept without folder": "nothing is kept without --out",
    "the same call goes on": "the same command goes on",
}
OF_MAX_DELAY = {
    "The max_delay is": "--max-delay is",
    "smaller max_delay": "smaller --max-delay",
    "at a max_delay": "at a --max-delay",
    "above max_delay": "above --max-delay",
}


def in_options(sentence: str, options: Namespace) -> str:
    """The sentence as somebody can follow it who typed these options."""
    told = {**ALWAYS, **(OF_MAX_DELAY if getattr(options, "max_delay", None) is not None else {})}
    for words, instead in told.items():
        sentence = sentence.replace(words, instead)
    return sentence
