"""A client that cannot change its server: a lenient proxy or session converts a model's arguments before it sends them.

python examples/type_conversion.py            a chat in the terminal; --model NAME lets a model answer
python examples/type_conversion.py --serve    the proxy over stdio

The server reads a birth date by the Chinese calendar, and refuses a text for a number. It could be in another language,
run by someone else. It needs mcp-lenient, and chat.py beside it.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import date
from math import radians, sin
from typing import Annotated

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from chat import Script, Talk, main
from mcp_lenient import tool_error

try:
    from mcp_lenient import create_lenient_proxy
except ImportError as missing:
    sys.exit(f"This example needs FastMCP 4: {missing}")

STEMS, BRANCHES, ANIMALS = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥", "鼠牛虎兔龙蛇马羊猴鸡狗猪"
SPRING = 315  # the sun's longitude in degrees where the year begins
EXACTNESS = 0.0105  # of the sun's longitude in degrees: a quarter of an hour
NEAR_TERM = "A term of the sun begins within a quarter of an hour: the year and the month may be those on its other side."
READS = {"readOnlyHint": True}
INSTRUCTIONS = "Tells people about birth dates in the Chinese calendar. Ask for the gender and the hour."
server = FastMCP("calendar", INSTRUCTIONS, strict_input_validation=True)


class Place(BaseModel):
    """Where someone was born."""

    longitude: float


@server.tool(name="buildBaziFromSolarDatetime", annotations=READS)
def pillars(
    year: Annotated[int, Field(ge=1900, le=2100, description="The year of birth.")],
    month: Annotated[int, Field(ge=1, le=12, description="The month.")],
    day: Annotated[int, Field(ge=1, le=31, description="The day.")],
    gender: Annotated[float, "0 for a woman, 1 for a man."],
    hour: Annotated[
        float, Field(ge=0, lt=24, description="The hour in China (UTC+8), with its fraction; or noon.")
    ] = 12,
    place: Annotated[Place | None, "Corrects the pillar of the hour, from 120 degrees east."] = None,
    animal: Annotated[bool, "Whether to name the animal of the year."] = False,  # noqa: FBT002
) -> dict[str, str]:
    """Return the pillars of year, month, day and hour; the year and its months begin with the sun's terms.

    Within a quarter of an hour of a term there is a ``note``, since the year and the month may be those on its other side.
    """
    try:
        born = date(year, month, day)
    except ValueError:
        message = f"There is no day {day} in month {month} of {year}. Ask for the date again."
        raise tool_error("INVALID_DATE", message, "day", received_value=day) from None
    if gender not in {0, 1}:
        message = "The gender is 0 for a woman or 1 for a man."
        raise tool_error("INVALID_GENDER", message, "gender", received_value=gender)
    solar = hour + ((place.longitude - 120) / 15 if place else 0)
    days = born.toordinal() + 14 + (solar >= 23) - (solar < -1)
    since = (_longitude(born, hour) - SPRING) % 360
    lunar = year - (month < 3 and since > 180) - 4
    months = lunar * 12 + int(since // 30) + 2
    hours = days * 12 + int((solar + 1) // 2) % 12
    numbers = {"year": lunar, "month": months, "day": days, "hour": hours}
    answer = {name: _pillar(number) for name, number in numbers.items()} | {
        "gender": "男" if gender else "女"
    }
    named = {"animal": ANIMALS[lunar % 12]} if animal else {}
    near = {"note": NEAR_TERM} if min(since % 30, 30 - since % 30) < EXACTNESS else {}
    return answer | named | near


def _pillar(number: int) -> str:
    return STEMS[number % 10] + BRANCHES[number % 12]


def _longitude(day: date, hour: float) -> float:
    """Return the sun's apparent longitude in degrees; from 1900 to 2100 within 0.01, which it passes in a quarter of an hour.

    By Jean Meeus, Astronomical Algorithms, chapter 25.
    """
    t = (day.toordinal() - 730_120.5 + (hour - 8) / 24) / 36_525  # centuries since noon of 1 January 2000
    anomaly = radians(357.52911 + 35_999.05029 * t)
    center = (
        (1.914602 - 0.004817 * t) * sin(anomaly) + 0.019993 * sin(2 * anomaly) + 0.000289 * sin(3 * anomaly)
    )
    node = radians(125.04 - 1934.136 * t)
    return 280.46646 + 36_000.76983 * t + 0.0003032 * t * t + center - 0.00569 - 0.00478 * sin(node)


@server.tool(annotations=READS)
def animals(years: Annotated[list[Annotated[int, Field(ge=1, le=9999)]], "Years."]) -> list[str]:
    """Return the animal of each year."""
    return [ANIMALS[(year - 4) % 12] for year in years]


mcp = create_lenient_proxy(server, instructions=INSTRUCTIONS)

# --- The chat: what the stand-in for a model understands; it sends numbers as the texts that they are ------------


async def _animals(talk: Talk, years: str) -> str:
    numbers = re.findall(r"\d{4}", years)
    names = await talk.call("animals", years=json.dumps([*map(int, numbers)]))
    return ", ".join(f"{year}: {name}" for year, name in zip(numbers, names, strict=True))


async def _born(talk: Talk, date: str, clock: str = "", gender: str = "") -> str:
    """Answer a birth date; of the hour nothing is said unless it was given."""
    if not gender:
        return talk.say(
            f"Was it a man or a woman? Say: born {date}, a man", f"男还是女? 请说: {date}出生, 男"
        )
    year, month, day = re.findall(r"\d+", date)
    code = "0" if re.search("(?i)woman|female|女", gender) else "1"
    born = {"year": year, "month": month, "day": day, "gender": code, "animal": "yes"}
    hour, _, minute = clock.partition(":")
    hours = [str(int(hour) + int(minute) / 60)] if minute else ["12"] if clock else ["0", "23.99"]
    readings = [await talk.call("buildBaziFromSolarDatetime", **born, hour=at) for at in hours]
    months = [f"{reading['year']}年 {reading['month']}月" for reading in readings]
    if months[0] != months[-1]:
        terms = talk.say("{} before it, {} from it on", "之前是 {}, 之后是 {}").format(*months)
        return talk.say(f"The sun's term begins on this day: {terms}. Say the hour: born {date} at 12:30, a man",
                        f"这一天交节气: {terms}。请说出时间: {date} 12:30出生, 男")  # fmt: skip
    at = f" {readings[0]['hour']}时" if clock else ""
    near = talk.say(NEAR_TERM, "离交节气不到一刻钟, 年柱和月柱可能属于另一边。")
    note = (
        (f" ({near})" if "note" in readings[0] else "") if clock else talk.say(" (before 23:00)", " (23点前)")
    )
    return f"{months[0]} {readings[0]['day']}日{at}, 属{readings[0]['animal']}, {readings[0]['gender']}{note}"


script = Script(
    {
        "born {date}, {gender} | [I was ][he was ][she was ]born [on ]{date}[{_sep}at {clock}][{_sep}{gender}] | {date}出生, {gender} | [我][他][她][是][生于]{_sep}{date}{_sep}[{clock}]{_sep}[出生][生][的]{_sep}[{gender}] | [我]{_sep}{date}{_sep}[出生]{_sep}{clock}{_sep}{gender}": _born,
        "animals {years} | [which ][what ]animal[s] [was ][were ][is ]{years} | {years}[年][是]属什么": _animals,
    },
    date=r"\d{4} ?[-/年] ?\d{1,2} ?[-/月] ?\d{1,2}(?: ?[日号])?(?!\d)",
    clock=r"(?:[01]?\d|2[0-3]):[0-5]\d|noon|中午",
    gender=r"(?:[Ii] am |[我他她]是)?(?:a )?(?:woman|man|female|male|男|女)",
    _sep="[,， ]*",
    years=r"\d{4}(?:(?:, and |, | and |[、，和 ])\d{4})*",
)

if __name__ == "__main__":
    main(mcp, script.reply)
