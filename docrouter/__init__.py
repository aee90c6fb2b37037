"""The roof: settings, urls, ASGI, Celery and the embedded services; knows every app."""
