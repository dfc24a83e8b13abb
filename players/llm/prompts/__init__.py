"""What a model is sent: the rules, what all players know, what its seat alone knows, the question and the form."""
