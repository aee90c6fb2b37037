"""What can go wrong while the built-in services start; each message is a sentence for a person."""


class EmbeddedError(Exception):
    """A built-in service cannot be started here; the message says why and what to do."""


class AlreadyRunningError(EmbeddedError):
    """Another launcher holds this data folder."""
