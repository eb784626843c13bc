"""Take docs/images/serve.png: the page of `truebest serve` before a decision.

    python -m docs.images.page

It needs Chromium and the extras `serve` and `plots`. The experiment is the same each time, but not its pace,
which the page shows. The words of the page, but for that, are kept in the file: a test compares them with
those of the page as it is now.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from truebest import Experiment

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.devtools import Tab, browser
from support.service import READ_TOKEN, serving

FILE = Path(__file__).with_name("serve.png")
RATES = {"short": 0.3, "long": 0.5, "few shots": 0.68, "step by step": 0.82}
SAMPLES, PAUSE = 280, 0.05  # how many, and seconds between calls of eight
WIDTH, HEIGHT = 1000, 1275
WORDS = "Description"  # the text of a PNG that has the page's words
PACE = "lately", "at this pace"  # what says how fast it went
SEEN = """(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        const box = range.getBoundingClientRect();
        if (box.height > 0 && box.bottom <= innerHeight) found.push(texts.currentNode.data.trim());
    }
    return found.filter(Boolean);
})()"""


def work(url: str) -> None:
    """An experiment that is not decided."""
    with Experiment.create(url, "prompts", list(RATES), bounds=(0, 1), seed=6) as experiment:
        while experiment.status().samples < SAMPLES:
            pulls = experiment.ask(8)
            assert pulls, "it is decided already: no picture of a page before a decision"
            experiment.tell([(p, float(random.Random(p.seed).random() < RATES[p.arm])) for p in pulls])
            time.sleep(PAUSE)
        experiment.ask(8)  # the page shows what is under way


def show(tab: Tab, url: str) -> None:
    """Sign in, and open the experiment."""
    tab.call("Emulation.setScrollbarsHidden", hidden=True)
    tab.size(WIDTH, HEIGHT)
    tab.open(url)
    tab.until("document.querySelector('#token')")
    tab.run(f"document.querySelector('#token').value = {json.dumps(READ_TOKEN)}")
    tab.click("form button")
    tab.until("document.body.innerText.includes('1 experiment')")
    tab.run("location.hash = '#/?experiment=prompts'")
    tab.until("document.querySelector('.bar').innerText.includes('Live')")
    tab.until("document.querySelectorAll('canvas').length > 2")
    tab.run("new Promise(done => setTimeout(done, 500))")


def take(file: Path) -> None:
    """The picture, from an experiment of its own."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/runs.db"
        work(url)
        with serving(url) as service, browser(Path(folder)) as tab:
            show(tab, service.url)
            tab.picture(file, whole=False)
            seen = [text for text in tab.run(SEEN) if not text.endswith(PACE)]
    with Image.open(file) as picture:
        said = PngInfo()
        said.add_itxt(WORDS, "\n".join(seen))
        picture.load()
        picture.save(file, pnginfo=said, optimize=True)


def words(file: Path) -> str:
    """What the page said when the picture was taken."""
    with Image.open(file) as picture:
        return str(picture.info[WORDS])


if __name__ == "__main__":
    take(FILE)
