"""Access keys in words: how a connection stands, what a test found, what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.connections import how_to_start, service_title
from engine.connection_check import ConnectionCheck

GOOD, WARN, BAD, INFO, NEUTRAL = "good", "warn", "bad", "info", "neutral"
_ACCEPTED = ("works", "slow_down", "no_credit")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Keys", text)


@dataclass(frozen=True, slots=True)
class StateWords:
    """How a connection stands: chip (word, tone, icon) and the grey sentence beside it."""

    chip: str
    tone: str
    icon: str
    sentence: str


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What the words need to know of a state; see desks.key_desk.KeyState."""

    code: str
    source: str
    ends_in: str = ""
    name: str = ""
    host: str = ""
    reason: str = ""
    kept_at: datetime | None = None
    checked_code: str = ""
    checked_at: datetime | None = None
    has_key: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """The answer of a test: what happened, what it means and what to do; `page` (key, billing) helps."""

    tone: str
    first: str
    text: str
    page: str = ""


def state_words(facts: KeyFacts, now: datetime | None = None) -> StateWords:
    """A connection's chip and sentence. What a test said counts only while there is a key to use."""
    where = _where(facts, now)
    if facts.code not in ("found", "missing"):
        return _not_usable(facts, where)
    if facts.code == "missing":
        return StateWords(_tr("No key"), NEUTRAL, "key", _tr("No key yet"))
    chips = {
        "works": (_tr("Works"), GOOD, "check"),
        "key_refused": (_tr("Refused"), BAD, "close"),
        "no_credit": (_tr("No credit"), WARN, "warn"),
        "slow_down": (_tr("Works, but busy"), GOOD, "check"),
        "not_running": (_tr("Not running"), NEUTRAL, "pause"),
        "not_reachable": (_tr("Not reached"), WARN, "warn"),
        "offline": (_tr("No network"), WARN, "warn"),
        "service_down": (_tr("Service is down"), WARN, "warn"),
        "wrong_address": (_tr("Wrong address"), BAD, "close"),
        "failed": (_tr("Failed"), BAD, "close"),
    }
    chip, tone, icon = chips.get(facts.checked_code, (_tr("Not checked"), NEUTRAL, "clock"))
    return StateWords(chip, tone, icon, where)


def _not_usable(facts: KeyFacts, where: str) -> StateWords:
    chips = {
        "needs_yes": (_tr("Needs your yes"), WARN, "lock"),
        "refused_host": (_tr("Other address"), WARN, "lock"),
        "locked": (_tr("Locked"), WARN, "lock"),
        "no_backend": (_tr("No key"), NEUTRAL, "key"),
        "refused": (_tr("Not used"), BAD, "close"),
    }
    chip, tone, icon = chips.get(facts.code, (_tr("Not ready"), WARN, "warn"))
    sentence = facts.reason or where
    if facts.source == "command":
        sentence = _tr("The project gets its key from a command. That runs only in a trusted project.")
    return StateWords(chip, tone, icon, sentence)


def _where(facts: KeyFacts, now: datetime | None) -> str:
    """Where the key is from, how it ends, and the newest of kept and checked."""
    if not facts.has_key:
        return _tr("{host}, needs no key").format(host=facts.host)
    if facts.source == "environment":
        return _tr("Set by your computer")
    if facts.source == "session":
        origin = _tr("kept until you close the app")
    elif facts.source == "file":
        origin = _tr("from the file {name} of the project").format(name=facts.name)
    else:
        origin = ""
    parts = [ends_in(facts.ends_in), origin, _when(facts, now)]
    return ", ".join(part for part in parts if part) or _tr("kept in your key store")


def _when(facts: KeyFacts, now: datetime | None) -> str:
    if facts.checked_at is not None and facts.checked_code in _ACCEPTED:
        return _tr("checked {day}").format(day=_day(facts.checked_at, now))
    if facts.kept_at is not None:
        return _tr("stored {day}").format(day=_day(facts.kept_at, now))
    return ""


def _day(moment: datetime, now: datetime | None) -> str:
    """The day alone: the hour does not matter here."""
    return formats.when(moment, now).rsplit(" ", 1)[0] if _is_near(moment, now) else formats.when(moment, now)


def _is_near(moment: datetime, now: datetime | None) -> bool:
    today = (now or datetime.now().astimezone()).astimezone().date()
    return (today - moment.astimezone().date()).days in (0, 1)


def ends_in(last: str) -> str:
    """How a kept key is told from others without showing it."""
    return _tr("ends in …{last}").format(last=last) if last else ""


def kept_sentence(backend: str, usable: bool) -> str:
    """Where keys are kept on this computer."""
    if backend == "memory":
        return _tr("Kept in memory until the app closes (ARENA_KEYRING=memory). Never written anywhere.")
    if not usable:
        return _tr("This computer has no safe place for keys. They are kept until you close the app.")
    return _tr("Kept in {store}. Never written to projects, logs or exports.").format(store=backend)


def kept_short(backend: str, usable: bool) -> str:
    """The same, below the field."""
    if backend == "memory" or not usable:
        return _tr("Kept until you close the app, not in your project.")
    return _tr("Kept in {store}, not in your project.").format(store=store_name(backend))


def store_name(backend: str) -> str:
    """The key store as people know it."""
    names = {
        "SecretService": _tr("your system's keyring"),
        "libsecret": _tr("your system's keyring"),
        "KWallet": "KWallet",
        "macOS Keychain": _tr("your Keychain"),
    }
    return names.get(backend, backend)


def shape_hint(kind: str, guessed: str | None, starts: str, key: str) -> tuple[str, str]:
    """Tone and sentence about the look of a pasted key; empty where nothing is odd. Never a refusal."""
    if guessed is not None and guessed != kind:
        text = _tr("This looks like a key of {other}, not of {service}.")
        return WARN, text.format(other=service_title(guessed), service=service_title(kind))
    if starts and key and guessed is None and not key.startswith(starts):
        text = _tr("Keys of {service} usually start with {starts}.")
        return WARN, text.format(service=service_title(kind), starts=starts)
    return "", ""


# ---- answers of a test


def answer_words(check: ConnectionCheck, service: str, *, kind: str = "") -> KeyAnswer:
    """What a test found, as a message."""
    if check.ok:
        return _works(service, len(check.models), check.proves_key, check.sent_key)
    known = _answers(service, kind)
    if check.code in known:
        return known[check.code]
    first = {
        "missing": _tr("{service} has no access key yet."),
        "needs_yes": _tr("The key was not sent to {service}."),
        "refused_host": _tr("The key was not sent to {service}."),
        "locked": _tr("The key store is locked."),
        "no_backend": _tr("This computer has no safe place for keys."),
    }.get(check.code, _tr("{service} could not be asked."))
    # Why a missing key is missing is what the first sentence says already.
    why = "" if check.code == "missing" else check.detail
    return KeyAnswer(WARN, first.format(service=service), f"{why} {check.fix}".strip())


def _works(service: str, models: int, proves_key: bool, has_key: bool) -> KeyAnswer:
    offers = ""
    if models:
        one, many = _tr("It offers 1 model."), _tr("It offers {count} models.")
        offers = one if models == 1 else many.format(count=formats.whole(models))
    if not has_key:
        return KeyAnswer(GOOD, _tr("{service} answers.").format(service=service), offers)
    if not proves_key:
        text = _tr("It lists its models to everybody, so only the first question shows if the key is right.")
        return KeyAnswer(INFO, _tr("{service} answers.").format(service=service), text)
    first = _tr("{service} accepted the access key.").format(service=service)
    return KeyAnswer(GOOD, first, f"{offers} {_tr('Nothing was charged.')}".strip())


def _answers(service: str, kind: str) -> dict[str, KeyAnswer]:
    """By code."""
    return {
        "key_refused": KeyAnswer(
            BAD,
            _tr("{service} did not accept the access key.").format(service=service),
            _tr("It may be mistyped, expired or from another account. Nothing was charged."),
            "key",
        ),
        "no_credit": KeyAnswer(
            WARN,
            _tr("Your {service} account has no credit left.").format(service=service),
            _tr("The key itself is right. Add credit on the billing page, then check again."),
            "billing",
        ),
        "slow_down": KeyAnswer(
            INFO,
            _tr("{service} accepted the key, but asks us to slow down.").format(service=service),
            _tr("Try the check again in a minute. Nothing was charged."),
        ),
        "service_down": KeyAnswer(
            WARN,
            _tr("{service} is overloaded right now.").format(service=service),
            _tr("The key could not be checked. Usually this passes in a few minutes."),
        ),
        "offline": KeyAnswer(
            WARN,
            _tr("There is no internet connection."),
            _tr("The key could not be checked. Check again when the connection is back."),
        ),
        "not_reachable": KeyAnswer(
            WARN,
            _tr("{service} is not answering.").format(service=service),
            _tr("The key could not be checked. Look at the network and the address."),
        ),
        "not_running": KeyAnswer(
            WARN,
            _tr("{service} is not running.").format(service=service),
            _tr("Nothing answered on this computer. {how}").format(how=how_to_start(kind)),
        ),
        "wrong_address": KeyAnswer(
            BAD,
            _tr("The address is not the one of an AI service."),
            _tr("Something answered, but with something else. The address usually ends in /v1."),
        ),
    }


def saved_words(code: str, service: str, sentence: str, fix: str) -> KeyAnswer:
    """What became of keeping or removing a key."""
    if code == "removed":
        return KeyAnswer(GOOD, _tr("The key of {service} is removed.").format(service=service), "")
    if code in ("locked", "no_answer"):
        first = _tr("The key store is locked.")
        return KeyAnswer(WARN, first, _tr("Your computer asked for its password and got none."))
    return KeyAnswer(BAD, _tr("The key could not be kept."), f"{sentence} {fix}".strip())
