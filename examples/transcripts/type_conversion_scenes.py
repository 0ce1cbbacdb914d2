"""Conversations by way of a client that converts what a model writes."""

from __future__ import annotations

import type_conversion
from mcp_lenient import lenient_session
from transcripts.play import Call, Scene, Transcript

BORN = {"year": 1990, "month": 3, "day": 1}
SCENES = [
    Scene("我 1990 年 3 月 1 日中午出生, 男。",
        Call("buildBaziFromSolarDatetime", {"year": "1990", "month": "3", "day": "1", "gender": "1"},
             "text_to_integer text_to_integer text_to_integer text_to_number", gives="庚午"),
        Call("buildBaziFromSolarDatetime", BORN | {"gender": 1, "hour": "12.5", "animal": "1"}, "text_to_number text_to_boolean", gives='"animal": "马"'),
        answer="庚午年, 属马。", english="I was born at noon on March 1, 1990, a man."),
    Scene("At sunrise in Ürümqi, and which animals were 1987 and 2024?",
        Call("buildBaziFromSolarDatetime", BORN | {"gender": 0, "hour": 8.5, "place": '{"longitude": 87.6}'}, "json_text_to_object", gives="卯"),
        Call("animals", {"years": "[1987, 2024]"}, "json_text_to_array", gives='["兔", "龙"]'),
        Call("animals", {"years": [1987, 2024]}, gives='["兔", "龙"]'),
        answer="The hour is 卯; 1987 is a rabbit and 2024 a dragon."),
    Scene("And someone born in the nineties?",
        Call("buildBaziFromSolarDatetime", {"year": "the nineties", "month": "3", "day": 1, "gender": "1"}, "INVALID_YEAR_TYPE"),
        Call("animals", '{"years": "1990"}', "json_text_to_object text_to_integer scalar_to_array", gives='["马"]'),
        answer="Tell me the year; 1990 was a horse."),
]  # fmt: skip

TRANSCRIPT = Transcript(
    "Type conversion",
    type_conversion.__doc__ or "",
    lambda *_, **__: type_conversion.server,
    SCENES,
    session=lenient_session,
)
