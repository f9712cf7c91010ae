"""Painter functions for the four kinds of chart: bars, lines over runs, cost against score, strip.

QtGui only, so that the same drawing goes to a widget, the clipboard, SVG, PDF and print. All words
and formatted figures are handed in with the data.
"""
