# One image for web, workers and clock; compose.yaml says which is which. Nothing is downloaded when it runs.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DATA_DIR=/data PATH=/app/.venv/bin:$PATH
WORKDIR /app

# The requirements first: they change less often than the code.
COPY requirements-bootstrap.txt requirements.txt ./
COPY docrouter/install.py docrouter/install.py
RUN python3 docrouter/install.py

COPY . .
RUN useradd --system --uid 10001 --home-dir /data docrouter && install -d -o docrouter -m 0700 /data
USER docrouter
VOLUME /data
EXPOSE 8000

CMD ["daphne", "-b", "0.0.0.0", "-p", "8000", "-v", "0", "--no-server-name", "docrouter.asgi:application"]
