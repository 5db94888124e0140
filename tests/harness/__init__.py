"""What the tests stand on: the MPIs to test under, and how to run jobs."""
