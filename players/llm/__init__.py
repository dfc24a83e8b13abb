"""Language models as players: prompts, the gateway to OpenAI-compatible servers, accounting, cassettes."""
