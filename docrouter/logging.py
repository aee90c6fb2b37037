"""structlog set-up: one line an event, context bound at the doors, standard library records through the same pipe."""

import logging
import logging.config
import traceback
from collections.abc import Iterator
from typing import Any, TextIO

import structlog
from django.core.exceptions import ImproperlyConfigured
from structlog.typing import ExcInfo

_TELLING = (OSError, ImportError, ImproperlyConfigured)
"""Kinds whose messages are about the machine. Any other message may quote a document or a person's question."""

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configure(options: dict[str, Any]) -> None:
    """Called by Django with settings.LOGGING: {level, json}."""
    console = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=_write_exception)
    renderer: Any = structlog.processors.JSONRenderer() if options["json"] else console
    final: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if options["json"]:
        final.append(structlog.processors.ExceptionRenderer(_exception_text))
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
                # Their warnings name the address, which may hold an invitation or a share; refusals are no faults.
                "django.request": {"level": "ERROR"},
                "django.security.csrf": {"level": "ERROR"},
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


def _write_exception(stream: TextIO, exc_info: ExcInfo) -> None:
    stream.write("\n" + _exception_text(exc_info))


def _exception_text(exc_info: ExcInfo) -> str:
    """Where it happened and of which kind, with what caused it: no local variables and no messages."""
    return "\ncaused\n".join(_told(problem) for problem in reversed(list(_with_causes(exc_info[1]))))


def _with_causes(problem: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


def _told(problem: BaseException) -> str:
    message = f": {problem}" if isinstance(problem, _TELLING) else ""
    return "".join(traceback.format_tb(problem.__traceback__)) + type(problem).__qualname__ + message
