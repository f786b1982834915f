"""Running language models: candidate scores, probabilities, next-sentence training.

Only this folder imports torch and transformers, which the extra `models` brings.
"""
