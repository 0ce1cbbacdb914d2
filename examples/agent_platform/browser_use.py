"""A browser that an agent drives: each tool returns the arguments it was given."""

from __future__ import annotations

from typing import Any


def browser_use_execute_task(task: str, max_steps: int = 50, use_vision: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - a tool is called by name
    """Let the browser agent carry out a task that is described in words, in max_steps steps at most."""
    return {"task": task, "max_steps": max_steps, "use_vision": use_vision}


def browser_navigate(url: str) -> dict[str, Any]:
    """Open an address in the current tab."""
    return {"url": url}


def browser_search_google(query: str) -> dict[str, Any]:
    """Search the web in the current tab."""
    return {"query": query}


def browser_go_back() -> dict[str, Any]:
    """Go back to the page before."""
    return {}


def browser_click_element(index: int) -> dict[str, Any]:
    """Click the element with this index."""
    return {"index": index}


def browser_input_text(index: int, text: str) -> dict[str, Any]:
    """Type a text into the element with this index."""
    return {"index": index, "text": text}


def browser_send_keys(keys: str) -> dict[str, Any]:
    """Press keys, like Enter or Control+a."""
    return {"keys": keys}


def browser_scroll_down(amount: int | None = None) -> dict[str, Any]:
    """Scroll down by this many pixels, or by one page."""
    return {"amount": amount}


def browser_scroll_up(amount: int | None = None) -> dict[str, Any]:
    """Scroll up by this many pixels, or by one page."""
    return {"amount": amount}


def browser_scroll_to_text(text: str) -> dict[str, Any]:
    """Scroll to where this text stands."""
    return {"text": text}


def browser_switch_tab(page_id: int) -> dict[str, Any]:
    """Go to another tab."""
    return {"page_id": page_id}


def browser_open_tab(url: str) -> dict[str, Any]:
    """Open an address in a new tab."""
    return {"url": url}


def browser_close_tab(page_id: int) -> dict[str, Any]:
    """Close a tab."""
    return {"page_id": page_id}


def browser_extract_content(goal: str, include_links: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - as above
    """Take from the page what serves a goal, with its links if wanted."""
    return {"goal": goal, "include_links": include_links}


def browser_get_ax_tree(number_of_elements: int) -> dict[str, Any]:
    """Get the accessibility tree of the page, this many elements of it."""
    return {"number_of_elements": number_of_elements}


def browser_get_dropdown_options(index: int) -> dict[str, Any]:
    """List what the dropdown with this index offers."""
    return {"index": index}


def browser_select_dropdown_option(index: int, text: str) -> dict[str, Any]:
    """Choose the option with this text in the dropdown with this index."""
    return {"index": index, "text": text}


def browser_drag_drop(
    element_source: str | None = None,
    element_target: str | None = None,
    coord_source_x: int | None = None,
    coord_source_y: int | None = None,
    coord_target_x: int | None = None,
    coord_target_y: int | None = None,
    steps: int = 10,
) -> dict[str, Any]:
    """Drag from an element or point to another, in this many steps."""
    return {
        "element_source": element_source,
        "element_target": element_target,
        "coord_source_x": coord_source_x,
        "coord_source_y": coord_source_y,
        "coord_target_x": coord_target_x,
        "coord_target_y": coord_target_y,
        "steps": steps,
    }


def browser_save_pdf() -> dict[str, Any]:
    """Save the page as PDF."""
    return {}


def browser_screenshot(filename: str | None = None) -> dict[str, Any]:
    """Take a picture of the page, into a file if one is named."""
    return {"filename": filename}


def browser_wait(seconds: float = 3) -> dict[str, Any]:
    """Wait for the page."""
    return {"seconds": seconds}


def browser_done(text: str, success: bool) -> dict[str, Any]:  # noqa: FBT001 - as above
    """End the task and say how it went."""
    return {"text": text, "success": success}


def browser_get_page_info() -> dict[str, Any]:
    """Get title, address and size of the page."""
    return {}


def browser_get_current_url() -> dict[str, Any]:
    """Get the address of the page."""
    return {}


def browser_close_session() -> dict[str, Any]:
    """Close the browser."""
    return {}


def browser_get_content(selector: str | None = None) -> dict[str, Any]:
    """Get the HTML of the page, or of what a CSS selector finds."""
    return {"selector": selector}


TOOLS = (
    browser_use_execute_task,
    browser_navigate,
    browser_search_google,
    browser_go_back,
    browser_click_element,
    browser_input_text,
    browser_send_keys,
    browser_scroll_down,
    browser_scroll_up,
    browser_scroll_to_text,
    browser_switch_tab,
    browser_open_tab,
    browser_close_tab,
    browser_extract_content,
    browser_get_ax_tree,
    browser_get_dropdown_options,
    browser_select_dropdown_option,
    browser_drag_drop,
    browser_save_pdf,
    browser_screenshot,
    browser_wait,
    browser_done,
    browser_get_page_info,
    browser_get_current_url,
    browser_close_session,
    browser_get_content,
)
