"""What every service is beside its own work: logs, a graceful stop, health, and the options they have in common."""
