"""Games of other tables: the small form they come in, the kinds of logs it is made of, and what is shown of it."""
