"""HTTP and websocket put together."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docrouter.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

from docrouter.urls import websocket_urlpatterns
from llm.runtime import start_warming

start_warming()

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
