"""`/dwell.js` in a real browser, on the page of the tutorial, against a real service."""

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright
from tests.service.browser import SETTINGS, Tabs, chromium, tabs, until
from tests.service.serving import Running, running

from tarry.service.keys import Keys, new_key

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "dwell-page.html"
SLACK = 0.3  # seconds by which a busy machine may be late
pytestmark = pytest.mark.xdist_group("browser")


class Site:
    """A service with an agent for each test, and the pages that use it, from another origin."""

    service: Running

    def __init__(self) -> None:
        self.count = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = site.page(self.path).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", site.policy())
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def policy(self) -> str:
        """As the tutorial says: the service may be used, and nothing inline."""
        here = self.service.address
        return f"default-src 'none'; script-src {here}; connect-src {here}"

    def close(self) -> None:
        """Let go of the port."""
        self.server.shutdown()
        self.server.server_close()

    def page(self, path: str) -> str:
        """The page of the tutorial for the agent in the path; what follows goes into the tag."""
        if not path.startswith(("/agent", "/own/agent")):
            return "<p>elsewhere</p>"
        name, _, more = path.removeprefix("/").removeprefix("own/").partition("?")
        text = PAGE.read_text().replace("http://127.0.0.1:8090", self.service.address)
        if path.startswith("/own"):  # a page that draws its variants itself
            text = text.replace("data-tarry-arm", "data-mine")
        return text.replace('data-agent="front-page"', f'data-agent="{name}" {more}')

    def agent(self, *, lease: float = 3.0, max_delay: float = 60.0) -> str:
        """A new agent; its name."""
        self.count += 1
        name = f"agent{self.count}"
        body = {"arms": ["essay", "quiz"], "payoff": "reward", "max_delay": max_delay}
        answer = self.service.call("PUT", f"/v1/agents/{name}", body | {"lease": lease})
        assert answer.status_code == 201, answer.text
        return name

    def plays(self, name: str) -> list[tuple[str, float]]:
        """Where each play stands, and its time."""
        found = self.service.call("GET", f"/v1/agents/{name}/history").json()
        return list(zip(found["status"], found["time"], strict=True))

    def ended(self, name: str, count: int = 1) -> list[tuple[str, float]]:
        """The plays, once so many have ended."""

        def over() -> Any:
            plays = self.plays(name)
            return sum(status != "out" for status, _ in plays) >= count and plays

        found: list[tuple[str, float]] = until(over)
        return found


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """The service and the pages."""
    with running(page_rate=10_000.0) as service:
        made = Site()
        made.service = service
        yield made
        made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that keeps pages for the way back, as people's browsers do."""
    with sync_playwright() as play:
        launched = play.chromium.launch(
            executable_path=chromium(),
            args=SETTINGS,
            ignore_default_args=["--disable-back-forward-cache"],
        )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tabs]:
    """A Chromium whose tabs cover each other."""
    with tabs(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def begun(page: Page, address: str) -> str:
    """Open a page and wait until a variant is chosen; which."""
    page.goto(address)
    heard(page, lambda: page.evaluate("window.tarry && tarry.arm"))
    return str(page.evaluate("tarry.arm"))


def heard(page: Page, true: Callable[[], Any]) -> None:
    """As `until`, for what the page sends: it is told only while one waits for the page."""

    def look() -> Any:
        page.wait_for_timeout(20)
        return true()

    until(look)


def visible(page: Page) -> list[str]:
    """The variants that can be seen."""
    return list(
        page.evaluate(
            "[...document.querySelectorAll('[data-tarry-arm]')]"
            ".filter((e) => e.checkVisibility({visibilityProperty: true}))"
            ".map((e) => e.dataset.tarryArm)"
        )
    )


def test_script_is_small() -> None:
    """Under 4 kB on the way to the browser."""
    text = (Path(__file__).parents[2] / "src/tarry/service/static/dwell.js").read_bytes()
    assert len(gzip.compress(text)) < 4000
    assert b"unload" not in text


def test_only_the_chosen_variant_is_shown_and_a_closed_tab_is_an_end(
    site: Site, page: Page
) -> None:
    """The time is that from showing to closing."""
    name = site.agent()
    before = time.monotonic()
    arm = begun(page, f"{site.address}/{name}")
    shown = time.monotonic()
    assert visible(page) == [arm]
    page.wait_for_timeout(700)
    at_least = time.monotonic() - shown
    page.close()
    at_most = time.monotonic() - before
    [(status, seconds)] = site.ended(name)
    assert status == "returned"
    assert at_least - 0.05 < seconds < at_most


def test_time_is_counted_only_while_visible_and_focused(site: Site, by_hand: Tabs) -> None:
    """A covered tab stands still, for longer than the lease too, and goes on when shown again."""
    name = site.agent(lease=2.4)
    tab = by_hand.open(f"{site.address}/{name}")
    until(lambda: tab.js("window.tarry && tarry.arm"))
    time.sleep(0.4)
    by_hand.open("about:blank")
    until(lambda: tab.js("document.visibilityState") == "hidden")
    covered = tab.js("tarry.seconds")
    time.sleep(2.6)
    assert tab.js("tarry.seconds") == covered
    assert site.plays(name)[0][0] == "out"
    start = time.monotonic()
    tab.front()
    until(lambda: tab.js("document.hasFocus()"))
    time.sleep(0.5)
    in_all = tab.js("tarry.seconds")
    assert 0.45 <= in_all - covered < time.monotonic() - start + 0.05
    tab.call("Page.close")
    [(status, seconds)] = site.ended(name)
    assert status == "returned"
    assert in_all <= seconds < covered + time.monotonic() - start


def test_a_tab_behind_others_asks_when_it_is_first_seen(site: Site, by_hand: Tabs) -> None:
    """Nothing is asked for a page that nobody has seen."""
    name = site.agent()
    front = by_hand.open("about:blank")
    tab = by_hand.open_behind(front, f"{site.address}/{name}")
    until(lambda: tab.js("document.readyState") == "complete" and tab.js("!!window.tarry"))
    assert tab.js("document.visibilityState") == "hidden"
    assert tab.js("tarry.arm") is None
    assert site.plays(name) == []
    tab.front()
    until(lambda: tab.js("tarry.arm"))
    assert len(site.plays(name)) == 1


def test_back_from_the_cache_is_a_new_play(site: Site, page: Page) -> None:
    """The page is not loaded again, the play ended when it was left, and another one begins."""
    name = site.agent()
    begun(page, f"{site.address}/{name}")
    page.evaluate("window.kept = true")
    page.wait_for_timeout(300)
    page.goto(f"{site.address}/elsewhere")
    site.ended(name)
    before = time.monotonic()
    page.go_back(wait_until="commit")
    heard(page, lambda: page.evaluate("window.tarry && tarry.arm"))
    assert page.evaluate("window.kept")
    assert len(visible(page)) == 1
    assert page.evaluate("tarry.seconds") < time.monotonic() - before  # from 0 on again
    assert [status for status, _ in site.plays(name)] == ["returned", "out"]


def test_offline_and_back(site: Site, page: Page) -> None:
    """Reports are cumulative: what was lost is in the next one."""
    name = site.agent(lease=3.0)
    begun(page, f"{site.address}/{name}")
    page.context.set_offline(True)
    page.wait_for_timeout(1500)
    heard = site.plays(name)
    page.context.set_offline(False)
    until(lambda: site.plays(name)[0][1] >= 1.4)
    assert heard[0][0] == "out"
    assert heard[0][1] < 1.4
    page.close()
    assert site.ended(name)[0][0] == "returned"


def test_a_lost_end_costs_at_most_a_heartbeat(site: Site, page: Page) -> None:
    """The process of the page dies: no beacon is sent, and the lease decides."""
    lease = 0.9
    name = site.agent(lease=lease)
    before = time.monotonic()
    begun(page, f"{site.address}/{name}")
    shown = time.monotonic()
    page.wait_for_timeout(800)
    at_least = time.monotonic() - shown
    with pytest.raises(Exception, match="crash"):
        page.goto("chrome://crash", timeout=5000)
    at_most = time.monotonic() - before
    [(status, seconds)] = site.ended(name)
    assert status == "vanished"
    assert at_least - lease / 3 - SLACK <= seconds <= at_most + lease / 3


def test_the_dashboard_of_a_real_service(site: Site, page: Page) -> None:
    """It is there, follows what happens, and complains of nothing."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    name = site.agent()
    page.goto(f"{site.service.address}/#/{name}")
    page.wait_for_selector("text=Nobody has asked yet; 2 arms are ready.")
    play = site.service.ask(name)
    body = {"play": play["play"], "delay": 12.5}
    assert site.service.call("POST", f"/v1/agents/{name}/tell", body).status_code == 200
    page.wait_for_selector(f".sentence:has-text('{play['arm']} is ahead')")
    assert page.inner_text(".status") == "live"
    assert said == []


def test_two_tabs_are_two_plays(site: Site, page: Page) -> None:
    """Each with a time of its own."""
    name = site.agent()
    begun(page, f"{site.address}/{name}")
    other = page.context.new_page()
    begun(other, f"{site.address}/{name}")
    other.close()
    page.close()
    assert [status for status, _ in site.ended(name, 2)] == ["returned", "returned"]


@pytest.mark.parametrize("blocked", ["**/dwell.js", "**/v1/page/ask"])
def test_without_script_or_server_the_first_variant_is_shown(
    site: Site, page: Page, blocked: str
) -> None:
    """And nothing is counted."""
    name = site.agent()
    page.route(blocked, lambda route: route.abort())
    page.goto(f"{site.address}/{name}")
    until(lambda: visible(page) == ["essay"])
    assert site.plays(name) == []


def test_a_slow_server_is_not_waited_for(site: Site, page: Page) -> None:
    """After its patience the page shows its first variant, and a late choice changes nothing."""
    name = site.agent(lease=0.6)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v1/page/ask", hold)
    page.goto(f"{site.address}/{name}?data-patience=200", wait_until="commit")
    heard(page, lambda: held and visible(page) == ["essay"])
    held[0].continue_()
    page.wait_for_timeout(100)
    until(lambda: site.service.call("GET", f"/v1/agents/{name}").json()["counts"]["void"] == 1)
    assert visible(page) == ["essay"]
    assert page.evaluate("tarry.arm") is None


def test_another_view_of_the_same_page(site: Site, page: Page) -> None:
    """`tarry.next()` ends a play and begins another."""
    name = site.agent()
    begun(page, f"{site.address}/{name}")
    page.evaluate("tarry.next()")
    heard(page, lambda: page.evaluate("tarry.arm"))
    assert [status for status, _ in site.ended(name)] == ["returned", "out"]


def test_a_page_that_draws_its_variants_itself(site: Site, page: Page) -> None:
    """It is told which one by an event; nothing is hidden but what it hides."""
    name = site.agent()
    page.add_init_script(
        "document.addEventListener('tarry', (e) => { window.told = e.detail.arm })"
    )
    arm = begun(page, f"{site.address}/own/{name}")
    assert page.evaluate("told") == arm
    page.close()
    assert site.ended(name)[0][0] == "returned"


def test_keys_and_origins(page: Page) -> None:
    """A page key works for the pages that it names, and the dashboard takes one of another role."""
    site = Site()
    roles = {"manage": (), "decide": (), "page": (site.address,)}
    made = {role: new_key(role, role, origins) for role, origins in roles.items()}
    with running(page_rate=1e4, keys=Keys([key for _, key in made.values()])) as service:
        site.service = service
        service.http.headers["authorization"] = f"Bearer {made['manage'][0]}"
        name = site.agent()
        begun(page, f"{site.address}/{name}?data-key={made['page'][0]}")
        other = site.agent()
        page.goto(f"{site.address}/{other}?data-key=wrong")
        until(lambda: visible(page) == ["essay"])
        assert (len(site.ended(name)), site.plays(other)) == (1, [])
        page.goto(f"{service.address}/#/{name}")
        page.fill("#secret", made["decide"][0])
        page.keyboard.press("Enter")
        page.wait_for_selector(".sentence:has-text('is ahead')")
        page.goto("about:blank")
    site.close()


def test_nothing_after_the_longest_time(site: Site, page: Page) -> None:
    """At D the play is over, and the page is silent."""
    name = site.agent(max_delay=0.6, lease=0.6)
    sent = []
    page.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[1]))
    begun(page, f"{site.address}/{name}")
    heard(page, lambda: "end" in sent)
    before = len(sent)
    page.wait_for_timeout(600)
    assert page.evaluate("[tarry.arm, tarry.seconds]") == [visible(page)[0], 0.6]
    page.close()
    assert len(sent) == before
    [(_, seconds)] = site.ended(name)
    assert seconds == 0.6


def test_nobody_looks_for_ever(site: Site, page: Page) -> None:
    """Without a sign of life, time stops after the idle limit, and goes on with the next one."""
    name = site.agent()
    begun(page, f"{site.address}/{name}?data-idle=0.4")
    page.wait_for_timeout(900)
    assert 0.4 <= page.evaluate("tarry.seconds") < 0.45
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    assert 0.55 < page.evaluate("tarry.seconds") < 0.85


def test_consent(site: Site, page: Page) -> None:
    """Where it is wanted, nothing is sent before it is given, and nothing after it is taken."""
    name = site.agent(lease=0.6)
    sent = []
    page.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[1]))
    page.goto(f"{site.address}/{name}?data-consent=required")
    assert visible(page) == ["essay"]
    assert sent == [f"{name}?data-consent=required", "dwell.js"]
    page.evaluate("tarry.consent(true)")
    heard(page, lambda: page.evaluate("tarry.arm"))
    heard(page, lambda: "alive" in sent)
    page.evaluate("tarry.consent(false)")
    before = len(sent)
    page.wait_for_timeout(400)
    page.close()
    assert len(sent) == before
    assert site.ended(name)[0][0] == "vanished"


def test_a_wish_for_privacy_is_a_no(site: Site, page: Page) -> None:
    """Global Privacy Control, unless the page says that consent was given."""
    name = site.agent()
    page.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})")
    page.goto(f"{site.address}/{name}")
    page.wait_for_timeout(200)
    assert visible(page) == ["essay"]
    assert site.plays(name) == []
    begun(page, f"{site.address}/{name}?data-consent=given")
    assert len(site.plays(name)) == 1
