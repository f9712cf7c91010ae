"""From engine codes and numbers to sentences. The one place that words a verdict, a reason, a message.

Nothing here calculates or decides: a comparison that the engine did not make is left out. Sentences are
whole, go through `tr`, and keep to the glossary; QtCore is the only Qt used.
"""
