"""All knobs, read once and typed; a bad value stops the start. Defaults are for development on loopback."""

import base64
import hashlib
import hmac
import os
from ipaddress import ip_network
from pathlib import Path

import environ


def derived_key(secret: str, job: str) -> str:
    """A key for one job only, as text that Fernet takes too: 32 bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(hmac.new(secret.encode(), job.encode(), hashlib.sha256).digest()).decode()


BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.FileAwareEnv()
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / ".data"))).absolute()
for _file in (BASE_DIR / ".env", DATA_DIR / "env"):
    if _file.is_file():
        env.read_env(str(_file))

# --- Django ---------------------------------------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="insecure-development-key")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", default=False)
ROOT_URLCONF = "docrouter.urls"
ASGI_APPLICATION = "docrouter.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"
APPEND_SLASH = False
FORM_RENDERER = "django.forms.renderers.DjangoTemplates"

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
    "lucide",
    "csp",
    "core",
    "organizations",
    "webhooks",
    "llm",
    "tags_app",
    "schemas_app",
    "prompts_app",
    "documents",
    "agent",
    "docrouter",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "core.logging_context.RequestLogMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "organizations.middleware.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "core.pages.DomainErrorMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "docrouter.context.shell",
            ],
            "builtins": ["django_htmx.templatetags.django_htmx", "lucide.templatetags.lucide"],
        },
    }
]

# --- Stores ---------------------------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", default="postgresql://postgres@127.0.0.1:5432/docrouter")
DATABASES = {
    "default": {
        **env.db_url_config(DATABASE_URL),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": env.int("DATABASE_POOL_SIZE", default=16), "timeout": 10},
        },
    }
}
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")
REDIS_PREFIX = env.str("REDIS_PREFIX", default="docrouter")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": f"{REDIS_PREFIX}:channels"},
    }
}
FILES_DIR = Path(env.str("FILES_DIR", default=str(DATA_DIR / "files")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(FILES_DIR)}},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_USE_FINDERS = True
RENDER_CACHE_DIR = DATA_DIR / "render-cache"
RENDER_CACHE_BYTES = env.int("RENDER_CACHE_BYTES", default=1024 * 1024 * 1024)
RENDER_PROCESSES = env.int("RENDER_PROCESSES", default=1)

# --- Celery ---------------------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": f"{REDIS_PREFIX}:celery:", "visibility_timeout": 3600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# --- Who ------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "organizations.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "organizations:sign_in"
LOGIN_REDIRECT_URL = "documents:list"
LOGOUT_REDIRECT_URL = "organizations:sign_in"
SIGN_IN_ATTEMPTS = env.int("SIGN_IN_ATTEMPTS", default=10)
SIGN_IN_LOCK_SECONDS = env.int("SIGN_IN_LOCK_SECONDS", default=300)
SESSION_COOKIE_AGE = 14 * 24 * 3600
DEMO = env.bool("DEMO", default=False)
DEMO_PASSWORD = env.str("DEMO_PASSWORD", default="")
# Each job has keys of its own: the first signs or encrypts, all are accepted, so that keys can be changed.
SESSION_SIGNING_KEYS = env.list("SESSION_SIGNING_KEYS", default=[derived_key(SECRET_KEY, "sessions")])
ENCRYPTION_KEYS = env.list("ENCRYPTION_KEYS", default=[derived_key(SECRET_KEY, "encryption")])
REQUEST_SIGNING_KEYS = env.list("REQUEST_SIGNING_KEYS", default=[])  # shared with a front end; none: no such sign-in
API_SESSION_SECONDS = env.int("API_SESSION_SECONDS", default=24 * 3600)
# Such as smtp+tls://user:password@host:587
_EMAIL = {"EMAIL_USE_TLS": False, "EMAIL_USE_SSL": False, **env.email_url("EMAIL_URL", default="consolemail://")}
EMAIL_BACKEND = _EMAIL["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = _EMAIL["EMAIL_HOST"] or "localhost", _EMAIL["EMAIL_PORT"] or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _EMAIL["EMAIL_HOST_USER"] or "", _EMAIL["EMAIL_HOST_PASSWORD"] or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL["EMAIL_USE_TLS"], _EMAIL["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = env.int("EMAIL_TIMEOUT", default=10)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="docrouter@localhost")
PUBLIC_URL = env.str("PUBLIC_URL", default="")  # where people reach us, for links in e-mails
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
RATE_LIMIT_SCALE = env.float("RATE_LIMIT_SCALE", default=1.0)

# --- Documents ------------------------------------------------------------------------------------------------
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_BYTES", default=100 * 1024 * 1024)
MAX_UPLOAD_FILES = env.int("MAX_UPLOAD_FILES", default=100)
MAX_PAGES = env.int("MAX_PAGES", default=2000)
MAX_IMAGE_PIXELS = env.int("MAX_IMAGE_PIXELS", default=100_000_000)
PARSE_SECONDS_PER_PAGE = env.int("PARSE_SECONDS_PER_PAGE", default=60)
PARSE_SECONDS_PER_DOCUMENT = env.int("PARSE_SECONDS_PER_DOCUMENT", default=1800)
PARSE_MEMORY_BYTES = env.int("PARSE_MEMORY_BYTES", default=2 * 1024 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_UPLOAD_FILES
EXTRACTION_TEXT_CHARS = env.int("EXTRACTION_TEXT_CHARS", default=300_000)
SHARE_TICKET_SECONDS = env.int("SHARE_TICKET_SECONDS", default=600)
SHARE_MAX_ANSWERS = env.int("SHARE_MAX_ANSWERS", default=50)
SHARE_MAX_COST_USD = env.float("SHARE_MAX_COST_USD", default=1.0)
RUN_LEASE_SECONDS = env.int("RUN_LEASE_SECONDS", default=30)
RUN_ATTEMPTS = env.int("RUN_ATTEMPTS", default=3)
# How many runs all workers of a pool work on at once, and at most how many of them are of one organization.
_READERS = env.int("WORKER_CONCURRENCY", default=len(os.sched_getaffinity(0)))
RUN_SLOTS = {"ingest": env.int("INGEST_SLOTS", default=_READERS), "llm": env.int("LLM_SLOTS", default=8)}
RUNS_OF_AN_ORGANIZATION = {
    "ingest": env.int("INGEST_SLOTS_OF_AN_ORGANIZATION", default=RUN_SLOTS["ingest"]),
    "llm": env.int("LLM_SLOTS_OF_AN_ORGANIZATION", default=RUN_SLOTS["llm"]),
}

# --- Models ---------------------------------------------------------------------------------------------------
# Every NAME_API_KEY / NAME_API_BASE in the environment is a provider of litellm's by that name.
MODEL_PROVIDERS = ("openai", "anthropic", "gemini", "mistral", "groq", "xai", "openrouter", "azure")
MODEL_PROVIDER_KEYS = {name: key for name in MODEL_PROVIDERS if (key := env.str(f"{name.upper()}_API_KEY", default=""))}
MODEL_API_BASES = {name: base for name in MODEL_PROVIDERS if (base := env.str(f"{name.upper()}_API_BASE", default=""))}
CHAT_MODELS = env.list("CHAT_MODELS", default=[])
PROVIDERS_IN_DATABASE = env.bool("PROVIDERS_IN_DATABASE", default=True)  # off: nobody can change what stands here
DEFAULT_CHAT_MODEL = env.str("DEFAULT_CHAT_MODEL", default="")
DEFAULT_EXTRACTION_MODEL = env.str("DEFAULT_EXTRACTION_MODEL", default="")
MODEL_CONNECT_SECONDS = env.float("MODEL_CONNECT_SECONDS", default=10)
MODEL_FIRST_CHUNK_SECONDS = env.float("MODEL_FIRST_CHUNK_SECONDS", default=60)
MODEL_CHUNK_SECONDS = env.float("MODEL_CHUNK_SECONDS", default=60)
MODEL_RETRIES = env.int("MODEL_RETRIES", default=3)
MODEL_THINKING_TOKENS = env.int("MODEL_THINKING_TOKENS", default=4096)
OFFLINE_CHUNK_DELAY_MS = env.int("OFFLINE_CHUNK_DELAY_MS", default=8)

# --- Keeping --------------------------------------------------------------------------------------------------
TRASH_DAYS = env.int("TRASH_DAYS", default=30)  # then what was deleted, and what a closed organization had, is gone
SENT_DAYS = env.int("SENT_DAYS", default=30)  # the exact words that were sent to models

# --- Agent ----------------------------------------------------------------------------------------------------
AGENT_MAX_ROUNDS = env.int("AGENT_MAX_ROUNDS", default=10)
AGENT_FOLLOW_UPS = env.int("AGENT_FOLLOW_UPS", default=2)
AGENT_HISTORY_MESSAGES = env.int("AGENT_HISTORY_MESSAGES", default=20)
AGENT_HISTORY_TOKENS = env.int("AGENT_HISTORY_TOKENS", default=24_000)
AGENT_EXCERPT_CHARS = env.int("AGENT_EXCERPT_CHARS", default=8_000)
AGENT_MENTION_CHARS = env.int("AGENT_MENTION_CHARS", default=8_000)
AGENT_MAX_MENTIONS = env.int("AGENT_MAX_MENTIONS", default=10)
AGENT_RESULT_CHARS = env.int("AGENT_RESULT_CHARS", default=12_000)
AGENT_APPROVAL_TTL = env.int("AGENT_APPROVAL_TTL", default=7 * 24 * 3600)
AGENT_LEASE_SECONDS = env.int("AGENT_LEASE_SECONDS", default=30)
AGENT_LEASE_RENEW_SECONDS = env.int("AGENT_LEASE_RENEW_SECONDS", default=10)
AGENT_MAX_COST_PER_TURN = env.float("AGENT_MAX_COST_PER_TURN", default=1.0)
ANSWER_TEXT_CHARS = env.int("ANSWER_TEXT_CHARS", default=100_000)  # of a document's pages, for one question
ANSWER_MAX_TOKENS = env.int("ANSWER_MAX_TOKENS", default=2000)
ANSWER_SECONDS = env.int("ANSWER_SECONDS", default=240)
AGENT_STREAM_SECONDS = env.int("AGENT_STREAM_SECONDS", default=3600)
AGENT_NEVER_AUTO_APPROVED = env.list(
    "AGENT_NEVER_AUTO_APPROVED",
    default=["delete_document", "delete_schema", "delete_prompt", "delete_tag"],
)
# Runs of the agent that nobody watches: for one attempt.
AUTO_CREATE_SECONDS = env.float("AUTO_CREATE_SECONDS", default=120)
AUTO_CREATE_MAX_ROUNDS = env.int("AUTO_CREATE_MAX_ROUNDS", default=12)
AUTO_CREATE_REFINEMENTS = env.int("AUTO_CREATE_REFINEMENTS", default=2)
AUTO_CREATE_MAX_COST = env.float("AUTO_CREATE_MAX_COST", default=0.5)  # US dollars
AUTO_CREATE_REUSE_SHARE = env.float("AUTO_CREATE_REUSE_SHARE", default=0.8)  # of a schema's fields that are found

# --- Webhooks -------------------------------------------------------------------------------------------------
WEBHOOK_CONNECT_SECONDS = env.float("WEBHOOK_CONNECT_SECONDS", default=5)
WEBHOOK_SECONDS = env.float("WEBHOOK_SECONDS", default=15)  # for one attempt, from the name to the end of the answer
WEBHOOK_RETRY_SECONDS = env.list("WEBHOOK_RETRY_SECONDS", cast=float, default=[5, 30, 300])
WEBHOOK_SENDERS = env.int("WEBHOOK_SENDERS", default=4)  # at one moment, all workers together
WEBHOOK_LEASE_SECONDS = env.float("WEBHOOK_LEASE_SECONDS", default=60)
WEBHOOK_GIVE_UP_AFTER = env.int("WEBHOOK_GIVE_UP_AFTER", default=20)  # lost deliveries in a row
WEBHOOK_KEEP_DAYS = env.int("WEBHOOK_KEEP_DAYS", default=30)
WEBHOOK_PORTS = env.list("WEBHOOK_PORTS", cast=int, default=[])  # none: any
WEBHOOK_ALLOW_PRIVATE = env.bool("WEBHOOK_ALLOW_PRIVATE", default=False)  # loopback and private networks as well
WEBHOOK_ALLOWED_NETWORKS = [ip_network(text) for text in env.list("WEBHOOK_ALLOWED_NETWORKS", default=[])]

# --- Security -------------------------------------------------------------------------------------------------
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "style-src": ["'self'"],
        "style-src-attr": ["'unsafe-inline'"],
        "script-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- API ------------------------------------------------------------------------------------------------------
REST_FRAMEWORK: dict[str, object] = {
    "DEFAULT_PERMISSION_CLASSES": [],  # each base view of organizations/api/doors.py says who may come in
    "DEFAULT_SCHEMA_CLASS": "core.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "core.api.errors.answer_problem",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "DocRouter",
    "VERSION": "0",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "Documents in, checked data out. `/v0` is what the published DocRouter clients speak.",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,  # a body says itself what may be left out
    "SCHEMA_PATH_PREFIX": "/v[0-9]",
    "TAGS": [
        {"name": name}
        for name in (
            *("Documents", "OCR", "Extraction", "Agent", "Schemas", "Prompts", "Tags", "Models"),
            *("Webhooks", "Organizations", "Users", "Tokens", "Account", "E-mail"),
            *("Documents (v1)", "Runs (v1)", "Responses", "Sharing (v1)", "Aliases (v1)"),
        )
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"persistAuthorization": False, "displayRequestDuration": True},
    "POSTPROCESSING_HOOKS": ["core.api.schema.finish_schema"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}
MAX_BODY_BYTES = env.int("MAX_BODY_BYTES", default=10 * 1024 * 1024)  # uploads have MAX_UPLOAD_BYTES
IDEMPOTENCY_SECONDS = env.int("IDEMPOTENCY_SECONDS", default=24 * 3600)
# Per person and minute; an organization has ten times as much. RATE_LIMIT_SCALE multiplies them, 0 switches them off.
RATE_LIMITS = {
    "sign_in": env.int("RATE_LIMIT_SIGN_IN", default=10),
    "token_resolve": env.int("RATE_LIMIT_TOKEN_RESOLVE", default=30),
    "upload": env.int("RATE_LIMIT_UPLOAD", default=60),
    "chat": env.int("RATE_LIMIT_CHAT", default=60),
    "api": env.int("RATE_LIMIT_API", default=600),
    "public": env.int("RATE_LIMIT_PUBLIC", default=600),  # of a network address, on shared and published pages
    "share_password": env.int("RATE_LIMIT_SHARE_PASSWORD", default=10),  # of a network address, for one link
    "share_passwords": env.int("RATE_LIMIT_SHARE_PASSWORDS", default=60),  # of all together, for one link
}
RATE_LIMIT_OF_AN_ORGANIZATION = 10

# --- Logs -----------------------------------------------------------------------------------------------------
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOG_JSON = env.bool("LOG_JSON", default=False)
LOGGING_CONFIG = "docrouter.logging.configure"
LOGGING = {"level": LOG_LEVEL, "json": LOG_JSON}
