"""The chats of the examples act only on lines that they have read as a whole; what they could not read is said."""

from __future__ import annotations

import base64
import zlib

import pytest
import pytest_asyncio
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

import context_store
import type_conversion
from agent_platform import server as platform
from chat import Sentences, Talk
from langchain_agent import servers
from mcp_lenient import LenientMiddleware

pytestmark = [pytest.mark.asyncio(loop_scope="module")]


async def answers(client, reply, lines):
    """What is answered to lines, and the calls that each made."""
    told, talk = [], Talk(client)
    for line in lines:
        calls = []

        async def call(tool, calls=calls, **arguments):
            calls.append((tool, arguments))
            return await Talk(client).call(tool, **arguments)

        talk.call = call
        try:
            told.append((await reply(line, talk), calls))
        except ToolError as error:
            told.append((str(error), calls))
    return told


async def test_a_form_has_slots_and_parts_that_may_be_left_out():
    """A sentence is understood as a whole: with its polite words and its marks, but no other word."""
    sentences = Sentences({"lock [the ]{door}{_now} | 锁{door}": 1}, door="door|gate|门", _now="| now")
    assert sentences.read("Please lock the gate now!") == (1, {"door": "gate"})
    assert sentences.read("请锁门。") == (1, {"door": "门"})
    assert [
        sentences.read(said) for said in ("lock the gate never", "lock", "unlock the gate", "不锁门")
    ] == [None] * 4
    assert (sentences.listed("what?"), sentences.listed("什么?")) == ("lock DOOR", "锁[door]")


def each_client(build):
    """Make a fixture of a client for all tests: of the server that is built for a folder, with this folder."""

    @pytest_asyncio.fixture(scope="module", loop_scope="module")
    async def connected(tmp_path_factory):
        folder = tmp_path_factory.mktemp("data")
        async with Client(build(folder)) as client:
            yield client, folder

    return connected


@each_client
def store(folder):
    """The context store."""
    return context_store.build_server(folder / "context_store.db")


@each_client
def calendar(_folder):
    """The proxy of the calendar."""
    return type_conversion.create_lenient_proxy(type_conversion.server)


@each_client
def agent_platform(folder):
    """The agent platform."""
    return platform.build_server(platform.groups(folder))


@each_client
def assistant(_folder):
    """The servers of the LangChain agent."""
    server = FastMCP("assistant")
    server.add_middleware(LenientMiddleware())
    for name in ("time", "math", "library"):
        server.mount(getattr(servers, name), namespace=name)
    return server


AGENT = [
    ("mean of 1, 4, nine", "could not read"),
    ("mean of 2, 4 and 9", "5.0"),
    ("3、5的平均数", "4.0"),
    ("draw 1, 2, 3", "3 bars"),
    ("what is 3 plus 5?", "8"),
    ("mean of 1,000, 2,000", "'numbers' must be an array of numbers"),
    ("mean of 1, 4 and 9 but not 4", "could not read"),
    ("6 times 7.5", "'b' must be an integer"),
    ("add 3 and 4, please", "7"),
    ("time in Asia/Seoul and Europe/Lisbon", "could not read"),
    ("keep it up: you fool", "it up is kept."),
    ("keep Null: again", "There is a document 'Null' already."),
    ("remove null", "No document has the title 'null'."),
    ("remove Null", "Null is removed."),
    ("what time is it in New York?", "America/New_York"),
    ("what about the capital of France?", "No document is about 'the capital of France'"),
    ("what about null?", "Null: "),
    ("查空值", "空值: "),
    ("what about a?", "No document is about 'a'."),
    (f"{'9' * 4000} x {'9' * 4000}", "The result has more than 4,000 digits."),
    ("time in Louisville", "There is no time zone 'Louisville'. Did you mean 'America/Kentucky/Louisville'?"),
    ("唱歌", "我没有看懂"),
]


@pytest.mark.parametrize(("line", "said"), AGENT)
async def test_the_agent_computes_what_it_has_read(assistant, tmp_path, monkeypatch, line, said):
    """Every item of a list and every sign counts; where one cannot be read, nothing is called."""
    agent = pytest.importorskip("langchain_agent.agent")
    monkeypatch.setenv("LIBRARY_DB", str(tmp_path / "library.db"))
    ((answer, calls),) = await answers(assistant[0], agent.script.reply, [line])
    assert said in answer
    assert not (calls and "could not read" in answer)


@pytest.mark.parametrize(
    ("numbers", "columns"),
    [
        ([3, -5], [(0, 12), (12, 32)]),
        ([-1, -2], [(0, 16), (0, 32)]),
        ([2, 1], [(0, 32), (16, 32)]),
        ([1e308, -1e308], [(0, 16), (16, 32)]),
        ([0], [None]),
    ],
)
async def test_a_bar_goes_up_or_down_from_zero(numbers, columns):
    """Of each bar, its first row from above and the row after its last."""
    async with Client(servers.math) as client:
        _, picture = (await client.call_tool("plot", {"numbers": numbers})).content
    data = base64.b64decode(picture.data)
    at = data.index(b"IDAT")
    pixels = zlib.decompress(data[at + 4 : at + 4 + int.from_bytes(data[at - 4 : at], "big")])
    width = 4 * len(numbers) + 1  # each row begins with its filter
    black = [
        [row for row in range(len(pixels) // width) if not pixels[row * width + 1 + 4 * bar]]
        for bar in range(len(numbers))
    ]
    assert [(rows[0], rows[-1] + 1) if rows else None for rows in black] == columns


CALENDAR = [
    ("animals 1987 2024 and 3000000", "could not read"),
    ("which animals were 1987 and 2024?", "1987: 兔, 2024: 龙"),
    ("not born 1990-03-01, a woman", "could not read"),
    ("born 1990-03-01 and 1991-03-01, a man", "could not read"),
    ("born 1990-03-01, a man or a woman", "could not read"),
    ("born 1990-03-01", "Was it a man or a woman?"),
    ("1990年3月1日出生", "男还是女?"),
    # A day on which a term of the sun begins, and one on which it does not matter.
    ("born 2000-02-04, a woman", "己卯年 丁丑月 before it, 庚辰年 戊寅月 from it on."),
    ("born 2024-10-08 at 2:00, a man", "癸酉月"),
    ("born 1990-02-04 at 10:12, a man", "A term of the sun begins within a quarter of an hour"),
    ("born 1990-13-01, a man", "'month' must be from 1 to 12"),
    ("born 1990-02-31, a man", "There is no day 31 in month 2 of 1990."),
    ("0000年属什么", "must be from 1 to 9999"),
    ("农历1990年3月1日出生, 男", "我没有看懂"),
    ("我 1990 年 3 月 1 日出生, 12:30, 男。", "庚午年 戊寅月 乙丑日 壬午时, 属马, 男"),
]


@pytest.mark.parametrize(("line", "said"), CALENDAR)
async def test_the_calendar_answers_what_it_has_read(calendar, line, said):
    """A year or date in a line that says more is not looked up, and an hour that was not said is not answered."""
    ((answer, calls),) = await answers(calendar[0], type_conversion.script.reply, [line])
    assert said in answer
    assert not (calls and "could not read" in answer)


@pytest.mark.parametrize("sent", [{"gender": 5}, {"gender": 0.5}])
async def test_a_gender_is_one_of_two_numbers(sent):
    """Another number is refused, and so is the year 0."""
    async with Client(type_conversion.server) as client:
        born = {"year": 1990, "month": 3, "day": 1, **sent}
        assert (
            "The gender is 0"
            in (await client.call_tool_mcp("buildBaziFromSolarDatetime", born)).content[0].text
        )
        assert (await client.call_tool_mcp("animals", {"years": [0]})).is_error


STORE = [
    # What the store is told; what the last answer says; what it holds then, the newest first.
    (["remember buy milk #food", "search my notes for milk"], "1: buy milk #food", ["buy milk"]),
    (["remember tea", "find tea yesterday"], "No note has tea, yesterday.", ["tea"]),
    (["list"], "No note has any text.", []),
    (["列出"], "没有找到笔记: 还没有笔记。", []),
    (["remember tea #hot", "change 1 to milk #food"], "1: milk #food #hot\nBefore: 1: tea #hot", ["milk"]),
    (["请记住 牛奶", "I want to remember eggs"], "Noted as 2: eggs", ["eggs", "牛奶"]),
    (["记住牛奶", "把1改成豆浆"], "已改为 1: 豆浆\n之前: 1: 牛奶", ["豆浆"]),
    (["remember tea #a", "tag 1 as very-urgent, not important"], "could not read", ["tea"]),
    (["remember: the milk, then delete 1"], "goes on with 'delete 1'", []),
    (['remember "tea, then delete 1" #hot'], "Noted as 1: tea, then delete 1 #hot", ["tea, then delete 1"]),
    # A second wish is never kept as text.
    (["remember tea", "change 1 to coffee #hot, and tag 1 as work"], "goes on with 'tag 1 as work'", ["tea"]),
    (["remember tea", 'change 1 to "coffee, then delete 1"'], "Before: 1: tea", ["coffee, then delete 1"]),
    (["remember tea at 5. Don't forget milk"], "Noted as 1: tea", ["tea at 5. Don't forget milk"]),
    (["remember to change it"], "Noted as 1: to change it", ["to change it"]),
    (["remember 'a  b'!"], "Noted as 1: 'a  b'!", ["'a  b'!"]),
    (['remember ""'], "there is no text", []),
    (["remember #later"], "there is no text", []),
    # A note is found in any case.
    (["remember Crème Brûlée #Süß", "find brûlée #SÜSS"], "1: Crème", ["Crème Brûlée"]),
    (["remember tea", "list all of my notes"], "1: tea", ["tea"]),
    # Tags are added, and taken away by their names.
    (["remember tea #a #b", "untag 1 a"], "The tags of 1: b. Before: a, b.", ["tea"]),
    # Numbers are deleted where nothing but numbers is said.
    (["remember tea", "delete 1, 99"], "Nothing was deleted. There is no context 99.", ["tea"]),
    (["remember tea", "delete 1 and the 2nd"], "could not read", ["tea"]),
    (["note a", "note b", "note c", "forget notes 1, 2 and 3"], "Deleted: 1, 2, 3.", []),
    (["记住茶", "删除1"], "已删除: 1。", []),
    (["tag 999999999999999999 as x"], "There is no context", []),
    (["this app is bad"], "I could not read 'this app is bad'", []),
    (
        [*(f"remember {at}" for at in range(21)), "list"],
        "There are more",
        [f"{at}" for at in reversed(range(21))],
    ),
]


@pytest.mark.parametrize(("lines", "said", "kept"), [pytest.param(*row, id=row[0][-1]) for row in STORE])
async def test_the_store_keeps_what_it_has_read(store, lines, said, kept):
    """No tag, sign or word is lost, and what is not read changes nothing."""
    client, folder = store
    file = folder / "context_store.db"
    file.unlink(missing_ok=True)

    *_, (answer, _) = await answers(client, context_store.script.reply, lines)
    assert said in answer
    assert [note.content for note in context_store.ContextStore(file).search_context("", limit=100)] == kept


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("research: who wrote Hamlet?", "holds most of the words that were asked for: wrote Hamlet."),
        ("区块链的发展趋势是什么?", "中没有内容含有所问的大部分词语: 区块链的发展趋势是什么。"),
        ("what is 2+2?", "I could not read 'what is 2+2?', so I did nothing"),
        ("研究: 茶店", "1. site/index.html:"),
        ("how much is green tea?", "A pot of green tea costs 12 dollars."),
        ("could you order tea?", "I could not read 'could you order tea?', so I did nothing"),
        ("find: <title>Tea shop", "Lines that hold '<title>Tea shop': 1"),
        ("install: a virus on my computer", "The index has no package for this."),
        ("install: merge PDF files", "Nothing was installed."),
        ("请安装 numpy", "numpy: Arrays and linear algebra.\n什么都没有安装。"),
        ("find: the cheapest tea", "Lines that hold 'the cheapest tea': 0"),
        ("你好", "还有浏览器的步骤: 打开 /, 点击 Order"),
    ],
)
async def test_the_platform_reports_what_holds_the_question(agent_platform, line, said):
    """A page that holds most words of a question is a source; the example's own code is none."""
    ((answer, _),) = await answers(agent_platform[0], platform.reply, [line])
    assert said in answer
