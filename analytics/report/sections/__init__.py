"""The report's sections, one module each: findings and context in, blocks out."""
