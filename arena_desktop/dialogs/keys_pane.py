"""Entering, testing and removing the key of one connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal

from arena_desktop.cells import Tone
from arena_desktop.desks.connections import KnownConnection
from arena_desktop.desks.key_desk import KeyDesk, KeyState, Saved, Tested
from arena_desktop.dialogs.keys_card import KeyCard, open_page
from arena_desktop.widgets.fields import set_state
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.wording import keys as words
from arena_desktop.wording.connections import service_facts
from engine.key_text import clean_pasted_key, guess_vendor


class KeyPane(KeyCard):
    """Enters, tests and removes the key of the chosen connection."""

    chosen = Signal(str)
    """The key of the KnownConnection that was chosen here."""
    models_wanted = Signal(object)
    """KnownConnection: the person wants to use the models of this connection."""

    def __init__(self, desk: KeyDesk) -> None:
        super().__init__()
        self._desk = desk
        self._states: dict[str, KeyState] = {}
        self._place: KnownConnection | None = None
        self._waiting = ""
        self._other_kind = ""
        self.can_use_models: Callable[[], bool] = lambda: False
        self.combo.currentIndexChanged.connect(self._on_combo)
        self.field.key_changed.connect(self._on_key)
        self.field.returnPressed.connect(self._on_save)
        self.button_remove.clicked.connect(self._on_remove)
        self.button_test.clicked.connect(self._on_test)
        self.button_save.clicked.connect(self._on_save)
        desk.saved.connect(self._on_saved)
        desk.tested.connect(self._on_tested)
        desk.removed.connect(self._on_removed)

    # what is shown

    def set_states(self, states: Sequence[KeyState]) -> None:
        """All connections and how they stand; the chosen one stays chosen."""
        self._states = {state.place.key: state for state in states}
        before = [self.combo.itemData(n) for n in range(self.combo.count())]
        wanted = list(self._states)
        self.combo.blockSignals(True)
        if before != wanted:
            self.combo.clear()
            for state in states:
                self.combo.addItem(state.place.title, state.place.key)
        chosen = self._place.key if self._place is not None else ""
        self.combo.setCurrentIndex(max(0, self.combo.findData(chosen)))
        self.combo.blockSignals(False)
        if self._place is not None and chosen in self._states:
            self._place = self._states[chosen].place
            self._show_state()
        elif states:
            self.show_place(str(self.combo.currentData()))

    def show_place(self, key: str) -> None:
        """Shows a connection by its key; what was pasted for another one is forgotten."""
        state = self._states.get(key)
        if state is None:
            return
        if self._place is None or self._place.key != key:
            self.field.forget()
            self.say(None)
            self._waiting = ""
        self._place = state.place
        self.combo.setCurrentIndex(self.combo.findData(key))
        self._show_place(state.place)
        self._show_state()

    def focus_field(self) -> None:
        """Ready for pasting, or at the first thing that can be done."""
        target = self.field if self.field.isEnabled() else self.button_test
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def place(self) -> KnownConnection | None:
        """The connection on show."""
        return self._place

    def _show_place(self, place: KnownConnection) -> None:
        what = ""
        if place.origin == "project":
            what = self.tr("This project asks {host}. A key entered here goes nowhere else.")
            what = what.format(host=place.host or place.address)
        self.show_service(place.title, service_facts(place.connection.kind, place.host), what)

    def _show_state(self) -> None:
        state = self._state()
        if state is None:
            return
        last = words.ends_in(state.ends_in) if state.source != "environment" else ""
        said = self.tr("was: {ending}").format(ending=last) if last else ""
        if state.source == "environment":
            said = self.tr("set by {variable}").format(variable=state.name)
        self.before.setText(said)
        elsewhere = state.place.elsewhere
        self.field.setEnabled(not elsewhere)
        placeholder = {
            "env": self.tr("The project takes it from a variable"),
            "file": self.tr("The project takes it from a file"),
            "cmd": self.tr("The project takes it from a command"),
        }.get(elsewhere, self.tr("Paste the key here"))
        self.field.setPlaceholderText(placeholder)
        self.button_remove.setVisible(state.kept_here and not elsewhere)
        choice = self._desk.choice
        usable = choice is not None and choice.backend is not None
        self.kept.label.setText(words.kept_short(choice.name if choice else "", usable))
        self.session_note.setVisible(choice is not None and not usable)
        if choice is not None and not usable:
            self.session_note.label.setText(f"{choice.sentence} {choice.fix}".strip())
        self.button_save.setText(self.tr("Save and check") if usable else self.tr("Keep for now"))
        self._fit_buttons()
        if self.message is None:
            self._say_why_not(state)

    def _state(self) -> KeyState | None:
        return self._states.get(self._place.key) if self._place is not None else None

    # doing

    def _on_combo(self, _index: int) -> None:
        key = str(self.combo.currentData() or "")
        if key:
            self.show_place(key)
            self.chosen.emit(key)

    def _on_key(self, key: str) -> None:
        set_state(self.field)
        self._other_kind = ""
        if self._place is None:
            return
        kind = self._place.connection.kind
        tone, text = words.shape_hint(kind, guess_vendor(key), self.facts.starts, key)
        self.note.show_note(self.field, tone, text)
        self._fit_buttons()

    def _fit_buttons(self) -> None:
        state, typed = self._state(), bool(self.field.text())
        idle = not self._waiting
        self.button_save.setEnabled(idle and typed)
        local = state is not None and not state.has_key and state.code == "found"
        locked = state is not None and state.code == "locked"
        can_test = typed or locked or (state is not None and (state.has_key or local))
        self.button_test.setEnabled(idle and can_test)
        words_ = self.tr("Check") if local and not typed else self.tr("Test key")
        self.button_test.setText(words_)
        self.button_remove.setEnabled(idle)

    def _on_save(self) -> None:
        place, key = self._place, self.field.text()
        if place is None or self._waiting or not key:
            return
        if not self._may_use(place, key):
            return
        self._wait(place, self.tr("Keeping the key. Your computer may ask for its password."))
        choice = self._desk.choice
        self._desk.save(place, key, session_only=choice is not None and choice.backend is None)

    def _on_test(self) -> None:
        place, key = self._place, self.field.text()
        if place is None or self._waiting:
            return
        if key and not self._may_use(place, key):
            return
        self._wait(place, self.tr("Asking {service}…").format(service=place.title))
        self._desk.test(place, clean_pasted_key(key)[0] if key else None)

    def _on_remove(self) -> None:
        place = self._place
        if place is None or self._waiting:
            return
        self._wait(place, self.tr("Removing the key…"))
        self._desk.remove(place)

    def _may_use(self, place: KnownConnection, key: str) -> bool:
        """Says what is wrong with a pasted text; a key of another vendor is sent only after a second yes."""
        cleaned, problems = clean_pasted_key(key)
        if problems:
            self.note.show_note(self.field, "bad", str(problems[0]))
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            return False
        other = guess_vendor(cleaned)
        if other is None or other == place.connection.kind or self._other_kind == other:
            return True
        if place.origin != "vendor":
            return True
        self._other_kind = other
        self._say_other_vendor(place, other)
        return False

    def _say_other_vendor(self, place: KnownConnection, other: str) -> None:
        home = next((s.place for s in self._states.values() if s.place.connection.id == other), None)
        buttons = []
        if home is not None:
            text = self.tr("Use it for {service}").format(service=home.title)
            buttons.append(StripButton(text, lambda: self._move_to(home), strong=True))
        _tone, first = words.shape_hint(place.connection.kind, other, "", "x")
        text = self.tr("It has not been sent anywhere. Press the button again to use it here all the same.")
        self.say(Message("key", Tone.WARN, first, text, tuple(buttons), can_close=False))
        self.note.show_note(self.field, "warn", "")
        set_state(self.field, "warn")

    def _move_to(self, place: KnownConnection) -> None:
        key = self.field.text()
        self.show_place(place.key)
        self.chosen.emit(place.key)
        self.field.setText(key)
        self.button_save.setFocus(Qt.FocusReason.OtherFocusReason)

    def test_kept(self) -> None:
        """Tests the kept key, whatever stands in the field."""
        self.field.forget()
        self._on_test()

    # answers

    def _on_saved(self, saved: Saved) -> None:
        mine = self._is_waited_for(saved.place)
        result = saved.result
        if result.ok:
            # The test follows; the pasted key is not needed here any more.
            if mine:
                self.field.forget()
                self._wait(saved.place, self.tr("Kept. Asking {service}…").format(service=saved.place.title))
            return
        if not mine:
            return
        self._waiting = ""
        answer = words.saved_words(result.code, saved.place.title, result.sentence, result.fix)
        place, key = saved.place, self.field.text()

        def for_now() -> None:
            self._wait(place, self.tr("Keeping the key until you close the app."))
            self._desk.save(place, key, session_only=True)

        buttons: tuple[StripButton, ...] = ()
        if result.code not in ("bad_key", "bad_base_url"):
            buttons = (
                StripButton(self.tr("Try again"), self._on_save),
                StripButton(self.tr("Keep for now"), for_now),
            )
        self.say(_message(answer, buttons))
        self._fit_buttons()

    def _on_tested(self, tested: Tested) -> None:
        if not self._is_waited_for(tested.place):
            return
        self._waiting = ""
        place, check = tested.place, tested.check
        answer = words.answer_words(check, place.title, kind=place.connection.kind)
        self.say(_message(answer, self._help_buttons(answer, tested)))
        if answer.tone == words.BAD and check.code == "key_refused":
            set_state(self.field, "bad")
        self._fit_buttons()

    def _on_removed(self, removed: Saved) -> None:
        if not self._is_waited_for(removed.place):
            return
        self._waiting = ""
        result = removed.result
        self.say(_message(words.saved_words(result.code, removed.place.title, result.sentence, result.fix)))
        self._fit_buttons()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _help_buttons(self, answer: words.KeyAnswer, tested: Tested) -> tuple[StripButton, ...]:
        if tested.check.ok and tested.check.models and not tested.pasted and self.can_use_models():
            place = tested.place
            return (StripButton(self.tr("Use these models…"), lambda: self.models_wanted.emit(place)),)
        if answer.page == "billing" and self.facts.billing_page:
            page = self.facts.billing_page
            return (StripButton(self.tr("Open the billing page"), lambda: open_page(page)),)
        return ()

    def _say_why_not(self, state: KeyState) -> None:
        """A key that is there but may not be used, with the one thing that helps."""
        if state.code == "locked":
            button = StripButton(self.tr("Unlock…"), self._on_test)
            first = self.tr("The key store is locked.")
            self.say(Message("key", Tone.WARN, first, state.fix, (button,), can_close=False))
        elif state.code == "refused_host":
            self.say(Message("key", Tone.INFO, state.reason, can_close=False))
        elif state.code == "needs_yes" and state.question:
            text = self.tr("Send the key to {host}").format(host=state.place.host)
            button = StripButton(text, self._on_allow)
            self.say(Message("key", Tone.WARN, state.reason, "", (button,), can_close=False))

    def _on_allow(self) -> None:
        state = self._state()
        if state is not None:
            self._desk.permit(state)
            self.say(None)
            self._desk.look([item.place for item in self._states.values()])

    def _is_waited_for(self, place: KnownConnection) -> bool:
        return self._waiting == place.key

    def _wait(self, place: KnownConnection, text: str) -> None:
        self._waiting = place.key
        self.say(Message("key", Tone.INFO, text, can_close=False))
        self._fit_buttons()


def _message(answer: words.KeyAnswer, buttons: tuple[StripButton, ...] = ()) -> Message:
    return Message("key", Tone(answer.tone), answer.first, answer.text, buttons, can_close=False)
