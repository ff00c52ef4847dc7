# SPDX-License-Identifier: Apache-2.0
"""The report in a headless Chromium: nothing on the console, no network, every page and figure is there, the timeline's filters show exactly what the data has, keyboard,
dark colours, narrow windows; and pictures of a sample compared with references.

usage: test_page.py REPORT SAMPLE SHOTS [--update]: REPORT as `make report` writes it, SAMPLE the report of tests/report/sample; pictures that differ are left in folder
SHOTS. --update takes the pictures as they are for references.
"""

import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCES = pathlib.Path(__file__).resolve().parent / "pictures"
UPDATE = "--update" in sys.argv and (sys.argv.remove("--update") or True)
REPORT, SAMPLE, SHOTS = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
MOST_DIFFERENT = 0.00005  # of the pixels: less than a line of the picture (test_what_differs_is_seen)
FILTERS = ("types", "nodes", "results")


def is_dropped(outcome):
    return outcome.startswith(("DROP_", "REFUSE"))


class Page(unittest.TestCase):
    """A page that was opened; each test begins with it as it was loaded."""

    file, dark, width, height = REPORT, False, 1400, 1000

    @classmethod
    def setUpClass(cls):
        cls.driver = browser.start(dark=cls.dark, width=cls.width, height=cls.height)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.open("")

    def tearDown(self):
        self.assertEqual(browser.messages(self.driver), [])

    def open(self, name):
        self.driver.get("about:blank")
        self.driver.get(f"{self.file.as_uri()}#{name}")

    def run_js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def data(self):
        return json.loads(self.run_js("return document.getElementById('run').textContent"))


class Whole(Page):
    def test_needs_no_network_and_no_other_file(self):
        for link in self.run_js("return [...document.querySelectorAll('nav a')].map(link => link.hash)"):
            self.run_js("location.hash = arguments[0]", link)
        loaded = self.run_js("return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:'))")
        self.assertEqual(loaded, [])
        text = self.file.read_text(encoding="utf-8")
        self.assertNotRegex(text, r"""(?i)(src|srcset|data|action)\s*=\s*["']?(https?:|//|\.|/)""")
        self.assertNotRegex(text, r"(?i)(<link[^>]+href=.(?!data:)|@import|url\((?!data:|#))")

    def test_images_are_shown(self):
        broken = self.run_js("return Promise.all([...document.images].map(image => image.decode().then(() => null, () => image.alt))).then(all => all.filter(name => name !== null))")
        self.assertEqual(broken, [])
        self.assertGreater(self.run_js("return document.images.length"), 0)

    def test_every_result_and_figure_is_there(self):
        sections = self.run_js("return [...document.querySelectorAll('section.page')].map(section => section.id)")
        for page in (ROOT / "docs" / "results").glob("*.md"):
            self.assertIn(page.stem, sections)
        figures = self.run_js("return [...document.querySelectorAll('#figures figcaption code')].map(name => name.textContent)")
        self.assertEqual(figures, sorted(file.name for file in (ROOT / "docs" / "img").glob("*.svg")))
        linked = self.run_js("return [...document.querySelectorAll('nav a')].map(link => link.hash.slice(1))")
        self.assertEqual(linked, sections)

    def test_links_inside_lead_somewhere(self):
        dead = self.run_js("return [...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash.slice(1)).filter(id => !document.getElementById(id))")
        self.assertEqual(dead, [])
        twice = self.run_js("const ids = [...document.querySelectorAll('[id]')].map(each => each.id); return ids.filter((id, place) => ids.indexOf(id) !== place)")
        self.assertEqual(twice, [])

    def test_navigation_shows_one_page_at_a_time(self):
        for name in ("matrix", "timeline", "area", "overview"):
            self.one(f"nav a[href='#{name}']").click()
            self.assertEqual(self.run_js("return [...document.querySelectorAll('section.page')].filter(section => section.offsetHeight > 0).map(section => section.id)"), [name])
            self.assertEqual(self.run_js("return document.querySelector('nav a[aria-current]').hash"), f"#{name}")
        self.run_js("location.hash = 'formal--formal-checks'")
        self.assertTrue(self.one("#formal").is_displayed())

    def test_a_large_table_is_filtered_and_sorted(self):
        self.open("coverage_points")
        rows = self.run_js("return [...document.querySelectorAll('#coverage_points tbody tr')].map(row => row.textContent.toLowerCase())")
        self.one("#coverage_points input[type=search]").send_keys("grant")
        shown = self.run_js("return [...document.querySelectorAll('#coverage_points tbody tr')].filter(row => row.offsetHeight > 0).length")
        wanted = sum("grant" in row for row in rows)
        self.assertEqual(shown, wanted)
        self.assertTrue(0 < wanted < len(rows))
        self.assertIn(f"{wanted} of {len(rows)} rows", self.one("#coverage_points .rows").text)
        head = self.one("#coverage_points th:nth-child(2)")
        head.click()
        hits = self.run_js("return [...document.querySelectorAll('#coverage_points tbody tr')].map(row => Number(row.cells[1].textContent.replace(/,/g, '')))")
        self.assertEqual(hits, sorted(hits))
        head.send_keys(Keys.ENTER)
        again = self.run_js("return [...document.querySelectorAll('#coverage_points tbody tr')].map(row => Number(row.cells[1].textContent.replace(/,/g, '')))")
        self.assertEqual(again, sorted(hits, reverse=True))

    def test_numbers_are_aligned(self):
        self.open("area")
        aligned = self.run_js("return [...document.querySelectorAll('#area tbody td')].filter(cell => /^[\\d,.]+$/.test(cell.textContent)).map(cell => getComputedStyle(cell).textAlign)")
        self.assertGreater(len(aligned), 10)
        self.assertEqual(set(aligned), {"right"})


class Timeline(Page):
    """On the sample, where every sort of event is, and on the report as it is."""

    def setUp(self):
        self.open("timeline")
        self.items = self.data()["items"]
        self.transfers = self.data()["transfers"]

    def shown(self):
        """Numbers of the events in the table, which must be those of the picture, and as many as the page says."""
        table = self.run_js("return [...document.querySelectorAll('#events tbody tr')].map(row => Number(row.dataset.item))")
        picture = self.run_js("return [...document.querySelectorAll('.chart .item')].map(group => Number(group.dataset.item))")
        self.assertEqual(sorted(table), sorted(picture))
        said = self.one("#shown").text
        self.assertEqual(said, f"{len(table)} of {len(self.items)} events shown")
        return table

    def expected(self, wanted):
        return [place for place, item in enumerate(self.items) if wanted(item)]

    def set_boxes(self, name, values):
        """Leaves exactly these boxes of a filter ticked."""
        self.run_js("""for (const box of document.querySelectorAll(`[data-filter=${arguments[0]}] input`)) {
            if (box.checked !== arguments[1].includes(box.value)) box.click();
        }""", name, [str(value) for value in values])

    def values(self, name):
        return self.run_js("return [...document.querySelectorAll(`[data-filter=${arguments[0]}] input`)].map(box => box.value)", name)

    def is_of(self, name, item, values):
        if name == "types":
            return item["type"] in values
        if name == "nodes":
            return str(item["from"]) in values or str(item["to"]) in values
        return any(result in values for result in item["results"])

    def choose_transfer(self, value):
        self.run_js("const list = document.getElementById('transfer'); list.value = arguments[0]; list.dispatchEvent(new Event('change'))", str(value))

    def test_all_is_shown_at_first(self):
        self.assertEqual(self.shown(), list(range(len(self.items))))
        self.assertGreater(len(self.items), 40)

    def test_each_value_of_each_filter_alone(self):
        for name in FILTERS:
            values = self.values(name)
            for value in values:
                self.set_boxes(name, [value])
                self.assertEqual(self.shown(), self.expected(lambda item, name=name, value=value: self.is_of(name, item, [value])), (name, value))
                count = self.run_js("return document.querySelector(`[data-filter=${arguments[0]}] input[value='${arguments[1]}'] ~ span`).textContent", name, value)
                self.assertEqual(int(count), len(self.shown()), (name, value))
            self.set_boxes(name, values)

    def test_values_are_those_of_the_data(self):
        self.assertEqual(set(self.values("types")), {item["type"] for item in self.items})
        self.assertEqual(set(self.values("results")), {result for item in self.items for result in item["results"]})
        self.assertEqual(set(self.values("nodes")), {str(item[end]) for item in self.items for end in ("from", "to")})

    def test_transfers(self):
        for place in range(len(self.transfers)):
            self.choose_transfer(place)
            self.assertEqual(self.shown(), self.expected(lambda item, place=place: item["transfer"] == place))
        self.choose_transfer("all")
        self.assertEqual(len(self.shown()), len(self.items))

    def test_repeats_only(self):
        self.one("#again").click()
        expected = self.expected(lambda item: item["again"])
        self.assertEqual(self.shown(), expected)
        self.assertTrue(0 < len(expected) < len(self.items))

    def test_none_and_all(self):
        for name in FILTERS:
            button = self.one(f"[data-filter={name}] .every")
            button.click()
            self.assertEqual(self.shown(), [])
            button.click()
            self.assertEqual(len(self.shown()), len(self.items))

    def test_filters_together(self):
        dice = random.Random(1)
        for _ in range(12):
            chosen = {name: [value for value in self.values(name) if dice.random() < 0.7] for name in FILTERS}
            transfer = dice.choice(["all", *range(len(self.transfers))])
            again = dice.random() < 0.3
            for name, values in chosen.items():
                self.set_boxes(name, values)
            self.choose_transfer(transfer)
            if self.one("#again").is_selected() != again:
                self.one("#again").click()
            self.one(f"input[name=view][value={dice.choice(['nodes', 'transfers'])}]").click()
            self.assertEqual(self.shown(), self.expected(lambda item, chosen=chosen, transfer=transfer, again=again:
                                                         all(self.is_of(name, item, values) for name, values in chosen.items()) and
                                                         transfer in ("all", item["transfer"]) and (item["again"] or not again)))

    def test_what_lines_tell(self):
        packets = [item for item in self.items if "arrivals" in item]
        lines = self.run_js("return document.querySelectorAll('.chart .item path:not(.hit):not(.lost):not(.dot)').length") - len(self.items) + len(packets)
        outcomes = [outcome for item in packets for _, outcome in item["arrivals"]]
        marks = self.run_js("return document.querySelectorAll('.chart .item circle:not(.dot):not(.fine)').length")
        self.assertEqual(self.run_js("return document.querySelectorAll('.chart .item .dot.dropped').length"), sum(map(is_dropped, outcomes)))
        self.assertEqual(self.run_js("return document.querySelectorAll('.chart .item .lost').length"), 2 * sum(item["lost"] or not item["arrivals"] for item in packets if item["left"] is not None))
        timeouts = sum(item["type"] == "timeout" for item in self.items)
        self.assertEqual(marks, timeouts + sum(item["left"] is None for item in packets))
        drawn = self.run_js("return document.querySelectorAll('.chart .item .hit').length")
        self.assertEqual(drawn, len(outcomes) + len(self.items) - len(packets) + sum(item["lost"] or not item["arrivals"] for item in packets))
        self.assertGreaterEqual(lines, 0)

    def test_lines_lead_from_leaving_to_arrival(self):
        """The scale is taken from two posts; then every line of a packet must begin and end where its cycles are."""
        self.one("input[name=view][value=nodes]").click()
        ends = self.run_js("""return [...document.querySelectorAll('.chart .item')].flatMap(group => [...group.querySelectorAll('.hit')].map(
            path => [Number(group.dataset.item), ...path.getAttribute('d').match(/[-\\d.]+/g).map(Number)]))""")
        posts = [(self.items[place]["start"], x + 4) for place, x, *_ in ends if self.items[place]["type"] in ("post", "completion")]
        (first, first_x), (last, last_x) = min(posts), max(posts)
        scale = (last_x - first_x) / (last - first)
        checked = 0
        for place, x, _, *end in ends:
            item = self.items[place]
            if "arrivals" not in item or item["left"] is None or item["lost"]:
                continue
            self.assertAlmostEqual(x, first_x + (item["left"] - first) * scale, delta=0.5)
            self.assertTrue(any(abs(end[0] - (first_x + (cycle - first) * scale)) < 0.5 for cycle, _ in item["arrivals"]), (item, end))
            checked += 1
        self.assertGreater(checked, 20)

    def test_choosing_tells_everything(self):
        row = self.one("#events tbody tr:nth-child(5)")
        item = self.items[int(row.get_attribute("data-item"))]
        row.click()
        told = self.one(".details").text
        for name, value in item["header"].items():
            self.assertRegex(told, rf"(?m)^{re.escape(name)}\n?\s*{re.escape(str(value))}$")
        for cycle, outcome in item.get("arrivals", []):
            self.assertIn(f"{cycle:,}: {outcome}", told)
        self.assertEqual(len(self.all(".chart .item.chosen")), 1)
        self.one(".details button").click()
        self.assertEqual(self.shown(), self.expected(lambda each: each["transfer"] == item["transfer"]))

    def test_clicking_a_line_chooses_it(self):
        lost = next(place for place, item in enumerate(self.items) if item.get("lost"))
        self.set_boxes("results", ["LOST"])
        for _ in range(4):
            self.one("#zoom-in").click()
        self.run_js("document.querySelector('.chart').focus()")
        self.driver.switch_to.active_element.send_keys(Keys.HOME)
        self.assertEqual(self.run_js("return document.querySelector('.chart .chosen').dataset.item"), str(lost))
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.assertEqual(len(self.all(".chart .item.chosen")), 0)
        place = self.run_js("""const box = document.querySelector(`.chart [data-item='${arguments[0]}'] .lost`);
            box.scrollIntoView({block: 'center'});
            const at = box.getBoundingClientRect();
            return [at.x + at.width / 2, at.y + at.height / 2]""", lost)
        pointer = ActionChains(self.driver)
        pointer.w3c_actions.pointer_action.move_to_location(*map(round, place))
        pointer.w3c_actions.pointer_action.click()
        pointer.perform()
        self.assertEqual(self.run_js("return document.querySelector('.chart .chosen').dataset.item"), str(lost))
        self.assertIn("lost in the network", self.one(".details").text)
        self.assertIn("lost in the network", self.one(".tip").text)

    def test_keyboard(self):
        self.run_js("document.getElementById('content').focus()")
        reached = []
        for _ in range(80):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            reached.append(self.run_js("const at = document.activeElement; return at.id || at.name || at.className.baseVal || at.className"))
        for name in ("transfer", "again", "view", "zoom-in", "zoom-out", "zoom-all", "chart", "table events"):
            self.assertIn(name, reached)
        chart = self.one(".chart")
        self.run_js("arguments[0].focus()", chart)
        for key, at in ((Keys.ARROW_RIGHT, 0), (Keys.ARROW_RIGHT, 1), (Keys.ARROW_LEFT, 0), (Keys.END, len(self.items) - 1), (Keys.HOME, 0)):
            self.driver.switch_to.active_element.send_keys(key)
            self.assertEqual(self.run_js("return [document.querySelector('.chart .chosen').dataset.item, document.querySelector('#events [aria-selected]').dataset.item]"), [str(at)] * 2)

    def test_zoom_and_move(self):
        def scale():
            """Pixels from the first post to the last, and where the first is."""
            places = self.run_js("return [...document.querySelectorAll('.chart .span')].map(line => Number(line.getAttribute('x1')))")
            return max(places) - min(places), min(places)

        whole, left = scale()
        self.one("#zoom-in").click()
        self.assertAlmostEqual(scale()[0] / whole, 2, delta=0.01)
        self.one("#zoom-out").click()
        self.assertAlmostEqual(scale()[0] / whole, 1, delta=0.01)
        chart = self.one(".chart")
        self.one("#zoom-in").click()
        before = scale()[1]
        ActionChains(self.driver).move_to_element(chart).click_and_hold().move_by_offset(-100, 0).release().perform()
        self.assertAlmostEqual(scale()[1], before - 100, delta=2)
        self.run_js("arguments[0].focus()", chart)
        self.driver.switch_to.active_element.send_keys("0")
        self.assertAlmostEqual(scale()[1], left, delta=0.1)
        self.assertEqual(len(self.shown()), len(self.items))


class TimelineOfSample(Timeline):
    file = SAMPLE


class Sample(Page):
    file = SAMPLE

    def test_pages_say_what_their_tables_say(self):
        rows = self.run_js("return [...document.querySelectorAll('#overview tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        said = {what: (by, says) for what, by, says, _ in rows}
        self.assertEqual(said["A page like those of docs/results"], ("make nothing", "2 of 3 checks as expected; 1 of 2 as fast as wanted; lines: 19 (95 %) of 20 hit"))
        self.assertEqual(said["Another page"], ("", "1 of 3 mutants survived"))
        self.assertEqual(said["Regression matrix"][1], "2 of 3 cases ok, 6,305 events compared")
        self.assertEqual(len(self.all("#overview .bad")), 1)

    def test_links_and_marks(self):
        self.open("sample")
        self.assertEqual(self.run_js("return document.querySelector('#sample p a').hash"), "#other")
        self.assertEqual(self.one("#sample .elsewhere").get_attribute("title"), "docs/rdma.md#receiver")
        self.assertIn("a < b & c", self.one("#sample p").text)

    def test_failed_cases_stand_out(self):
        self.open("matrix")
        self.assertEqual([each.text for each in self.all("#matrix tbody .bad")], ["failed"])
        self.assertEqual(self.run_js("return [...document.querySelectorAll('#matrix tbody tr')].map(row => row.cells[11].textContent)"), ["0", "2", "0"])


class Narrow(Page):
    """What is wider than the window scrolls in a box of its own."""

    def test_the_page_is_never_wider_than_the_window(self):
        for width in (1400, 900, 500):
            self.driver.set_window_size(width, 900)
            for name in ("overview", "matrix", "timeline", "area", "mcast", "coverage_points", "figures", "rdma"):
                self.open(name)
                self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth - window.innerWidth"), 0, (width, name))


class Menu(Page):
    """In a narrow window the list of pages opens when asked for, and closes once one is chosen."""

    width = 500

    def test_list_of_pages(self):
        menu = self.one(".menu")
        self.assertFalse(self.one("nav").is_displayed())
        menu.click()
        self.assertEqual(menu.get_attribute("aria-expanded"), "true")
        self.one("nav a[href='#area']").click()
        self.assertTrue(self.one("#area h2").is_displayed())
        self.assertFalse(self.one("nav").is_displayed())
        self.driver.set_window_size(1400, 900)
        self.assertTrue(self.one("nav").is_displayed())
        self.assertFalse(menu.is_displayed())


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


class Light(Page):
    """Contrast after WCAG 2.1: text 4.5 : 1, lines 3 : 1."""

    def test_contrast(self):
        self.open("timeline")
        colours = self.run_js("""const probe = document.body.appendChild(document.createElement('i'));
            const value = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
            return Object.fromEntries(['paper', 'side', 'ink', 'quiet', 'link', 'data', 'control', 'again', 'lost', 'dropped', 'ok'].map(name => [name, value(name)]))""")
        self.assertEqual(luminance(colours["paper"]) < 0.2, self.dark)

        def contrast(one, other):
            light, darker = sorted((luminance(colours[one]), luminance(colours[other])), reverse=True)
            return (light + 0.05) / (darker + 0.05)

        for text in ("ink", "quiet", "link", "lost", "ok"):
            self.assertGreaterEqual(contrast(text, "paper"), 4.5, text)
        for text in ("ink", "quiet"):
            self.assertGreaterEqual(contrast(text, "side"), 4.5, text)
        for line in ("data", "control", "again", "lost", "dropped"):
            self.assertGreaterEqual(contrast(line, "paper"), 3, line)


class Dark(Light):
    dark = True


class Pictures(Page):
    """Of the sample, whose runs and pages never change."""

    file, height = SAMPLE, 1700

    def show_as_compared(self):
        self.run_js("""const style = document.head.appendChild(document.createElement('style'));
            style.textContent = arguments[0];
            document.activeElement.blur();
            window.dispatchEvent(new Event('resize'));""", browser.FONT)

    def compare(self, name, selector):
        self.show_as_compared()
        picture = self.one(selector).screenshot_as_png
        reference = REFERENCES / f"{name}.png"
        if UPDATE:
            REFERENCES.mkdir(exist_ok=True)
            reference.write_bytes(picture)
        different = browser.difference(self.driver, picture, reference.read_bytes())
        if different > MOST_DIFFERENT:
            SHOTS.mkdir(parents=True, exist_ok=True)
            (SHOTS / f"{name}.png").write_bytes(picture)
        self.assertLessEqual(different, MOST_DIFFERENT, f"{SHOTS / name}.png is not as {reference}")

    def test_timeline_by_transfer(self):
        self.open("timeline")
        self.compare("timeline_transfers", "#timeline-app")

    def test_what_differs_is_seen(self):
        """One line of the picture gone, another colour, a word: each alone is more than a reference may differ."""
        reference = (REFERENCES / "timeline_transfers.png").read_bytes()
        for change in ("document.querySelector('.chart .item.data').remove()", "document.documentElement.style.setProperty('--again', 'green')",
                       "document.querySelector('#shown').textContent = 'all events shown'", "document.querySelector('.legend').remove()"):
            self.open("timeline")
            self.show_as_compared()
            self.run_js(change)
            different = browser.difference(self.driver, self.one("#timeline-app").screenshot_as_png, reference)
            self.assertGreater(different, MOST_DIFFERENT, change)

    def test_timeline_by_node_nearer_with_one_chosen(self):
        self.open("timeline")
        self.one("input[name=view][value=nodes]").click()
        self.one("#zoom-in").click()
        self.one("#events tbody tr:nth-child(20) td").click()
        self.compare("timeline_nodes", "#timeline-app")

    def test_page_of_results(self):
        self.open("sample")
        self.compare("results", "#sample")

    def test_matrix(self):
        self.open("matrix")
        self.compare("matrix", "#matrix")


class DarkPictures(Page):
    file, dark, height = SAMPLE, True, 1700
    show_as_compared, compare = Pictures.show_as_compared, Pictures.compare

    def test_timeline(self):
        self.open("timeline")
        self.compare("timeline_dark", "#timeline-app")


if __name__ == "__main__":
    unittest.main(verbosity=2)
