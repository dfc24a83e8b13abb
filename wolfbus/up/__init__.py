"""A supervisor for one machine: starts the processes of a house, keeps them going, and leaves none behind."""
