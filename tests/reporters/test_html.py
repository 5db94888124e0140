"""The HTML report: whole, harmless, and alive in a real browser."""

import json
import re

import pytest
from harness import browser as browsers
from harness import captures
from harness.captures import MS, S
from straightway import profile
from straightway.reporters import output, profile_html, words

PARTS = ("waiting", "moving", "io")
TOLD = ("--ink", "--grey", "--link")
RANKS = (1, 2, 8, 64)


def page_of(job, path, **part):
    job.write(path)
    return output.text(profile_html, profile.load(path, **part))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{number of ranks: the file of its report}"""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for n in (*RANKS, 1024):
        job = captures.halo(n, extra_rows=60 if n == 1 else 0)
        if n == 8:
            for rank in job.ranks:
                rank.peer(0, 3, 4096, kind=1)
        found[n] = folder / f"{n}.html"
        found[n].write_text(page_of(job, folder / "c.swcap"))
    return found


def colours_of(page, *names):
    """The style sheet's colours as (red, green, blue)."""
    style = "getComputedStyle(document.documentElement)"
    found = page.evaluate("[" + ",".join(
        f"{style}.getPropertyValue('{name}').trim()" for name in names) + "]")
    return [tuple(int(c[i:i + 2], 16) for i in (1, 3, 5)) for c in found]


# The file -------------------------------------------------------------------

def test_it_needs_nothing_else(pages):
    for path in pages.values():
        text = path.read_text()
        for word in ("http:", "https:", "//www", "@import", "<link", "url(",
                     "src=", "<iframe", "import("):
            assert word not in text, word
        assert "default-src 'none'" in text


def test_64_ranks_are_less_than_3_megabytes(tmp_path):
    job = captures.halo(64, extra_rows=400)
    for rank in job.ranks:
        for peer in range(64):
            rank.peer(peer, 123456 + peer, 1234567890 + peer)
            rank.peer(peer, 12345 + peer, 123456789 + peer, kind=2)
    assert len(page_of(job, tmp_path / "c.swcap").encode()) < 3e6


@pytest.mark.deep
def test_1024_ranks_that_all_talk_stay_small(tmp_path):
    job = captures.halo(1024, steps=10)
    for rank in job.ranks:
        for peer in range(0, 1024, 7):
            rank.peer((peer + rank.number) % 1024, 123456, 1234567890)
    assert len(page_of(job, tmp_path / "c.swcap").encode()) < 4e6


def test_the_same_capture_gives_the_same_page(tmp_path):
    job = captures.halo(8)
    assert page_of(job, tmp_path / "c.swcap") == \
        page_of(job, tmp_path / "c.swcap")


def test_it_says_what_the_profile_says(tmp_path):
    job = captures.halo(8, accelerated=True)
    text = page_of(job, tmp_path / "c.swcap")
    p = profile.load(tmp_path / "c.swcap")
    for word in ("/opt/app/bin/app -n 512", "Open MPI v5.0.11", "4711",
                 "yes, by Straightway", "MPI_Finalize, on all ranks",
                 "Ranks wait for each other", "exchange_halo", "halo.c:150",
                 "solve/checkpoint", "rows #a1"):
        assert word in text, word
    for t in p.totals("operation"):
        assert f'data-v="{t.time}"' in text
    for rank in p.ranks:
        assert f'data-v="{rank.compute}"' in text


def test_the_start_is_no_part_of_the_run(tmp_path):
    job = captures.Job(2, wall=10 * S)
    for rank in job.ranks:
        rank.header["init_time"] = 20 * S
    text = page_of(job, tmp_path / "c.swcap")
    assert "<span>before the run</span>" in text
    assert "% of run</span>" in page_of(captures.halo(8), tmp_path / "d.swcap")


def test_a_part_says_so(tmp_path):
    job = captures.halo(8)
    text = page_of(job, tmp_path / "c.swcap", region="solve", only={1, 2})
    assert "region solve; ranks 1-2 only" in text
    assert "time in the region" in text


def test_what_went_wrong_is_said(tmp_path):
    job = captures.halo(8, absent=(3, 4))
    job.ranks[1].header.update(end="signal", signal=11)
    job.ranks[0].call("MPI_Send", 2, 1000, errors=2)
    job.write(tmp_path / "c.swcap")
    with open(tmp_path / "c.swcap", "ab") as file:
        file.write(b"RANK and nothing more")
    text = output.text(profile_html, profile.load(tmp_path / "c.swcap"))
    for sentence in ("Rank 1 ended by signal 11.",
                     "2 ranks of 8 left nothing, as after SIGKILL: ranks 3-4.",
                     "it was cut short, or is damaged there.",
                 "2 calls returned an error: MPI_Send 2.",
                     "with problems: see below"):
        assert sentence in text


def test_empty_parts_are_left_out(tmp_path):
    job = captures.Job(2)
    text = page_of(job, tmp_path / "c.swcap")
    assert words.NO_RECORDS in text
    for name in ("operations", "sites", "regions", "communicators", "sizes",
                 "durations", "matrix"):
        assert f'id="{name}"' not in text and f'"#{name}"' not in text
    # a program that has only barriers, at unknown places
    for rank in job.ranks:
        rank.call("MPI_Barrier", 10, 5 * S, waited=4 * S)
    text = page_of(job, tmp_path / "c.swcap")
    assert words.NO_RECORDS not in text and 'id="operations"' in text
    for name in ("sites", "regions", "communicators", "sizes", "matrix"):
        assert f'id="{name}"' not in text and f'"#{name}"' not in text


@pytest.mark.parametrize("width", [400, 1280])
def test_places_fit(browser, width, tmp_path):
    job = captures.halo(16, node_ranks=8).bind(2, 2, numas=2)
    page = tmp_path / "a.html"
    page.write_text(page_of(job, tmp_path / "a.swcap"))
    shown = browser.open(page, width=width)
    assert not shown.complaints
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    bars = shown.evaluate(
        "[...document.querySelectorAll('#table-crossing .bar i')]"
        ".map(e => e.getBoundingClientRect().width)")
    assert len(bars) == 4 and min(bars) > 0
    # A narrow screen scrolls the bar of links.
    assert shown.evaluate("!!document.querySelector('a[href=\"#crossing\"]')")


def test_moving_holds_lost_processors_where_ranks_outnumber_them(tmp_path):
    job = captures.Job(4, node_ranks=4, node_processors=2)
    for rank in job.ranks:
        rank.call("MPI_Send", 1, 10 * MS, size=8, peer=0)
    text = page_of(job, tmp_path / "c.swcap")
    assert text.count("moving data, or without a processor") == 3
    assert "had no processor" in text
    job = captures.Job(4)
    job.ranks[0].call("MPI_Send", 1, 10 * MS, size=8, peer=0)
    assert "processor" not in re.findall(r'class="legend">.*?</p>',
                                         page_of(job, tmp_path / "d.swcap"))[0]


def test_odd_captures_make_a_page(tmp_path):
    """No time at all; a rank that ran for none; numbers near the limit."""
    job = captures.Job(3, wall=0)
    job.ranks[1].header.update(stop=0, node_processors=0, node="")
    job.ranks[2].call("MPI_Send", 1, 1, size=1 << 62, peer=0, max_time=0)
    job.ranks[2].call("MPI_File_write", (1 << 62), 1 << 62, site=[
        job.ranks[2].native(None, 0, "")])
    text = page_of(job, tmp_path / "c.swcap")
    assert "nan" not in re.sub(r"<script.*?</script>", "", text,
                               flags=re.S).lower().split()
    page_of(captures.Job(1, wall=1), tmp_path / "c.swcap")


# In the browser -----------------------------------------------------------

@pytest.mark.parametrize("n", (*RANKS, 1024))
def test_nothing_is_complained_of(browser, pages, n):
    for dark in (False, True):
        for width in (1280, 390):
            page = browser.open(pages[n], width=width, dark=dark)
            assert page.complaints == []
            # the page is never wider than the window; tables scroll
            assert page.evaluate(
                "document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.querySelectorAll('nav a')].every("
                         "a => document.querySelector(a.hash))")


HOSTILE = ["<script>window.hit=1</script>", "</script><img src=x "
           "onerror=window.hit=2>", "'\"><svg onload=window.hit=3>",
           "{{ 7 * 7 }}", "<!-- ", "&lt;b&gt;", "javascript:window.hit=4",
           "]]>", "\u2028</title>"]


def test_hostile_names_are_harmless(browser, tmp_path):
    bad = " ".join(HOSTILE)
    job = captures.halo(4, program="/opt/" + bad, arguments=HOSTILE,
                        mpi=bad, id=bad)
    for rank in job.ranks:
        rank.header["node"] = bad
        rank.header["regions"][1]["name"] = bad
        rank.call("MPI_" + bad, 5, 50 * MS, site=[
            rank.native(bad, 3, bad, module=bad),
            rank.native(bad + "2", 4, bad, module=bad)], datatype=bad,
            operation=bad, size=8, peer=0,
            communicator=rank.communicator(bad, "77", [[0, 3]]))
        rank.header["end"] = bad
    path = tmp_path / "bad.html"
    path.write_text(page_of(job, tmp_path / "c.swcap"))
    page = browser.open(path)
    assert page.complaints == []
    assert page.evaluate("typeof window.hit") == "undefined"
    assert page.evaluate("document.querySelectorAll("
                         "'img, script, iframe, [onload]').length") == 2
    shown = page.evaluate("document.body.innerText")
    for text in HOSTILE[:-1]:
        assert text in shown
    assert "49" not in page.evaluate(
        "document.querySelector('.command').innerText")


def column(page, table, number):
    """What a column's rows are sorted by, from above."""
    return page.evaluate(
        f"[...document.querySelectorAll('#table-{table} tbody tr')].map("
        f"r => r.cells[{number}].dataset.v)")


def test_tables_sort_by_click_and_by_keyboard(browser, pages):
    page = browser.open(pages[8])
    head = "#table-operations thead th:nth-child({})"
    sort = "document.querySelector({!r}).getAttribute('aria-sort')"
    time, calls = head.format(2), head.format(6)
    assert page.evaluate(sort.format(time)) == "descending"
    before = column(page, "operations", 0)

    page.click(calls + " button")
    values = list(map(int, column(page, "operations", 5)))
    assert values == sorted(values, reverse=True)
    assert page.evaluate(sort.format(calls)) == "descending"
    assert page.evaluate(sort.format(time)) is None

    page.press("Enter")         # the button has the focus
    values = list(map(int, column(page, "operations", 5)))
    assert values == sorted(values)
    assert page.evaluate(sort.format(calls)) == "ascending"

    page.click(head.format(1) + " button")
    names = column(page, "operations", 0)
    assert names == sorted(names, key=str.lower) and set(names) == set(before)
    assert page.complaints == []


def test_call_sites_are_filtered_and_unfolded(browser, pages):
    page = browser.open(pages[1])
    visible = ("[...document.querySelectorAll('#table-sites tbody tr')]"
               ".filter(r => r.offsetHeight).length")
    everything = page.evaluate(
        "document.querySelectorAll('#table-sites tbody tr').length")
    assert page.evaluate(visible) == profile_html.SHOWN < everything

    page.click("input[type=search]")
    page.type("HALO waitall")
    assert page.evaluate(visible) == 1
    assert page.evaluate("document.querySelector('.found').textContent") == \
        f"1 of {everything}"
    page.evaluate("document.querySelector('input[type=search]').select()")
    page.type("part")           # functions of the extra rows, beyond 25
    assert page.evaluate(visible) == profile_html.SHOWN
    page.click("button.all")
    assert page.evaluate(visible) == 60

    page.evaluate("document.querySelector('input[type=search]').select()")
    page.type("exchange_halo")
    before = page.evaluate("document.body.innerText.includes('main.c:88')")
    page.click("#table-sites summary")
    assert not before
    assert page.evaluate("document.body.innerText.includes('main.c:88')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_figures_are_drawn(browser, pages, dark):
    page = browser.open(pages[64], dark=dark)
    named = dict(zip(PARTS, colours_of(page, *(f"--{p}" for p in PARTS))))
    bars, = colours_of(page, "--count")
    paper, = colours_of(page, "--paper")
    assert (max(paper) < 64) == dark

    seen = browsers.pixels(page.screenshot("#ranks .area"))
    assert {named["waiting"], named["io"], paper} <= seen
    assert {named["waiting"], named["moving"]} <= browsers.pixels(
        page.screenshot(".whole .bar"))
    for selector in (".trio figure:nth-child(1) .area", ".strip .area"):
        assert {bars, paper} <= browsers.pixels(page.screenshot(selector))
    assert named["waiting"] in browsers.pixels(
        page.screenshot(".trio figure:nth-child(3) .area"))
    assert len(browsers.pixels(page.screenshot("#map"))) > 3


def test_small_runs_have_a_bar_for_each_rank(browser, pages):
    page = browser.open(pages[2])
    colours = set(colours_of(page, *(f"--{p}" for p in PARTS)))
    assert colours <= browsers.pixels(page.screenshot("#table-ranks"))


def test_light_and_dark_change_by_a_button(browser, pages):
    page = browser.open(pages[8], dark=False)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    before = browsers.pixels(page.screenshot("#map"))
    page.click("#theme")
    assert page.evaluate(paper) != light
    assert page.evaluate(
        "document.querySelector('#theme').textContent") == "light"
    assert browsers.pixels(page.screenshot("#map")) != before
    page.click("#theme")
    assert page.evaluate(paper) == light
    # it is remembered, where files may remember
    page.evaluate("localStorage.clear()")
    page.dark(True)
    assert page.complaints == []


def luminance(colour):
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + .055) / 1.055)
              ** 2.4 for c in colour]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + .05) / (low + .05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast_is_enough(browser, pages, dark):
    """As WCAG's level AA asks: 4.5 for text, 3 for what is drawn."""
    page = browser.open(pages[2], dark=dark)
    paper, faint, warning = colours_of(page, "--paper", "--faint",
                                       "--warn-paper")
    for name, colour in zip(TOLD, colours_of(page, *TOLD)):
        assert contrast(colour, paper) >= 4.5, name
        assert contrast(colour, faint) >= 4.5, name
    assert contrast(*colours_of(page, "--warn"), warning) >= 4.5
    drawn = (*(f"--{p}" for p in PARTS), "--count")
    for name, colour in zip(drawn, colours_of(page, *drawn)):
        assert contrast(colour, paper) >= 3, name
    # the shades of the matrix grow or fall throughout
    shades = page.evaluate("getComputedStyle(document.documentElement)"
                           ".getPropertyValue('--ramp')").split()
    shades = [luminance([int(c[i:i + 2], 16) for i in (1, 3, 5)])
              for c in shades]
    assert shades == sorted(shades, reverse=not dark)


def test_the_matrix_tells_its_pairs(browser, pages):
    page = browser.open(pages[8])
    data = page.evaluate(
        "document.querySelector('#matrix-data').textContent")
    assert json.loads(data)["ranks"] == 8
    said = "document.querySelector('#pair').textContent"
    hint = page.evaluate(said)

    x, y, width, height = page.box("#map")
    side = (width - 46) / 8
    page.move(x + 44 + 1.5 * side, y + 34 + .5 * side)
    assert page.evaluate(said) == "rank 0 to rank 1: 1,000 messages, 7.81 MiB"
    page.move(x + 44 + 4.5 * side, y + 34 + 7.5 * side)
    assert page.evaluate(said) == "rank 7 to rank 4: nothing"
    page.move(2, 400)
    assert page.evaluate(said) == hint

    page.evaluate("document.querySelector('#map').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.press(key)
    assert page.evaluate(said).startswith("rank 1 to rank 2: ")

    bytes_shown = page.screenshot("#map")
    page.click(".switch button + button")
    assert page.evaluate("document.querySelector('.switch button + button')"
                         ".getAttribute('aria-pressed')") == "true"
    assert page.screenshot("#map") != bytes_shown
    page.evaluate("(k => { k.value = 'one-sided'; k.dispatchEvent("
                  "new Event('change')); })(document.querySelector('#kind'))")
    page.evaluate("document.querySelector('#map').focus()")
    page.press("ArrowDown")
    assert page.evaluate(said) == "rank 0 to rank 0: 3 messages, 4 KiB"
    assert page.complaints == []


def test_the_matrix_joins_many_ranks(browser, pages):
    page = browser.open(pages[1024])
    data = json.loads(page.evaluate(
        "document.querySelector('#matrix-data').textContent"))
    assert data["cells"] * data["join"] >= 1024 and data["cells"] <= 128
    page.evaluate("document.querySelector('#map').focus()")
    page.press("ArrowDown")
    assert page.evaluate("document.querySelector('#pair').textContent") \
        .startswith("ranks 0 to 7 to ranks 0 to 7: ")
    assert len(browsers.pixels(page.screenshot("#map"))) > 3


def test_numbers_show_under_the_pointer(browser, pages):
    page = browser.open(pages[64])
    x, y, width, height = page.box("#ranks .area")
    page.move(x + width / 128, y + height / 2)
    tip = "(t => t.hidden ? '' : t.textContent)(document.querySelector("\
        "'#tip'))"
    assert page.evaluate(tip).startswith("rank 0: compute ")
    page.move(x + width / 2, 5)
    assert page.evaluate(tip) == ""


def test_it_reads_without_its_script(browser, pages):
    page = browser.open(pages[1], script=False)
    page.ask("Emulation.setScriptExecutionDisabled", value=False)
    shown = page.evaluate("document.body.innerText")
    for word in ("MPI_Waitall", "exchange_halo", "part59"):
        assert word in shown
    assert not page.evaluate(
        "document.querySelector('#theme').offsetHeight")


def test_it_prints(browser, pages):
    page = browser.open(pages[64], dark=True)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelector('.data').open")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.evaluate("document.querySelector('.data').open")
    pdf = page.ask("Page.printToPDF")["data"]
    assert pdf.startswith("JVBERi")         # %PDF
    assert not page.evaluate("document.querySelector('.data').open")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert page.complaints == []
