"""Sending a letter: plain text, in the language of who asked for it. What it says is never logged."""

import smtplib
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string

from organizations.errors import LetterNotSent

TIMEOUT_SECONDS = 10
log = structlog.get_logger(__name__)


def send_letter(*, to: str, subject: str, template: str, context: dict[str, Any]) -> None:
    """Returns when the mail server has it. Raises: LetterNotSent."""
    connection = get_connection(timeout=settings.EMAIL_TIMEOUT or TIMEOUT_SECONDS)
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body=render_to_string(f"organizations/letters/{template}.txt", context),
        to=[to],
        connection=connection,
    )
    try:
        message.send()
    except (OSError, smtplib.SMTPException) as problem:
        log.warning("letter.not_sent", letter=template, problem=type(problem).__name__)
        raise LetterNotSent() from problem
    log.info("letter.sent", letter=template)
