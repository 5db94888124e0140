"""Mistakes that the user can mend."""


class UserError(Exception):
    """One line (or a few) for the user, and the exit status."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status
