"""The chats of the examples act only on lines that they have read as a whole; what they could not read is said."""

from __future__ import annotations

import base64
import itertools
import zlib

import pytest
import pytest_asyncio
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

import context_store
import smart_home
import type_conversion
from agent_platform import server as platform
from agent_platform.talk import value_of
from langchain_agent import servers
from mcp_lenient import LenientMiddleware

pytestmark = [pytest.mark.asyncio(loop_scope="module")]


async def answers(client, reply, lines):
    """What is answered to lines, and the calls that each made, beside those that only read."""
    told = []
    for line in lines:
        made = []

        async def call(name, made=made, **arguments):
            made.append((name, arguments))
            return value_of(await client.call_tool_mcp(name, arguments))

        told.append((await reply(line, call), made))
    return told


def each_client(build):
    """Make a fixture of a client for all tests: of the server that is built for a folder, with this folder."""

    @pytest_asyncio.fixture(scope="module", loop_scope="module")
    async def connected(tmp_path_factory):
        folder = tmp_path_factory.mktemp("data")
        async with Client(build(folder)) as client:
            yield client, folder

    return connected


@each_client
def home(folder):
    """The smart home."""
    return smart_home.build(folder, lenient=True)


@each_client
def store(folder):
    """The context store."""
    return context_store.build(folder, lenient=True)


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


HOUSE = [
    # The lines that a person types; the calls of the last one; the text of its answer.
    (["关掉除了卧室以外的灯"], "", "'除 以外'"),
    (["turn on the light", "turn the bedroom lamp off"], "bed001 off", "卧室台灯"),
    (["turn on the light", "卧室台灯"], "bed001 on", "卧室台灯"),
    (["turn on the light", "3"], "std001 on", "Studio lamp"),
    (["turn on the light", "bedroom and order tea"], "", "'order tea'"),
    (["turn on the studio lamp", "turn off the radio"], "", "'radio'"),
    (["turn on the studio lamp", "turn it off"], "std001 off", "Studio lamp (studio) is off now."),
    (["把大门锁上然后关卧室的灯"], "dor001 lock, bed001 off", "已成功锁上大门锁 已成功关闭卧室台灯"),
    (["turn on the studio lamp and close the blind"], "std001 on, bld001 close", "Kitchen blind"),
    (["too hot, close the blind in the studio"], "", "'blind' and 'studio'"),
    # The happy path of the seed, in its words.
    (["打开客厅的灯"], "abc123 on", "已成功打开客厅吸顶灯"),
    # Several are meant.
    (["turn everything off", "every one of them"], "", "Only one device at a time"),
    (["turn everything off", "the bedroom lamp"], "bed001 off", "is off now"),
    # A kind or a place that the device is not.
    (["switch the kitchen lights off"], "", "No device is 'kitchen' and 'light' at once."),
    # "It", or no name, is the device that was spoken of last, or is asked for.
    (["close the blind", "turn it on"], "", "Which one do you mean: 客厅吸顶灯"),
    (["turn on the studio lamp", "shut it", "shut it"], "", "do you mean: Kitchen blind (kitchen)?"),
    (["turn on the bedroom lamp", "把空调调到十九度", "调低一点"], "", "Is it to be warmer or cooler?"),
    (["heating to 19", "raise it", "warmer"], "air001 setHeatingSetpoint 20", ""),
    (["turn on the ac", "the studio lamp is broken", "turn it on"], "std001 on", "Studio lamp"),
    (["switch the studio lamp on", "make it darker and cooler"], "", "do you mean by 'cooler'"),
    (
        ["switch the bedroom lamp on", "make it darker and cooler"],
        "bed001 setLevel 30, bed001 setColorTemperature 4800",
        "4800 K",
    ),
    (["turn on the studio lamp and shut a little"], "", "do you mean by 'shut a little': Kitchen blind"),
    (["the studio lamp is too bright and I'm hot"], "std001 setLevel 20, air001 setHeatingSetpoint 19.0", ""),
    # All wishes of a line are done, or none.
    (["switch the bedroom lamp off, brighten it"], "", "several wishes for 卧室台灯 (卧室)"),
    # A complaint beside a wish is its reason and no wish of its own.
    (["it's too dark, switch the studio lamp on"], "std001 on", "Studio lamp (studio) is on now."),
    (["have a look at the book, it is too dark"], "", "'have look book'"),
    # Numbers.
    (["bedroom lamp 40"], "", "say 'set it to 20'"),
    # Questions and statements.
    (["how warm is the living room?"], "", "A question is not acted on."),
    (["is the bedroom lamp on?"], "", "卧室台灯 (卧室): on, 60%, 4000 K."),
    (["is the door locked? unlock it"], "", "A question is not acted on."),
    (["turn on the studio lamp, is it on?"], "", "A question is not acted on."),
    # What does not show is said.
    (["I'm freezing"], "air001 setHeatingSetpoint 21.0", "But it is off"),
]


@pytest.mark.parametrize(("lines", "ran", "said"), [pytest.param(*row, id=row[0][-1]) for row in HOUSE])
async def test_the_house_does_all_of_a_sentence_or_nothing(home, lines, ran, said):
    """Of a sentence all parts are run, or none; what was not read is named, and a question is open for one line."""
    answer, commands = await told_at_home(home, lines)
    assert ", ".join(commands) == ran
    assert said in answer


async def told_at_home(home, lines):
    """The answer to the last line in a fresh home, and the commands that it ran, each with its device."""
    client, folder = home
    (folder / "smart_home.db").unlink(missing_ok=True)
    *_, (answer, made) = await answers(client, smart_home.Conversation().reply, lines)
    commands = [
        (sent["device_id"].removeprefix("uuid-"), one)
        for name, sent in made
        if name == "execute_commands"
        for one in sent["commands"]
    ]
    return answer, [" ".join(map(str, (key, one["command"], *one["arguments"]))) for key, one in commands]


WISHES = [
    "turn on the studio lamp",
    "把空调调到23度",
    "再高两度",
    "make it darker",
    "close the blind",
    "关掉空调",
]
COMPLAINTS = ["the bedroom lamp is too bright", "我好冷", "the studio lamp is too dark"]


@pytest.mark.parametrize("joint", [", ", "然后"])
async def test_the_house_drops_no_wish(home, joint):
    """Of two sentences in a line both are done or neither, except that a complaint may be the reason of a wish."""
    pairs = [*itertools.permutations([*WISHES, *COMPLAINTS], 2)]
    ran = {pair: (await told_at_home(home, [joint.join(pair)]))[1] for pair in pairs}
    wishes = {pair: sum(each in WISHES for each in pair) or 2 for pair in pairs}
    assert [pair for pair in pairs if len(ran[pair]) not in {0, wishes[pair]}] == []
    assert {said for pair in pairs if ran[pair] for said in pair} == {*WISHES, *COMPLAINTS}


AGENT = [
    ("mean of 1, 4, nine", "'nine'"),
    ("mean of 2, 4 and 9", "5.0"),
    ("draw 1 2 3", "3 bars"),
    ("what is (3 + 5) x 12?", "96"),
    ("mean of 1,000, 2,000", "'1,000', so I did nothing: it may be one number or several"),
    ("mean of 1, 4 and 9 but not 4", "'but'"),
    ("6 times 7.5", "'7.5', so I did nothing: the tools add and multiply whole numbers"),
    ("10 / 2", "'10 / 2', so I did nothing: the tools add and multiply whole numbers"),
    ("what is 6 by 7", "'by'"),
    ("add 3 and 4, please", "7"),
    ("time in Asia/Seoul and Europe/Lisbon", "say one place"),
    ("keep it up: you fool", "I could not read 'keep it up: you fool'"),
    ('keep "it up": you fool', "it up is kept."),
    ("keep Null: again", "There is a document 'Null' already."),
    ("remove Null and Lists", "No document has the title 'Null and Lists', so nothing was removed."),
    ("remove null", "1 removed."),
    ("what time is it in New York?", "America/New_York"),
    ("what is the capital of France?", "No document is about 'the capital of France'"),
    ("what about null?", "Null: "),
    (f"what is {'-' * 3000}1", "...', so I did nothing: it has more than 200 numbers and signs"),
    ("+".join("1" * 100), "100"),
    (f"{'9' * 4000} x {'9' * 4000}", "The result has more than 4,000 digits."),
    (f"{'9' * 5000} x 2", "...', so I did nothing: the tools add and multiply whole numbers"),
    (f"{'9' * 2000} x 1", "9" * 2000),
    ("time in Louisville", "There is no time zone 'Louisville'. Did you mean 'America/Kentucky/Louisville'?"),
]


@pytest.mark.parametrize(("line", "said"), AGENT)
async def test_the_agent_computes_what_it_has_read(assistant, tmp_path, monkeypatch, line, said):
    """Every item of a list and every sign counts; where one cannot be read, nothing is called."""
    agent = pytest.importorskip("langchain_agent.agent")
    monkeypatch.setenv("LIBRARY_DB", str(tmp_path / "library.db"))
    try:
        ((answer, made),) = await answers(assistant[0], agent.reply, [line])
    except agent.talk.ToolError as error:
        answer, made = str(error), []
    assert said in answer
    assert not (made and "could not read" in answer)


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
    ("animals 1987 2024 and 3000000", "'3000000'"),
    ("which animals were 1987 and 2024?", "1987: 兔, 2024: 龙"),
    ("not born 1990-03-01, a woman", "'not'"),
    ("born 1990-03-01 and 1991-03-01, a man", "'1991 03 01'"),
    ("born 1990-03-01, a man or a woman", "'or'"),
    # A day on which a term of the sun begins, one before the spring, and one on which neither matters.
    ("born 2000-02-04, a woman", "己卯年 丁丑月 before it, 庚辰年 戊寅月 from it on."),
    ("born 2024-10-08 at 2:00, a man", "癸酉月"),
    ("born 2001-01-25, a man", "The year begins with 立春, about 4 February, not with the Spring Festival."),
    ("born 1990-13-01, a man", "There is no month 13."),
    ("born 0000-02-01, a man", "'year' must be at least"),
    ("0000年属什么", "There is no year 0."),
    ("农历1990年3月1日出生, 男", "'农历'"),
    ("我 1990 年 3 月 1 日出生, 12:30, 男。", "庚午年 戊寅月 乙丑日 壬午时, 属马, 男"),
]


@pytest.mark.parametrize(("line", "said"), CALENDAR)
async def test_the_calendar_answers_what_it_has_read(calendar, line, said):
    """A year or date in a line that says more is not looked up, and an hour that was not said is not answered."""
    ((answer, made),) = await answers(calendar[0], type_conversion.Conversation().reply, [line])
    assert said in answer
    assert not (made and "could not read" in answer)
    assert "Correct the call" not in answer  # which is said to a model


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["born 1990-03-01", "I am a man"], "属马, 男"),
        (["born 1990-03-01", "a man or not"], "'man or not'"),
        (["born 1990-03-01", "hello", "a man"], "1990-03-01: 庚午年"),
        (["born 1990-03-01", "he is no man", "he is a man"], "1990-03-01: 庚午年"),
        (["born 1990-03-01", "1987", "a man"], "'man'"),
        (["born 1984-02-04, a woman", "at 8:30"], "癸亥年 乙丑月"),
        (["born 1984-02-04, a woman", "at noon", "at 23:50"], "甲子年 丙寅月"),
    ],
)
async def test_the_calendar_takes_up_what_it_asked_for(calendar, lines, said):
    """An answer completes the date, if it is nothing else and no other date or year was answered since."""
    *_, (answer, _) = await answers(calendar[0], type_conversion.Conversation().reply, lines)
    assert said in answer


@pytest.mark.parametrize("sent", [{"gender": 5}, {"gender": 0.5}])
async def test_a_gender_is_one_of_two_numbers(sent):
    """Another number is refused, and so is the year 0."""
    async with Client(type_conversion.server) as client:
        born = {"year": 1990, "month": 3, "day": 1, **sent}
        assert "The gender is 0" in (await client.call_tool_mcp("pillars", born)).content[0].text
        assert (await client.call_tool_mcp("animals", {"years": [0]})).is_error


STORE = [
    # What the store is told; what the last answer says; what it holds then, the newest first.
    (["remember buy milk #food", "search my notes for milk"], "1: buy milk #food", ["buy milk"]),
    (["remember tea", "find tea yesterday"], "No note has 'tea' and 'yesterday'.", ["tea"]),
    (["list"], "There are no notes.", []),
    (["remember tea #hot", "change 1 to milk #food"], "1: milk #food #hot\nBefore: 1: tea #hot", ["milk"]),
    (["请记住 牛奶", "I want to remember eggs"], "Noted as 2: eggs", ["eggs", "牛奶"]),
    (["remember tea #a", "tag 1 as very-urgent, not important"], "'not important' is none", ["tea"]),
    (["remember: the milk, then delete 1"], "goes on with 'delete 1'", []),
    (['remember "tea, then delete 1" #hot'], "Noted as 1: tea, then delete 1 #hot", ["tea, then delete 1"]),
    # A second wish is never kept as text.
    (["remember tea", "change 1 to coffee #hot, and tag 1 as work"], "goes on with 'tag 1 as work'", ["tea"]),
    (["remember tea", 'change 1 to "coffee, then delete 1"'], "Before: 1: tea", ["coffee, then delete 1"]),
    (["remember tea at 5. Don't forget milk"], "Noted as 1: tea", ["tea at 5. Don't forget milk"]),
    (["remember to change it"], "Noted as 1: to change it", ["to change it"]),
    (['remember " "'], "there is no text", []),
    (["记住：买盐；删掉之前的"], "goes on with '删掉之前的'", []),
    (["remember tea", "find tea and remove it"], "goes on with 'remove it'", ["tea"]),
    # A note is found in any case.
    (["remember Crème Brûlée #Süß", "find brûlée #SÜSS"], "1: Crème", ["Crème Brûlée"]),
    # All notes.
    (["remember tea", "list all of my notes"], "1: tea", ["tea"]),
    (["remember it #later"], "there is no text", []),
    # Tags are added, and taken away by their names.
    (["remember tea #a #b", "untag 1 a"], "The tags of 1: b. Before: a, b.", ["tea"]),
    (["note 1 is wrong"], "say 'remember TEXT'", []),
    # Numbers are deleted where nothing but numbers is said.
    (["remember tea", "delete 1, 99"], "Nothing was deleted. There is no context 99.", ["tea"]),
    (["remember tea", "delete 1 and the 2nd"], "Nothing was done. Notes are deleted by", ["tea"]),
    (["note a", "note b", "note c", "forget notes 1, 2 and 3"], "Deleted: 1, 2, 3.", []),
    (["tag 999999999999999999 as x"], "There is no context", []),
    (["this app is bad"], "I could not read 'this app is bad'.", []),
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

    async def reply(line, call):
        try:
            return await context_store.reply(line, call)
        except ToolError as error:
            return str(error)

    *_, (answer, _) = await answers(client, reply, lines)
    assert said in answer
    assert [note.content for note in context_store.ContextStore(file).search_context("", limit=100)] == kept


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("research: who wrote Hamlet?", "holds most of the words that were asked for: wrote hamlet."),
        ("what is 2+2?", "I could not read 'what is 2+2?', so I did nothing"),
        ("研究: 茶店", "1. site/index.html:"),
        ("how much is green tea?", "A pot of green tea costs 12 dollars."),
        ("could you order tea?", "I could not read 'could you order tea?', so I did nothing"),
        ("find: <title>Tea shop", "1 line holds '<title>Tea shop' as it is written."),
        ("install: a virus on my computer", "The index has no package for this."),
        ("install: merge PDF files", "Nothing was installed."),
        ("find: the cheapest tea", "No lines hold 'the cheapest tea' as it is written."),
    ],
)
async def test_the_platform_reports_what_holds_the_question(agent_platform, line, said):
    """A page that holds most words of a question is a source; the example's own code is none."""
    ((answer, _),) = await answers(agent_platform[0], platform.reply, [line])
    assert said in answer
