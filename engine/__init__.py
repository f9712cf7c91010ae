"""The engine: reads projects, asks models, scores answers, keeps runs. No widgets, no screen words."""
