"""Item models: records in, cells out. No widgets here."""
