"""Players: whatever answers as a seat; scripted, a language model, a human, any outside process."""
