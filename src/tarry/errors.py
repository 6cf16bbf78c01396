"""Every exception that tarry raises on purpose::

    TarryError
    ├── InputError (also a ValueError)      an argument is not allowed
    │   ├── UnknownNameError                a name nobody knows; offers the nearest
    │   │   └── UnknownArmError (also a KeyError)   no arm is called so in an answer by arm
    │   ├── PayoffError                     a payoff the policy cannot serve, or no payoff at all
    │   └── PolicyError                     a policy that lacks a method, or whose rule misbehaves
    ├── FileError (also an OSError)         a file that cannot be used
    │   ├── ProblemFileError                not a problem file of ours, or cut short
    │   └── ResultsError                    a results folder that is damaged or cannot be written
    │       ├── OtherExperimentError        a results folder of another experiment
    │       └── WriteError                  a file that could not be written
    ├── MissingExtraError (also an ImportError)   a package of an extra is not installed
    ├── ExecutorError                       workers that broke down, cannot be reached or differ
    └── LiveError                           a live agent was asked for something it cannot do
        ├── UnknownPlayError                no play has this id
        ├── ConflictError                   a second answer that differs from the first
        ├── JournalError                    the journal is damaged, foreign or in use
        └── ServiceError                    a service cannot be reached, or refuses the key

A message is one sentence: what was wrong, the value, and what is allowed.
"""

import difflib
from collections.abc import Iterable


class TarryError(Exception):
    """Base of all errors of tarry."""


class InputError(TarryError, ValueError):
    """An argument is not allowed."""


class UnknownNameError(InputError):
    """A name that nobody knows; the message offers the nearest ones."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> "UnknownNameError":
        """Say which `kind` of thing `name` should have been, and what comes near it."""
        names = sorted(known)
        by_lower = {candidate.lower(): candidate for candidate in names}
        near = difflib.get_close_matches(str(name).lower(), by_lower, n=3, cutoff=0.5)
        if near:
            hint = "did you mean " + " or ".join(by_lower[n] for n in near) + "?"
        else:
            hint = "known are " + ", ".join(names) + "."
        return cls(f"There is no {kind} named {name!r}; {hint}")


class UnknownArmError(UnknownNameError, KeyError):
    """An answer by arm was asked for an arm that is not there."""

    @classmethod
    def among(cls, name: object, arms: Iterable[str]) -> "UnknownArmError":
        """Say which arms there are."""
        return cls(f"There is no arm {name!r}; the arms are {', '.join(arms)}.")

    def __str__(self) -> str:
        """The sentence, which a KeyError would put into quotes."""
        return ", ".join(map(str, self.args))


class PayoffError(InputError):
    """A payoff that the policy cannot serve, or that is neither "cost" nor "reward"."""


class PolicyError(InputError):
    """A policy that lacks a method, or whose rule misbehaves."""


class FileError(TarryError, OSError):
    """A file that cannot be used."""


class ProblemFileError(FileError):
    """A problem file that is cut short, damaged or not ours."""


class ResultsError(FileError):
    """A results folder that is damaged, cannot be written, or holds something else."""


class OtherExperimentError(ResultsError):
    """A results folder that holds another experiment, or this one by another version."""


class WriteError(ResultsError):
    """A file of results that could not be written: the disk is full, say."""


class MissingExtraError(TarryError, ImportError):
    """A package is not installed that an extra of tarry would bring."""

    @classmethod
    def of(cls, purpose: str, package: str, extra: str) -> "MissingExtraError":
        """Say what the `package` is needed for, and which `extra` installs it."""
        return cls(
            f"{purpose} needs {package}, which is not installed; "
            f"install it with: pip install 'tarry[{extra}]'."
        )


class ExecutorError(TarryError):
    """Workers that broke down, cannot be reached, or run another version of tarry."""


class LiveError(TarryError):
    """A live agent was asked for something it cannot do."""


class UnknownPlayError(LiveError):
    """No play has this id."""


class ConflictError(LiveError):
    """A second answer for a play that differs from the first."""


class JournalError(LiveError):
    """A journal that is damaged, foreign, or in use by another process."""


class ServiceError(LiveError):
    """A service that cannot be reached, or that refuses whoever calls it."""
