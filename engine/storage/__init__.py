"""The SQLite store: the only place with SQL.

`store.Store` is one file, `recorder.Recorder` writes to it during a run, `shelf.Shelf` reads
several files as one, `recovery` starts anew beside a damaged file. `records` is what goes in,
`rows` what comes out.
"""
