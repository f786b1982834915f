"""The nouns of karat. Nothing here reads a file, draws a random number or prints."""
