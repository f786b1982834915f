"""A Report as text, JSON, CSV or Markdown. Sees nothing but the model."""
