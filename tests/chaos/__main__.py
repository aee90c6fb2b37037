"""`make chaos`: KILLS=50 random kills of a running product; prints figures, fails on anything that must not be."""

import os
import shutil
import sys

from tests.chaos.site import site
from tests.chaos.storm import show, storm
from tests.docrouter.launchers import ROOT


def main() -> int:
    data_dir = ROOT / ".data" / "chaos"
    shutil.rmtree(data_dir, ignore_errors=True)
    with site(data_dir) as product:
        auto_create = os.environ.get("AUTO_CREATE", "1") == "1"
        figures = storm(product, kills=int(os.environ.get("KILLS", "50")), auto_create=auto_create)
        sys.stdout.write(show(figures) + "\n")
        (data_dir / "logs" / "run.log").write_text(product.run.text)
    return 0 if figures.is_sound else 1


if __name__ == "__main__":
    raise SystemExit(main())
