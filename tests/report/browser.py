# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium without any network, that shows the report from a file."""

import base64

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

FONT = "* { font-family: 'DejaVu Sans' !important; }"  # the only one that is there wherever screenshots are compared

# Share of the pixels of two pictures, at half their size, that differ by more than a little; 1 if the sizes differ.
DIFFERENCE = """
const [one, other, finished] = arguments;
const load = (bytes) => new Promise((done, failed) => {
  const image = new Image();
  image.onload = () => done(image);
  image.onerror = () => failed(new Error("no picture"));
  image.src = `data:image/png;base64,${bytes}`;
});
const pixels = (image) => {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.width / 2);
  canvas.height = Math.round(image.height / 2);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height).data;
};
Promise.all([load(one), load(other)]).then(([first, second]) => {
  if (first.width !== second.width || first.height !== second.height) return finished(1);
  const [a, b] = [pixels(first), pixels(second)];
  let differ = 0;
  for (let i = 0; i < a.length; i += 4) {
    if (Math.max(Math.abs(a[i] - b[i]), Math.abs(a[i + 1] - b[i + 1]), Math.abs(a[i + 2] - b[i + 2])) > 48) differ += 1;
  }
  finished(differ / (a.length / 4));
});
"""


def start(*, dark=False, width=1400, height=1000):
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en",
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--font-render-hinting=none", f"--window-size={width},{height}", f"--blink-settings=preferredColorScheme={0 if dark else 1}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


def messages(driver):
    """Whatever the page has said on its console since it was asked last."""
    return [entry["message"] for entry in driver.get_log("browser")]


def difference(driver, picture, reference):
    return driver.execute_async_script(DIFFERENCE, base64.b64encode(picture).decode(), base64.b64encode(reference).decode())
