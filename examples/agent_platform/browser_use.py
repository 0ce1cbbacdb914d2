"""A browser that an agent drives: the system's Chromium, through Playwright."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from pathlib import Path
from time import monotonic, strftime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_access_token, get_http_request
from pydantic import Field

from agent_platform import Group
from agent_platform.documents import Library, Passage, best_sentences, fits
from chat import ModelError, Sentences, complete, text_of

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Locator, Page, Response, Route

SITE, BLANK = "http://platform.example", "about:blank"
PAGES = Path(__file__).with_name("site")
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ELEMENTS = (
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], "
    "[contenteditable=true], [draggable=true]"
)
NAME = r"""(each.ariaLabel || each.labels?.[0]?.innerText.split("\n")[0] || each.innerText || each.placeholder
    || (/submit|button|reset/.test(each.type) && each.value) || "").trim()"""
NAMES_OF = f"elements => elements.map(each => {NAME})"
DESCRIBE = f"""elements => elements.map(each => [each.tagName.toLowerCase(),
    each.type && each.type != each.tagName.toLowerCase() ? `[${{each.type}}]` : "", " ", {NAME}].join("").trim().slice(0, 80))"""
FIELDS = "input:not([type=hidden]), textarea, [contenteditable=true]"
CLICKABLE = f"a[href], button, {FIELDS}, select, summary, [role=button], [role=link]"
LINKS = "links => links.map(link => [link.innerText, link.href])"
SCROLL = "amount => { scrollBy(0, amount); return [scrollY, Math.max(0, document.body.scrollHeight - innerHeight)] }"

Task = Annotated[
    str, "Steps in words: search for, open, click, type ... into, press, scroll down. 要执行的任务描述。"
]
MaxSteps = Annotated[int, Field(ge=1, le=100, description="Most steps to take. 最大执行步骤数。")]
UseVision = Annotated[bool, "Whether a screenshot is taken at the end. 是否使用视觉理解。"]
Url = Annotated[str, "Address, or a path such as /about.html of the example's site. 要访问的 URL 地址。"]
Query = Annotated[str, Field(min_length=1, description="What to search for. 搜索查询词。")]
Index = Annotated[int, Field(ge=0, description="Number in browser_get_page_info, from 0. 元素索引。")]
Value = Annotated[str, "Text that replaces what is there. 要输入的文本。"]
Keys = Annotated[str, Field(min_length=1, description="Key or shortcut: Enter, Control+c. 要发送的键。")]
Amount = Annotated[int | None, Field(ge=1, description="Pixels; by default one screen. 滚动像素数。")]
Shown = Annotated[str, Field(min_length=1, description="Text on the page. 要滚动到的文本内容。")]
Tab = Annotated[int, Field(ge=0, description="Number of the tab, from 0. 标签 ID。")]
Goal = Annotated[str, "What to look for on the page. 提取目标描述。"]
Links = Annotated[bool, "Whether the links of the page are listed. 是否包含链接。"]
Elements = Annotated[int, Field(ge=1, le=1000, description="Most elements to return. 返回的元素数量。")]
Option = Annotated[str, "Text of the option. 要选择的选项文本。"]
Source = Annotated[str | None, "CSS selector of what is dragged. 源元素选择器。"]
Target = Annotated[str | None, "CSS selector of where it is dropped. 目标元素选择器。"]
Coordinate = Annotated[int | None, "Pixels from the left or the top of the screen. 屏幕坐标。"]
DragSteps = Annotated[int, Field(ge=1, le=100, description="Steps of the mouse on the way. 拖拽步骤数。")]
Filename = Annotated[str | None, "Name of the PNG file in the data folder. 截图文件名。"]
Seconds = Annotated[float, Field(ge=0, le=60, description="Seconds to wait. 等待的秒数。")]
Outcome = Annotated[str, "What was done. 完成描述。"]
Success = Annotated[bool, "Whether the task succeeded. 是否成功完成。"]
Selector = Annotated[str | None, "CSS selector; by default the whole page. CSS 选择器。"]
State = dict[str, Any]
WITHOUT_PAGE = {"browser_wait", "browser_close_session"}
MOST_BROWSERS = 16
NO_SESSION = (
    "A browser belongs to a session, and this connection has none: connect with a protocol that has sessions, as to "
    "server.py --http, or as a user with a token. (浏览器属于会话, 而此连接没有会话。)"
)


@dataclass(slots=True)
class Window:
    """The browser of one session, apart from those of others: its tabs, its cookies and its history."""

    context: BrowserContext
    page: Page
    statuses: dict[Page, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    used: float = 0


WINDOW: ContextVar[Window] = ContextVar("window")
"""That of the session that calls."""


def session() -> str:
    """Return whose browser a call is about: that of a user or session over HTTP, or else that of this process."""
    try:
        request = get_http_request()
    except RuntimeError:  # stdio, and clients in this process
        return "process"
    token, session_id = get_access_token(), request.headers.get("mcp-session-id", "")
    if token is None and not session_id:
        raise ToolError(NO_SESSION)
    return f"{token and (token.client_id, token.claims.get('sub'))} {session_id}"


def missing() -> str | None:
    """Say in one line what the browser lacks on this machine; None when nothing is missing."""
    if importlib.util.find_spec("playwright") is None:
        return "The browser tools need Playwright: pip install playwright (浏览器工具需要 Playwright)."
    if executable() is None:
        return "The browser tools need Chromium: apt install chromium (浏览器工具需要 Chromium)."
    return None


def executable() -> str | None:
    """Find the system's browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class BrowserUse(Group):
    """A browser for each session, started by its first call.

    Args:
        data: The folder for pictures and PDF files.
        library: What the search page of the example's site searches.
        model: The model that plans tasks; without one, a task is read by patterns.
    """

    def __init__(self, data: Path, library: Library, model: str | None = None) -> None:
        self._data, self._library, self._model = data / "browser", library, model
        self._opening, self._running = asyncio.Lock(), AsyncExitStack()
        self._chromium: Browser | None = None
        self._windows: dict[str, Window] = {}

    @property
    def _page(self) -> Page:
        return WINDOW.get().page

    @_page.setter
    def _page(self, page: Page) -> None:
        WINDOW.get().page = page

    async def close(self) -> None:
        """Close all browsers."""
        self._windows.clear()
        self._chromium = None
        await self._running.aclose()

    async def end(self, session_id: str) -> None:
        """Close the browsers of a session that has ended."""
        for key in [key for key in self._windows if key.endswith(f" {session_id}")]:
            await self._windows.pop(key).context.close()

    def _guarded(self, tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Open the page before a tool runs, and answer what Playwright raises as an error in one line."""

        @functools.wraps(tool)
        async def call(*args: Any, **kwargs: Any) -> Any:
            if reason := missing():
                raise ToolError(reason)
            from playwright.async_api import Error

            try:
                if tool.__name__ not in WITHOUT_PAGE:
                    WINDOW.set(await self._opened(session()))
                return await tool(*args, **kwargs)
            except Error as error:
                raise ToolError(_plain(error.message)) from error

        return super()._guarded(call)

    async def browser_use_execute_task(
        self, task: Task, max_steps: MaxSteps = 50, *, use_vision: UseVision = True
    ) -> State:
        """Carry out a task in words, step by step; when a part cannot be read, nothing is done (执行复杂的浏览器任务)."""
        steps, unread = await self._planned(task)
        if unread or not steps:
            told = UNREAD.format(", ".join(map(repr, unread or [task])))
            return {"success": False, "steps": [], "unread": unread, "error": told}
        done, error = list[State](), None
        try:
            for step in steps[:max_steps]:
                await self._guarded(self._step)(step)
                done.append({"action": step.action, "given": step.given, "url": (await self._state())["url"]})
        except ToolError as failed:
            error = f"Step {len(done) + 1}, {steps[len(done)].action}, failed: {failed}"
        if error is None and len(done) < len(steps):
            error = f"Stopped after {max_steps} of {len(steps)} steps."
        found = await self._sentences(task) or [(await self._page.inner_text("body"))[:1000]]
        picture = await self.browser_screenshot() if use_vision else {}
        return {"success": error is None, "steps": done, "error": error, "found": found, **picture}

    async def _planned(self, task: str) -> tuple[list[Step], list[str]]:
        """Return the steps of a task, and the parts that no step was found for."""
        if self._model is None:
            return plan(task)
        asked = [{"role": "system", "content": PLANNING}, {"role": "user", "content": task}]
        try:
            steps = planned(text_of(await asyncio.to_thread(complete, self._model, asked)))
        except ModelError as error:
            raise ToolError(str(error)) from error
        return steps, [] if steps else [task]

    async def browser_navigate(self, url: Url) -> State:
        """Open an address in the current tab (导航到指定网址)."""
        if urlsplit(url).scheme not in {"http", "https"} and not url.startswith("/"):
            raise ToolError(f"{url!r} is neither an http(s) address nor a path.")
        await self._goto(self._page, url)
        return await self._arrived()

    async def browser_search_google(self, query: Query) -> State:
        """Search with the engine of AGENT_PLATFORM_SEARCH, by default the example's own page (在 Google 中搜索)."""
        engine = os.environ.get("AGENT_PLATFORM_SEARCH", "/search?q=")
        return await self.browser_navigate(engine + quote(query))

    async def browser_go_back(self) -> State:
        """Go back to the previous page (返回上一页)."""
        here = self._page.url
        await self._page.go_back()
        if self._page.url == BLANK:  # what a browser begins with
            await self._page.go_forward()
        if self._page.url == here:
            raise ToolError("There is no page to go back to.")
        return await self._arrived()

    async def browser_click_element(self, index: Index) -> State:
        """Click the element with this number (通过索引点击页面元素)."""
        await (await self._element(index)).click()
        return await self._arrived()

    async def browser_input_text(self, index: Index, text: Value) -> State:
        """Type a text into the element with this number (在指定元素中输入文本)."""
        element = await self._element(index)
        await element.fill(text)
        return {"index": index, "value": await element.input_value()}

    async def browser_send_keys(self, keys: Keys) -> State:
        """Press a key or shortcut (发送特殊键或快捷键)."""
        await self._page.locator("body, :focus").last.press(keys)
        return await self._arrived()

    async def browser_scroll_down(self, amount: Amount = None) -> State:
        """Scroll down (向下滚动页面)."""
        return await self._scrolled(1, amount)

    async def browser_scroll_up(self, amount: Amount = None) -> State:
        """Scroll up (向上滚动页面)."""
        return await self._scrolled(-1, amount)

    async def browser_scroll_to_text(self, text: Shown) -> State:
        """Scroll to the first element with a text (滚动到包含指定文本的元素)."""
        await (await self._first(self._page.get_by_text(text), text)).scroll_into_view_if_needed()
        return {"text": text, "scrolled_to": await self._page.evaluate("scrollY")}

    async def browser_switch_tab(self, page_id: Tab) -> State:
        """Go to another tab (切换到指定标签)."""
        self._page = self._tab(page_id)
        await self._page.bring_to_front()
        return await self._state()

    async def browser_open_tab(self, url: Url) -> State:
        """Open an address in a new tab (在新标签中打开 URL)."""
        before, self._page = self._page, await self._page.context.new_page()
        try:
            return await self.browser_navigate(url)
        except BaseException:
            opened, self._page = self._page, before
            await opened.close()
            raise

    async def browser_close_tab(self, page_id: Tab) -> State:
        """Close a tab; the last one left becomes the current tab (关闭指定标签)."""
        await self._tab(page_id).close()
        await self._opened(session())
        return await self._state()

    async def browser_extract_content(self, goal: Goal, *, include_links: Links = False) -> State:
        """Return the sentences of the page that fit a goal best (从页面提取特定内容)."""
        content: State = {"url": self._page.url, "content": await self._sentences(goal)}
        if not content["content"]:
            content["note"] = "No sentence of this page has a word of the goal. 此页没有与目标相关的句子。"
        if include_links:
            content["links"] = await self._page.eval_on_selector_all("a[href]", LINKS)
        return content

    async def browser_get_ax_tree(self, number_of_elements: Elements) -> list[State]:
        """Return the accessibility tree of the page as a list (获取页面的可访问性树结构)."""
        session = await self._page.context.new_cdp_session(self._page)
        nodes = (await session.send("Accessibility.getFullAXTree"))["nodes"]
        await session.detach()
        return [
            {"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
            for node in nodes
            if not node["ignored"]
        ][:number_of_elements]

    async def browser_get_dropdown_options(self, index: Index) -> State:
        """List the options of a drop-down (获取下拉菜单的所有选项)."""
        menu = await self._element(index)
        options = await menu.locator("option").all_inner_texts()
        if not options:
            raise ToolError(f"Element {index} is no drop-down.")
        selected = await menu.locator("option:checked").all_inner_texts()
        return {"options": options, "selected": selected[0] if selected else None}

    async def browser_select_dropdown_option(self, index: Index, text: Option) -> State:
        """Choose an option of a drop-down by its text (选择下拉菜单中的选项)."""
        menu = await self.browser_get_dropdown_options(index)
        if text not in menu["options"]:
            raise ToolError(f"There is no option {text!r}; the options are {menu['options']}.")
        await (await self._element(index)).select_option(label=text)
        return {**menu, "selected": text}

    async def browser_drag_drop(
        self,
        element_source: Source = None,
        element_target: Target = None,
        coord_source_x: Coordinate = None,
        coord_source_y: Coordinate = None,
        coord_target_x: Coordinate = None,
        coord_target_y: Coordinate = None,
        steps: DragSteps = 10,
    ) -> State:
        """Drag from an element or point to another; elements go before points (执行拖拽操作)."""
        source = await self._point(element_source, coord_source_x, coord_source_y)
        target = await self._point(element_target, coord_target_x, coord_target_y)
        await self._page.mouse.move(*source)
        await self._page.mouse.down()
        await self._page.mouse.move(*target, steps=steps)
        await self._page.mouse.up()
        return {"source": source, "target": target, "text": await self._page.inner_text("body")}

    async def browser_save_pdf(self) -> State:
        """Save the page as PDF in the data folder (将当前页面保存为 PDF)."""
        path = self._file(f"page-{strftime('%H%M%S')}.pdf")
        return {"file": str(path), "bytes": len(await self._page.pdf(path=path))}

    async def browser_screenshot(self, filename: Filename = None) -> State:
        """Take a picture of the visible part of the page (截取当前页面截图)."""
        path = self._file(filename or f"page-{strftime('%H%M%S')}.png").with_suffix(".png")
        return {"file": str(path), "bytes": len(await self._page.screenshot(path=path))}

    async def browser_wait(self, seconds: Seconds = 3) -> State:
        """Wait (等待指定秒数)."""
        await asyncio.sleep(seconds)
        return {"waited": seconds}

    async def browser_done(self, text: Outcome, success: Success) -> State:
        """End the task and say how it went; answers with the pages that were opened (标记任务完成)."""
        visited, WINDOW.get().log = WINDOW.get().log, []
        return {"text": text, "success": success, "visited": visited}

    async def browser_get_page_info(self) -> State:
        """Return the page's address, title, scroll position, tabs and numbered elements (获取当前页面信息)."""
        elements = await self._page.locator(ELEMENTS).filter(visible=True).evaluate_all(DESCRIBE)
        return {
            **await self._state(),
            "tabs": [each.url for each in self._page.context.pages],
            "scroll": await self._page.evaluate(SCROLL, 0),
            "elements": [f"{index} {element}" for index, element in enumerate(elements)],
        }

    async def browser_get_current_url(self) -> str:
        """Return the address of the page (获取当前页面 URL)."""
        return self._page.url

    async def browser_close_session(self) -> State:
        """Close the browser of this session with all its tabs (关闭浏览器会话)."""
        window = self._windows.pop(session(), None)
        tabs = 0 if window is None else len(window.context.pages)
        if window is not None:
            await window.context.close()
        return {"closed_tabs": tabs}

    async def browser_get_content(self, selector: Selector = None) -> State:
        """Return the HTML of the page, or of the first element that a selector finds (获取页面内容)."""
        if selector is None:
            return {"html": await self._page.content()}
        found = await self._first(self._page.locator(selector), selector)
        return {"html": await found.evaluate("one => one.outerHTML")}

    async def _sentences(self, goal: str) -> list[str]:
        return best_sentences(await self._page.inner_text("body"), goal, 5)

    async def _opened(self, key: str) -> Window:
        """Return the browser of a session, with a current tab; a new one gets a tab with the shop."""
        async with self._opening:
            if key not in self._windows:
                if len(self._windows) >= MOST_BROWSERS:  # a session that ended without a word
                    oldest = min(self._windows, key=lambda name: self._windows[name].used)
                    await self._windows.pop(oldest).context.close()
                self._windows[key] = await self._launched()
            window = self._windows[key]
            window.used = monotonic()
            if window.page.is_closed():
                pages = window.context.pages
                window.page = pages[-1] if pages else await window.context.new_page()
            if window.page.url == BLANK:
                await window.page.goto("/")
            return window

    async def _goto(self, page: Page, url: str) -> None:
        """Open an address; where that fails, the page before stays, and the history with it."""
        from playwright.async_api import Error

        try:
            await page.goto(url)
        except Error as error:
            if "net::ERR" in error.message and "ERR_ABORTED" not in error.message:
                # Chromium opens its own error page, which would interrupt the next navigation.
                with suppress(Error):
                    await page.wait_for_url("chrome-error://**", timeout=2000)
                    await page.go_back()
            raise

    async def _launched(self) -> Window:
        from playwright.async_api import async_playwright

        if self._chromium is None:
            playwright = await self._running.enter_async_context(async_playwright())
            # Chromium has no sandbox of its own for root, as in a container.
            options: Any = {"executable_path": executable(), "chromium_sandbox": os.geteuid() != 0}
            chromium = await playwright.chromium.launch(**options)
            self._chromium = await self._running.enter_async_context(chromium)
        context = await self._chromium.new_context(base_url=SITE)
        context.set_default_timeout(5000)
        await context.route(f"{SITE}/**", self._serve)
        window = Window(context, await context.new_page())

        def note(response: Response) -> None:
            """Keep what a page was answered with."""
            if response.request.is_navigation_request() and response.frame.parent_frame is None:
                window.statuses[response.frame.page] = response.status

        context.on("response", note)
        return window

    async def _serve(self, route: Route) -> None:
        """Answer a request to the example's site."""
        address = urlsplit(route.request.url)
        if address.path == "/search":
            query = dict(parse_qsl(address.query)).get("q", "")
            found = await asyncio.to_thread(self._library.search, query, 10)
            await route.fulfill(content_type=HTML, body=_results(query, found, self._library.name))
        elif path := await asyncio.to_thread(_file_at, address.path, self._library):
            await route.fulfill(content_type=HTML if path.suffix == ".html" else TEXT, path=path)
        else:
            await route.fulfill(status=404, body="No such page.")

    async def _state(self) -> State:
        page, log = self._page, WINDOW.get().log
        await page.wait_for_load_state("domcontentloaded")  # what is clicked or pressed may open a page
        if log[-1:] != [page.url]:
            log.append(page.url)
        return {"url": page.url, "title": await page.title(), "page_id": page.context.pages.index(page)}

    async def _arrived(self) -> State:
        """Return the state of the page; an error that a server has answered is one."""
        state = await self._state()
        if (status := WINDOW.get().statuses.get(self._page, 200)) >= HTTPStatus.BAD_REQUEST:
            raise ToolError(f"{urlsplit(self._page.url).path} is no page: the server answers {status}.")
        return state

    async def _first(self, found: Locator, wanted: str) -> Locator:
        if not await found.count():
            raise ToolError(f"There is no {wanted!r} on this page.")
        return found.first

    async def _named(self, kind: str, elements: str, text: str) -> Locator:
        """Return the one element that has this text as a whole, or else as some of its words."""
        found = self._page.locator(elements).filter(visible=True)
        names = [" ".join(name.split()) for name in await found.evaluate_all(NAMES_OF)]
        wanted = re.escape(" ".join(text.split()))
        for pattern in (wanted, rf".*\b{wanted}\b.*"):
            at = [place for place, name in enumerate(names) if re.fullmatch(pattern, name, re.IGNORECASE)]
            if len(at) == 1:
                return found.nth(at[0])
            if at:
                raise ToolError(f"{len(at)} {kind}s on this page are called {text!r}.")
        there = ", ".join(repr(name[:40]) for name in names[:10] if name) or "none"
        raise ToolError(f"There is no {kind} {text!r} on this page. There are: {there}.")

    def _tab(self, page_id: int) -> Page:
        pages = self._page.context.pages
        return pages[_checked("tab", page_id, len(pages))]

    async def _element(self, index: int) -> Locator:
        elements = self._page.locator(ELEMENTS).filter(visible=True)
        return elements.nth(_checked("element", index, await elements.count()))

    async def _scrolled(self, direction: int, amount: int | None) -> State:
        pixels = amount or await self._page.evaluate("innerHeight")
        at, most = await self._page.evaluate(SCROLL, direction * pixels)
        return {"scrolled_to": at, "end": most}

    async def _point(self, selector: str | None, x: int | None, y: int | None) -> tuple[float, float]:
        found = None if selector is None else await self._first(self._page.locator(selector), selector)
        if found is not None and (box := await found.bounding_box()):
            return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if x is None or y is None:
            raise ToolError("A drag needs a source and a target, each a visible element or both coordinates.")
        return x, y

    def _file(self, name: str) -> Path:
        self._data.mkdir(parents=True, exist_ok=True)
        return self._data / Path(name).name

    async def _step(self, step: Step) -> None:
        await getattr(self, f"_{step.action}")(*step.given)
        await self._arrived()

    async def _click(self, text: str) -> None:
        await (await self._named("link or button", CLICKABLE, text)).click()

    async def _type(self, text: str, field: str) -> None:
        await (await self._named("field", FIELDS, field)).fill(text)

    async def _press(self, keys: str) -> None:
        if not await self._page.locator(":focus").count():
            raise ToolError(f"No element of this page has the focus, so {keys!r} would go nowhere.")
        await self.browser_send_keys(keys)

    async def _scroll(self) -> None:
        at, _ = await self._page.evaluate(SCROLL, 0)
        if (await self.browser_scroll_down())["scrolled_to"] == at:
            raise ToolError("This page does not scroll further.")

    async def _open(self, url: str) -> None:
        await self.browser_navigate(url)

    async def _open_first(self) -> None:
        links = self._page.locator("a.result")
        if not await links.count():
            raise ToolError("This page has no results of a search.")
        await links.first.click()

    async def _search(self, query: str) -> None:
        """Search; a page without a result of the example's site, or without a link about the query, is a failure."""
        await self.browser_search_google(query)
        links = await self._page.eval_on_selector_all("a[href]", LINKS)
        own = self._page.url.startswith(f"{SITE}/search")
        found = [text for text, href in links if fits(Passage(href, 0, text, ""), query)]
        if not (await self._page.locator("a.result").count() if own else found):
            where = self._library.name if own else urlsplit(self._page.url).netloc
            raise ToolError(f"Nothing was found for {query!r} in {where}.")


def _checked(what: str, index: int, count: int) -> int:
    if index >= count:
        raise ToolError(f"There is no {what} {index}: the page has {count}, and numbers begin with 0.")
    return index


class Step(NamedTuple):
    """One step of a task: an action, and what it is given."""

    action: str
    given: list[str]


TAKES = {"open": 1, "open_first": 0, "search": 1, "click": 1, "type": 2, "press": 1, "scroll": 0}
"""How much each action is given."""


def planned(written: str) -> list[Step]:
    """Read the steps in a model's answer; none where any of them is no step."""
    with suppress(ValueError, LookupError, TypeError):
        plan = json.loads(written[written.index("{") : written.rindex("}") + 1])
        steps = [Step(step["action"], [*map(str, step["given"])]) for step in plan["steps"]]
        if all(TAKES[step.action] == len(step.given) for step in steps):
            return steps
    return []


UNREAD = (
    "These parts of the task cannot be read, so nothing was done (以下部分无法理解, 什么都没有做): {}. Write steps such as: "
    "open /about.html; search for tea; open the first result; click Order; type Li into Name; press Enter; scroll down; "
    "打开 /; 搜索茶; 点击 Order; 在Name中输入李; 向下滚动. A text of several clauses goes in quotes (带连词的文字请加引号)."
)
PLANNING = (
    "Plan a task for a browser. Answer with one JSON object and nothing else: "
    '{"steps": [{"action": "open", "given": ["/about.html"]}]}. Actions and what they are given: open [url], '
    "search [query], open_first [], click [text on the page], type [text, label of the field], press [key], scroll []. "
    'Where these cannot do the task, answer {"steps": []}.'
)
QUOTED = r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^”]+”|「[^」]+」"
# A text without quotes has no sign and no word that could belong to another clause.
JOINS = (
    r"[\"“”「」?!:\uff1f\uff01\uff1a]|\b(?:and|or|but|if|unless|when|then|while|until|before|after|because|except|without|not)\b"
    "|如果|除|以后|之后|之前|和|或|并|吗|别|不"
)
FREE = rf"\s*(?:{QUOTED}|(?:(?!{JOINS}).)+?)\s*"
STEPS = Sentences(
    {
        "open the first result | click [on ][the ]first result | open first result | 打开第一个结果 | 点击第一个结果 | 打开第一条结果": "open_first",
        "open {a_url} | go to {a_url} | visit {a_url} | 打开{a_url} | 访问{a_url}": "open",
        "type {a} into [the ]{b} | type {a} in [the ]{b} | enter {a} in[to] [the ]{b} | 在{b}[中][里]输入{a} | 输入{a}到{b}": "type",
        "click [on ]{a} | 点击{a}": "click",
        "press {a_key} | 按[下]{a_key}": "press",
        "scroll down[ a little] | 向下滚动[一点]": "scroll",
        "search for {a} | search {a} | 搜索{a} | 查找{a}": "search",
    },
    a=FREE, b=FREE, a_url=r"\s*(?:https?://\S+|/\S*)", a_key=r"\s*[\w+]+",
)  # fmt: skip
BREAK = r"\s*(?:[;；。\n,，]|\.(?=\s|$)|\bthen\b|\band\b|然后|并且?(?=打开|访问|点击|输入|在|按|向下|搜索|查找))\s*"


def plan(task: str) -> tuple[list[Step], list[str]]:
    """Read a task as steps; returns them, and the parts that cannot be read as a whole."""
    split = re.sub(f"(?i)({QUOTED})|{BREAK}", lambda found: found[1] or "\0", task.strip())
    parts = [(part, STEPS.read(part)) for part in split.split("\0") if part.strip(" .")]
    read = [(found[0], [found[1][name] for name in sorted(found[1])]) for _, found in parts if found]
    steps = [Step(action, [text.strip("\"'“”「」") for text in given]) for action, given in read]
    return steps, [part for part, found in parts if not found]


def _plain(message: str) -> str:
    """Say in a line of our own what Playwright raised."""
    if found := re.search(r"net::ERR_(\w+) at (\S+)", message):
        return f"{found[2].partition('?')[0]} cannot be opened: {found[1].replace('_', ' ').lower()}."
    if found := re.search(r'Unknown key: "(.*?)"', message):
        return f"There is no key {found[1]!r}."
    if "selector" in message or "Unexpected token" in message:
        return "This is no CSS selector that can be read."
    if "Timeout" in message:
        return "This did not happen within 5 s: what is meant may be hidden, covered or disabled."
    return "The page cannot do this."


def _file_at(address: str, library: Library) -> Path | None:
    """Return the file at an address of the example's site: one of its pages, or a document of the library."""
    files = {f"/document/{path.relative_to(library.root).as_posix()}": path for path in library.files()}
    files |= {f"/{path.name}": path for path in PAGES.iterdir()} | {"/": PAGES / "index.html"}
    return files.get(unquote(address))


def _results(query: str, found: list[Passage], where: str) -> str:
    """Write the page of a search."""
    results = "".join(
        f'<p><a class="result" href="{address}">{escape(hit.heading)}</a> '
        f"{escape(' '.join(best_sentences(hit.text, query)))}</p>"
        for hit in found
        if (address := escape(hit.source if hit.source[:4] == "http" else f"/document/{quote(hit.source)}"))
    )
    title = escape(f"Search: {query}")
    nothing = f"<p>Nothing was found in {escape(where)}.</p>"
    return f"<!doctype html><title>{title}</title><h1>{title}</h1>{results or nothing}"
