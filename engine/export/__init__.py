"""What leaves the program: documents and reports from stored runs. Sentences are handed in."""
