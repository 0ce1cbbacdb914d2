"""A client that cannot change its server: a lenient session converts a model's arguments before it sends them.

python examples/type_conversion.py            a transcript
python examples/type_conversion.py --serve    the server over stdio, which refuses a text for a number

The server reads a birth date by the Chinese calendar. It could be in another language, run by someone else.
"""

from __future__ import annotations

import sys
from datetime import date
from typing import Annotated

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from mcp_lenient import create_lenient_proxy, lenient_session
from shared.transcript import Call, Scene, run_example

STEMS, BRANCHES, ANIMALS = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥", "鼠牛虎兔龙蛇马羊猴鸡狗猪"
READS = {"readOnlyHint": True}
server = FastMCP("calendar", strict_input_validation=True)


class Place(BaseModel):
    """Where someone was born."""

    longitude: float


@server.tool(annotations=READS)
def pillars(
    year: Annotated[int, Field(ge=1, le=9999, description="The year of birth.")],
    month: Annotated[int, Field(ge=1, le=12, description="The month.")],
    day: Annotated[int, Field(ge=1, le=31, description="The day.")],
    gender: Annotated[float, "0 for a woman, 1 for a man."],
    hour: Annotated[float, Field(ge=0, lt=24, description="The hour by the clock, with its fraction.")] = 12,
    place: Annotated[Place | None, "Corrects the hour, from 120 degrees east."] = None,
    animal: Annotated[bool, "Whether to name the animal of the year."] = False,  # noqa: FBT002
) -> dict[str, str]:
    """Return the pillars of year, day and hour; the year begins on 4 February."""
    born = date(year, month, day)
    solar = hour + ((place.longitude - 120) / 15 if place else 0)
    days = born.toordinal() + 14 + (solar >= 23) - (solar < -1)
    lunar = year - ((month, day) < (2, 4)) - 4
    hours = days * 12 + int((solar + 1) // 2) % 12
    found = {"year": _pillar(lunar), "day": _pillar(days), "hour": _pillar(hours)}
    named = {"animal": ANIMALS[lunar % 12]} if animal else {}
    return {**found, **named, "gender": "男" if gender else "女"}


def _pillar(number: int) -> str:
    return STEMS[number % 10] + BRANCHES[number % 12]


@server.tool(annotations=READS)
def animals(years: Annotated[list[int], "Years."]) -> list[str]:
    """Return the animal of each year."""
    return [ANIMALS[(year - 4) % 12] for year in years]


BORN = {"year": 1990, "month": 3, "day": 1}
SCENES = [
    Scene("我 1990 年 3 月 1 日中午出生, 男。",
        Call("pillars", {"year": "1990", "month": "3", "day": "1", "gender": "1"},
             "text_to_integer text_to_integer text_to_integer text_to_number", gives="庚午"),
        Call("pillars", BORN | {"gender": 1, "hour": "12.5", "animal": "1"}, "text_to_number text_to_boolean", gives='"animal": "马"'),
        answer="庚午年, 属马。", english="I was born at noon on March 1, 1990, a man."),
    Scene("At sunrise in Ürümqi, and which animals were 1987 and 2024?",
        Call("pillars", BORN | {"gender": 0, "hour": 8.5, "place": '{"longitude": 87.6}'}, "json_text_to_object", gives="卯"),
        Call("animals", {"years": "[1987, 2024]"}, "json_text_to_array", gives='["兔", "龙"]'),
        Call("animals", {"years": [1987, 2024]}, gives='["兔", "龙"]'),
        answer="The hour is 卯; 1987 is a rabbit and 2024 a dragon."),
    Scene("And someone born in the nineties?",
        Call("pillars", {"year": "the nineties", "month": "3", "day": 1, "gender": "1"}, "INVALID_YEAR_TYPE"),
        Call("animals", '{"years": "1990"}', "json_text_to_object text_to_integer scalar_to_array", gives='["马"]'),
        answer="Tell me the year; 1990 was a horse."),
]  # fmt: skip

mcp = create_lenient_proxy(server)


if __name__ == "__main__":
    sys.exit(run_example("Type conversion", lambda *_, **__: server, SCENES, session=lenient_session))
