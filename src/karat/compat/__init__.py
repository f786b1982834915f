"""The documented command lines and classes of other tools, each a thin shell over karat."""
