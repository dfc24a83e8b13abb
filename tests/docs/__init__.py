"""The pages for people: what they tell to type works, where they point to is there, and what is made is current."""
