"""The component kit: every page is built from these and nothing is styled twice.

Colours come from `arena_desktop.theme`, table contents from `arena_desktop.cells`. Widgets take data,
emit signals and know neither the engine nor the views.
"""
