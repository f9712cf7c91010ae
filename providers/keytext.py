"""Keys as people paste them: what is trimmed, what is refused and how that is said."""

from __future__ import annotations

import unicodedata

from providers.base import ErrorKind, ProviderError

_TRIMMED = " \t\r\n\v\f\u00a0\u200b\u200c\u200d\u2060\ufeff"


def clean_key(text: str) -> str:
    """A pasted key without spaces, line breaks and invisible marks around it.

    Nothing inside the key is changed. The message of an error never shows the key.

    Raises:
        ProviderError: the key is empty or holds a character no key can hold; its place is named.
    """
    key = text.strip(_TRIMMED)
    if not key:
        raise _refused("The key is empty. Paste it again.")
    for place, sign in enumerate(key, 1):
        if not "!" <= sign <= "~":
            raise _refused(
                f"Character {place} of the key is {_describe(sign)}, which cannot be part of a key. "
                "Copy the key again from the vendor's page."
            )
    return key


def _describe(sign: str) -> str:
    if sign in "\r\n":
        return "a line break"
    if sign.isspace():
        return "a space"
    if unicodedata.category(sign) in ("Cf", "Cc", "Mn"):
        return f"an invisible character (U+{ord(sign):04X})"
    return f"“{sign}” ({unicodedata.name(sign, f'U+{ord(sign):04X}').lower()})"


def _refused(message: str) -> ProviderError:
    return ProviderError(ErrorKind.AUTH, message, should_retry=False, code="bad_key")
