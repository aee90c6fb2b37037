"""The settings of the tests: quicker hashing, own prefixes per process, nothing else made easier."""

import os
import tempfile
from pathlib import Path

from docrouter.settings import *  # noqa: F403  # the one star import: these are the settings, changed below
from docrouter.settings import BASE_DIR, CACHES, CELERY_BROKER_TRANSPORT_OPTIONS, CHANNEL_LAYERS, STORAGES

_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
_RUN = Path(os.environ.get("TEST_DATA_DIR") or tempfile.mkdtemp(prefix="docrouter-tests-"))
DATA_DIR = _RUN / _WORKER
FILES_DIR = DATA_DIR / "files"
RENDER_CACHE_DIR = DATA_DIR / "render-cache"
STORAGES["default"]["OPTIONS"]["location"] = str(FILES_DIR)
REDIS_PREFIX = f"test-{os.environ.get('TEST_REDIS_PREFIX', '')}{_WORKER}"
CACHES["default"]["KEY_PREFIX"] = REDIS_PREFIX
CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"{REDIS_PREFIX}:channels"
CELERY_BROKER_TRANSPORT_OPTIONS = {**CELERY_BROKER_TRANSPORT_OPTIONS, "global_keyprefix": f"{REDIS_PREFIX}:celery:"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECRET_KEY = "the tests sign with this"
OFFLINE_CHUNK_DELAY_MS = 0
STATIC_ROOT = BASE_DIR / "static"
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
RATE_LIMIT_SCALE = 0  # tests of the limits switch them on
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
PROVIDERS_IN_DATABASE = False  # nor read: tests of providers switch it on
WHITENOISE_AUTOREFRESH = True  # looks for a file when one is asked for, not for all of them in every client
