"""A page in headless Chromium, for the tests that drive one; they skip where it is not installed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="selenium is not installed: pip install 'tussock[readers]'"
)
pytest.importorskip("viser", reason="viser is not installed: pip install 'tussock[view]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
NEEDS_CHROMIUM = [
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="Chromium is not installed: apt-get install chromium chromium-driver"
    ),
    pytest.mark.filterwarnings("ignore"),  # those of the web server's and the browser driver's own libraries
]
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader", "--window-size=900,600")  # fmt: skip


@contextmanager
def open_browser() -> Iterator[Any]:
    """A browser without a window, closed when the block ends."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = CHROMIUM
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def wait_for(check: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.1)
    return False
