"""Read-only data that ships with the program: icons, job types, model facts."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent
