"""What a model is told: the rules, what all players know, what its seat alone knows, the question and the form."""
