"""How many random examples a test looks at: a few, or as many as `make fuzz` wants."""

from hypothesis import settings


def examples(usual: int) -> int:
    """So many in `make test`, twenty times as many under the profile `explore`."""
    assert settings.default is not None
    return usual * settings.default.max_examples // settings.get_profile("repeatable").max_examples
