# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/results as parts of the report: HTML that needs no other file, and what their tables say in one line."""

import base64
import collections
import html
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

NUMBER = re.compile(r"[-+±–~≥≤<>]?\s?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s?(%|‰|x|×|ns|MHz|s)?(\s?\(.*\))?( of [\d,]+)?")
# A sentence that counts something, up to that place: "..., 919 of 923 points hit (99.6 %)".
COUNTED = re.compile(r"(?:^|(?<=[.] ))[^.|\n]*\b\d[\d,]* of \d[\d,]* [a-z][^.;:,(]*(\([\d.]+ %\))?", re.MULTILINE)
EMPTY = {"", "–", "-"}
MOST_HEADINGS = 4
LARGE = 30  # rows, from which on a table has a field that filters them


class PageError(Exception):
    """A page that cannot be shown."""


def image_data(file):
    """As the address of an image that needs no file."""
    if not file.exists():
        raise PageError(f"{file}: there is no such figure")
    return "data:image/svg+xml;base64," + base64.b64encode(file.read_bytes()).decode()


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def is_number(text):
    return NUMBER.fullmatch(text.strip()) is not None


def plain(inline):
    """Text of an inline token without its marks."""
    return "".join(child.content for child in inline.children if child.type in ("text", "code_inline")) if inline.children else inline.content


class Table:
    """One of a page: head, and rows of cells, as text."""

    def __init__(self):
        self.head, self.rows = [], []

    @property
    def numeric(self):
        """By column: whether it holds numbers, and nothing else but places left empty."""
        columns = list(zip(*self.rows)) if self.rows else [()] * len(self.head)
        return [any(is_number(cell) for cell in column) and all(is_number(cell) or cell.strip() in EMPTY for cell in column) for column in columns]


class Page:
    """A page of docs/results: name, title, first sentence, body as HTML, tables, figures that it shows."""

    def __init__(self, file, names):
        """names: of all pages of the report, to which links become links inside it."""
        self.name = file.stem
        self.file = file
        self.names = names
        self.figures = []
        self.tables = []
        markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.text = file.read_text(encoding="utf-8")
        tokens = markdown.parse(self.text)
        self.title = next((plain(after) for token, after in zip(tokens, tokens[1:]) if token.type == "heading_open" and token.tag == "h1"), self.name)
        self.read_tables(tokens)
        for token in tokens:
            self.settle(token.children or [])
        self.number_headings(tokens)
        self.body = markdown.renderer.render(self.framed(tokens), markdown.options, {})

    def read_tables(self, tokens):
        """Fills `tables`, and has columns of numbers aligned."""
        table, cells = None, []
        for token in tokens:
            if token.type == "table_open":
                table = Table()
                self.tables.append(table)
                cells = []
            elif table is None:
                continue
            elif token.type in ("th_open", "td_open"):
                cells.append((token, len(cells)))
            elif token.type == "inline":
                (table.head if cells[-1][0].tag == "th" else table.rows[-1]).append(plain(token))
            elif token.type == "tr_open" and table.head:
                table.rows.append([])
            elif token.type == "table_close":
                numeric = table.numeric
                for cell, index in cells:
                    cell.attrs.pop("style", None)
                    if numeric[index % len(numeric)]:
                        cell.attrs["class"] = "n"
                table = None

    def settle(self, tokens):
        """Images become part of the page; links to what is not in it, text with the file's name."""
        open_tags = []
        for token in tokens:
            if token.type == "image":
                file = (self.file.parent / token.attrs["src"]).resolve()
                self.figures.append(file)
                token.attrs["src"] = image_data(file)
            elif token.type == "link_open":
                self.settle_link(token)
                open_tags.append(token.tag)
            elif token.type == "link_close":
                token.tag = open_tags.pop()

    def settle_link(self, token):
        target, _, place = token.attrs["href"].partition("#")
        if target.startswith(("http:", "https:")):
            return
        if target.endswith(".md") and target[:-3] in self.names:
            token.attrs["href"] = f"#{target[:-3]}"
            return
        path = target.removeprefix("../")
        token.tag = "span"
        token.attrs = {"class": "elsewhere", "title": f"docs/{path}{'#' + place if place else ''}"}

    def number_headings(self, tokens):
        """One level down, as the report has a title of its own; each with an id."""
        taken = collections.Counter()
        for token, after in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                name = slug(plain(after))
                taken[name] += 1
                token.attrs["id"] = f"{self.name}--{name}" + (f"-{taken[name]}" if taken[name] > 1 else "")
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(6, int(token.tag[1]) + 1)}"

    def framed(self, tokens):
        """Tables in a box of their own, which scrolls if they are wide."""
        framed, tables = [], iter(self.tables)
        for token in tokens:
            if token.type == "table_open":
                large = " large" if len(next(tables).rows) >= LARGE else ""
                framed.append(Token("html_block", "", 0, content=f'<div class="table{large}">\n'))
            framed.append(token)
            if token.type == "table_close":
                framed.append(Token("html_block", "", 0, content="</div>\n"))
        return framed

    @property
    def command(self):
        """What writes the page, as its first words say."""
        found = re.search(r"^Written by `([^`]+)`", self.text, re.MULTILINE)
        return found[1] if found else ""

    @property
    def verdicts(self):
        """What can be said of it in one line each."""
        found = [say(self.tables) for say in (as_expected, as_wanted, claims, points_hit, mutants)]
        told = re.search(r"Verdict: \*\*(.+?)\*\*", self.text)
        found.append(told[1] if told else None)
        if not any(found):
            prose = "\n".join(line for line in self.text.splitlines() if not line.startswith("|"))
            counted = COUNTED.search(prose)
            found.append(counted[0].strip().replace("`", "") if counted else None)
        return [each for each in found if each]


    @property
    def about(self):
        """In a few words: its first headings, else the sentence behind the one that says what wrote it."""
        headings = [heading.replace("`", "") for heading in re.findall(r"^## (.+)$", self.text, re.MULTILINE)]
        if headings:
            return " · ".join(headings[:MOST_HEADINGS]) + (" · …" if len(headings) > MOST_HEADINGS else "")
        prose = " ".join(line for line in self.text.splitlines()[1:] if not line.startswith(("|", "!", "```")))
        prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose).replace("`", "").replace("*", "").strip()
        sentences = re.split(r"(?<=[.:]) +(?=[A-Z])", re.sub(r"^Written by .*?[.:] +", "", prose))
        return sentences[0].rstrip(":") if sentences[0] else ""


def columns(tables, *names):
    """Rows of all tables that have these columns, as tuples of them."""
    for each in tables:
        if set(names) <= set(each.head):
            places = [each.head.index(name) for name in names]
            yield from (tuple(row[place] for place in places) for row in each.rows)


def amount(text):
    return float(text.split()[0].replace(",", ""))


def as_expected(tables):
    checks = list(columns(tables, "result", "expected"))
    return f"{sum(result == expected for result, expected in checks)} of {len(checks)} checks as expected" if checks else None


def as_wanted(tables):
    """Of tables with a column "wanted": whether the number before it is at least that."""
    met, rows = 0, 0
    for each in tables:
        if "wanted" not in each.head[1:]:
            continue
        place = each.head.index("wanted")
        compared = [(amount(row[place - 1]), amount(row[place])) for row in each.rows if is_number(row[place])]
        met += sum(found >= wanted for found, wanted in compared)
        rows += len(compared)
    return f"{met} of {rows} as fast as wanted" if rows else None


def claims(tables):
    answers = [answer for answer, in columns(tables, "agrees")]
    return f"{answers.count('yes')} of {len(answers)} claims of the paper agree" if answers else None


def points_hit(tables):
    """Of the first table that counts points by what they are."""
    first = next((each for each in tables if each.head[:3] == ["", "points", "hit"]), None)
    return "; ".join(f"{what}: {hit} of {points} hit" for what, points, hit, *_ in first.rows) if first else None


def mutants(tables):
    rows = [(int(amount(all_of_them)), int(amount(survived))) for module, all_of_them, survived in columns(tables, "module", "mutants", "SURVIVED") if module == "all"]
    return f"{sum(survived for _, survived in rows)} of {sum(count for count, _ in rows)} mutants survived" if rows else None


def cells(tag, texts, numeric):
    return "".join(f'<{tag} class="n">{text}</{tag}>' if number else f"<{tag}>{text}</{tag}>" for text, number in zip(texts, numeric))


def table(head, rows, kind=""):
    """Of cells that are HTML already; columns of numbers are aligned."""
    shape = Table()
    shape.head, shape.rows = head, [[re.sub(r"<[^>]*>", "", str(each)) for each in row] for row in rows]
    numeric = shape.numeric
    body = "".join(f"<tr>{cells('td', row, numeric)}</tr>\n" for row in rows)
    return f'<div class="table{kind}"><table><thead><tr>{cells("th", map(html.escape, head), numeric)}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'
