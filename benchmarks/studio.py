"""How long the studio takes in headless Chromium, drawn without a graphics card: `python benchmarks/studio.py [PICTURES]`.

Seconds from the page's address to a picture with the scene in it, seconds from a moved sensor to the line that tells of its
points on the page (the middle of five), and the memory of the page's processes. Needs Chromium, chromedriver, selenium.
"""

from __future__ import annotations

import io
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import TimeoutException

from tussock.studio.app import Studio

FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader", "--window-size=1400,860")  # fmt: skip

STATUS = "const line = document.getElementById('studio-status'); return line ? line.textContent : ''"


def browser() -> Any:
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def picture(driver: Any) -> Image.Image | None:
    try:
        return Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    except TimeoutException:
        return None


def ground_share(image: Image.Image | None) -> float:
    """Share of the left half of the picture that is neither sky nor panel: browns and greens."""
    if image is None:
        return 0.0
    rgb = np.asarray(image).astype(int)[:, : image.width // 2]
    return float((rgb[..., 2] < np.maximum(rgb[..., 0], rgb[..., 1]) - 12).mean())


def page_memory_mb(driver: Any) -> float:
    """[MB] resident memory of all processes of this browser but its head."""
    own = driver.service.process.pid
    rows = subprocess.run(["ps", "-eo", "pid,ppid,rss,args"], capture_output=True, text=True, check=True).stdout
    table = [line.split(None, 3) for line in rows.splitlines()[1:]]
    family = {str(own)}
    for _ in range(6):
        family |= {row[0] for row in table if row[1] in family}
    kinds = ("--type=renderer", "--type=gpu-process")
    return sum(int(row[2]) for row in table if row[0] in family and any(kind in row[3] for kind in kinds)) / 1024


def measure(scene: str, pictures: Path | None) -> None:
    begun = time.monotonic()
    studio = Studio(scene, sensor="vlp-16", port=0)
    made = time.monotonic() - begun
    driver = browser()
    try:
        begun = time.monotonic()
        driver.get(studio.url)
        while ground_share(image := picture(driver)) < 0.2 and time.monotonic() - begun < 60:
            time.sleep(0.1)
        opened = time.monotonic() - begun
        studio.idle(60)
        times, scans = [], []
        for k in range(5):
            asked = time.monotonic()
            shown = studio.scans
            studio.move_sensor(f"{k},{k},2,0,0,{10 * k}")
            while studio.scans == shown and time.monotonic() - asked < 60:
                time.sleep(0.005)
            text = f"{int(studio.session.frame.hit.sum()):,} returns"
            while text not in driver.execute_script(STATUS) and time.monotonic() - asked < 60:
                time.sleep(0.01)
            times.append(time.monotonic() - asked)
            scans.append(studio.updated_s)
        print(
            f"{scene}: studio made in {made:.2f} s, page open in {opened:.2f} s with {studio.stage.triangles:,} triangles; "
            f"points after {statistics.median(times):.2f} s ({statistics.median(scans):.2f} s of them to scan and send); "
            f"page {page_memory_mb(driver):.0f} MB",
            flush=True,
        )
        if pictures is not None:
            image = picture(driver)
            if image is not None:
                image.save(pictures / f"studio_{scene}.png")
    finally:
        driver.quit()
        studio.stop()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for name in ("yard", "courtyard"):
        measure(name, folder)
