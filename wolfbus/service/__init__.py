"""What every service is beside its own work, and what runs several on one machine: logs, a graceful stop, health, a
supervisor, a Redis of their own, and how a house stands.
"""
