"""The converter: a child process that makes PDFs of other formats. Run as `python -m documents.ingest.convert_child`.

Apart from the reader, whose start every document waits for: the office libraries take longest to load.
"""

import sys
from pathlib import Path

from documents.ingest import wire
from documents.ingest.child import read_limits, serve
from documents.ingest.convert import to_pdf


def main() -> None:
    limits = read_limits(sys.argv[1:])

    def convert(fields: wire.Fields, _: bytes) -> tuple[wire.Fields, bytes]:
        return {"notes": to_pdf(Path(fields["path"]), fields["kind"], Path(fields["target"]), limits)}, b""

    serve({"convert": convert}, limits)


if __name__ == "__main__":
    main()
