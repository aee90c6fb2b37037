"""The settings of a deployment, unchanged but for the letters: they become files that a test can open."""

from docrouter.settings import *  # noqa: F403  # the settings themselves
from docrouter.settings import DATA_DIR

EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = DATA_DIR / "letters"
