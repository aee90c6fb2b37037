"""HTTP and websocket put together."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docrouter.settings")

import django

django.setup(set_prefix=False)  # before anything that knows models is imported

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

from agent import runner
from docrouter.backpressure import paced
from docrouter.on_loop import Application
from docrouter.urls import websocket_urlpatterns
from llm.runtime import start_warming

start_warming()

if "twisted.internet.reactor" in sys.modules:  # under daphne, which has no other word for "about to stop"
    from twisted.internet import reactor, threads

    from docrouter.receiving import bound_bodies

    bound_bodies()
    reactor.addSystemEventTrigger("before", "shutdown", lambda: threads.deferToThread(runner.drain))  # type: ignore[arg-type]  # its stubs miss that reactor is an instance

application = ProtocolTypeRouter(
    {
        "http": paced(Application()),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
