"""Metrics, leaderboard, statistics and the verdict. Pure functions over stored scores."""
