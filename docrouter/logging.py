"""structlog set-up: one line an event, context bound at the doors, standard library records through the same pipe."""

import logging
import logging.config
from typing import Any

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configure(options: dict[str, Any]) -> None:
    """Called by Django with settings.LOGGING: {level, json}."""
    # Plain tracebacks: the rich ones print local variables, which hold whole documents.
    console = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    renderer: Any = structlog.processors.JSONRenderer() if options["json"] else console
    final: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if options["json"]:
        final.append(structlog.processors.format_exc_info)
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "line": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "processors": [*final, renderer],
                    "foreign_pre_chain": _SHARED,
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": options["level"]},
            "loggers": {
                "django.db.backends": {"level": "WARNING"},
                "django.channels.server": {"level": "WARNING"},
                "daphne": {"level": "WARNING"},
                "celery": {"level": "WARNING"},
                "httpx": {"level": "WARNING"},
                "httpcore": {"level": "WARNING"},
                "openai": {"level": "WARNING"},
                "aiohttp": {"level": "WARNING"},
                "LiteLLM": {"level": "ERROR"},
                "RapidOCR": {"level": "ERROR"},
            },
        }
    )
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
