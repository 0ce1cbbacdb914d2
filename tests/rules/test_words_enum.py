"""Test which enum member a text matches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import REFUSED, enum, exactly, read_as

NO_MATCH = REFUSED
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=30), inner, max_size=3),
    max_leaves=5,
)


_ROWS = [
    pytest.param(["fast", "slow"], "FAST", "fast", id="case"),
    pytest.param(["Connected", "Failed"], "CONNECTED", "Connected", id="case-both"),
    pytest.param(["fast", "slow"], " fast\n", "fast", id="space"),
    pytest.param(["fast", "slow"], '"fast"', "fast", id="double-quotes"),
    pytest.param(["fast", "slow"], "' Fast '", "fast", id="single-quotes"),
    pytest.param(["fast", "slow"], "'fast\"", NO_MATCH, id="mismatched-quotes"),
    pytest.param(["fast", "slow"], '""fast""', NO_MATCH, id="quotes-twice"),
    pytest.param(["fast", "slow"], "fast", "fast", id="exact"),
    pytest.param(["fast", "slow"], "breakfast", NO_MATCH, id="substring"),
    pytest.param(["fast", "slow"], "fas", NO_MATCH, id="prefix"),
    pytest.param(["fast", "slow"], "", NO_MATCH, id="empty"),
    pytest.param([" ", ","], "\n", NO_MATCH, id="line-break-for-a-space"),
    pytest.param(["\t", ","], " ", NO_MATCH, id="space-for-a-tab"),
    pytest.param(["md", "csv"], "MD", "md", id="word-of-month-and-day"),
    pytest.param([" ", ","], '"\t"', NO_MATCH, id="quoted-tab-for-a-space"),
    pytest.param(["\n", ","], "", NO_MATCH, id="nothing-for-a-line-break"),
    pytest.param(["", ",", ";"], "\t", NO_MATCH, id="tab-for-nothing"),
    pytest.param(["\r\n", "lf"], "\n", NO_MATCH, id="line-break-of-another-system"),
    pytest.param(["basic", "detailed"], "detail", NO_MATCH, id="near"),
    pytest.param(["in_progress", "done"], "in progress", "in_progress", id="space-for-underscore"),
    pytest.param(["in_progress", "done"], "In-Progress", "in_progress", id="hyphen-for-underscore"),
    pytest.param(
        ["historical records"], "historical_records", "historical records", id="underscore-for-space"
    ),
    pytest.param(["in_progress", "done"], "inprogress", NO_MATCH, id="no-separator"),
    pytest.param(["in_progress", "done"], "inProgress", NO_MATCH, id="camel"),
    pytest.param(["in_progress", "done"], "in  progress", NO_MATCH, id="two-spaces"),
    pytest.param(["a-b", "a_b"], "a b", NO_MATCH, id="separators-not-unique"),
    pytest.param(["1-2", "12"], "1_2", NO_MATCH, id="separator-between-digits"),
    pytest.param(["24-hour"], "24_hour", NO_MATCH, id="separator-beside-a-digit"),
    pytest.param(["-asc", "asc"], "_asc", NO_MATCH, id="leading-separator"),
    pytest.param(["-1", "1"], " -1 ", "-1", id="sign"),
    pytest.param(["asc", "ASC"], "Asc", NO_MATCH, id="case-not-unique"),
    pytest.param(["asc", "ASC"], " ASC ", "ASC", id="space-around-an-exact-member"),
    pytest.param(["a", " a"], "a ", NO_MATCH, id="space-not-unique"),
    pytest.param(["a", '"a"'], ' "a" ', NO_MATCH, id="quotes-not-unique"),
    pytest.param(["MIN", "Minimum"], "minimum", "Minimum", id="longer-neighbor"),
    pytest.param(["1m", "1h"], "1M", NO_MATCH, id="single-letter-after-a-digit"),
    pytest.param(["1m", "1M"], "1M", "1M", id="single-letter-exact"),
    pytest.param(["1m", "1M"], " 1m ", "1m", id="single-letter-exact-but-for-space"),
    pytest.param(["1 m"], "1 M", NO_MATCH, id="single-letter-after-a-digit-and-space"),
    pytest.param(["5g", "4g"], "5G", NO_MATCH, id="5G"),
    pytest.param(["15min", "1h"], "15MIN", "15min", id="word-after-a-digit"),
    pytest.param(["m", "M"], "m ", "m", id="month-and-minute"),
    pytest.param(["a-b"], "A-b", NO_MATCH, id="single-letters-with-a-hyphen"),
    pytest.param(["a-b"], "a_b", NO_MATCH, id="single-letters-with-another-separator"),
    pytest.param(["n_A", "x"], "n-A", NO_MATCH, id="single-letters-of-both-cases-with-another-separator"),
    pytest.param(["m", "d"], "M", NO_MATCH, id="single-letter-alone"),
    pytest.param(["Plan A", "Plan B"], "plan b", "Plan B", id="single-letter-among-words"),
    pytest.param(["C++", "Java"], "c++", "C++", id="single-letter-with-signs"),
    pytest.param(["MB", "Mb"], "mb", NO_MATCH, id="bits-and-bytes"),
    pytest.param(["KB", "MB"], "mb", "MB", id="codes-of-one-case"),
    pytest.param(["kb", "mb"], "MB", NO_MATCH, id="declared-in-lower-case"),
    pytest.param(["KB", "MB"], "Mb", NO_MATCH, id="megabit-is-not-megabyte"),
    pytest.param(["Kb", "Mb"], "MB", NO_MATCH, id="megabyte-is-not-megabit"),
    pytest.param(["10MB"], "10Mb", NO_MATCH, id="megabit-after-a-number"),
    pytest.param(["MW", "GW"], "mW", NO_MATCH, id="milliwatt"),
    pytest.param(["MW", "GW"], "mw", "MW", id="no-unit-in-lower-case"),
    pytest.param(["MW", "mW"], "mw", NO_MATCH, id="ambiguous-unit"),
    *(
        pytest.param([f"{large}B{rest}"], f"{large}b{rest}", NO_MATCH, id=f"{large}b{rest}")
        for large, rest in [(large, "") for large in "KMGTP"] + [(large, "ps") for large in "KMG"]
    ),
    *(pytest.param([f"M{rest}"], f"m{rest}", NO_MATCH, id=f"m{rest}") for rest in ("W", "Wh", "J", "Pa")),
    pytest.param(["ABC"], "aBC", NO_MATCH, id="short-of-both-cases"),
    pytest.param(["km", "mi"], "KM", NO_MATCH, id="short-in-upper-case"),
    pytest.param(["EU", "NA"], "na", "NA", id="short"),
    pytest.param([1, 2, 3], "2", 2, id="number"),
    pytest.param([1, 2, 3], " 2 ", 2, id="number-with-space"),
    pytest.param([1, 2, 3], "2.0", 2, id="number-with-fraction"),
    pytest.param([1, 2, 3], "02", NO_MATCH, id="number-with-zero"),
    pytest.param([1, 2, 3], '"2"', NO_MATCH, id="number-in-quotes"),
    pytest.param([1, 2, 3], "two", NO_MATCH, id="number-word"),
    pytest.param([1, 2, 3], "2.5", NO_MATCH, id="other-number"),
    pytest.param([0.5, 1], "0.5", 0.5, id="float"),
    pytest.param([10**30, 1], "1" + "0" * 30, 10**30, id="large-number"),
    pytest.param(["2", 2], " 2", NO_MATCH, id="number-and-its-text"),
    pytest.param(["2", 2], "2", "2", id="text-exact"),
    pytest.param([True, False], "true", NO_MATCH, id="boolean-text"),
    pytest.param([True, False], "1", NO_MATCH, id="boolean-number"),
    pytest.param([None, "a"], "null", NO_MATCH, id="null-text"),
    pytest.param([None, "a"], "None", NO_MATCH, id="None-text"),
    pytest.param([], "a", NO_MATCH, id="no-members"),
    pytest.param(["1m run"], "1m RUN", "1m run", id="single-letter-as-declared-beside-a-word"),
    pytest.param(["a", "b"], "A", NO_MATCH, id="single-letter-outside-dates"),
    pytest.param(["fast", "slow"], "*fast*", NO_MATCH, id="stars-are-not-quotes"),
    pytest.param(["", "a"], '"', NO_MATCH, id="lone-quote"),
    pytest.param(["", "a", "b"], '""', "", id="quotes-around-nothing"),
    pytest.param(["HH:mm", "H"], "hh:mm", NO_MATCH, id="hours-of-the-half-day"),
    pytest.param(["MM", "YY"], "mm", NO_MATCH, id="minutes-or-months"),
    pytest.param(["yyyyMMdd", "epoch"], "yyyymmdd", NO_MATCH, id="date-without-separators"),
    pytest.param(["d.M.yyyy", "epoch"], "d.m.yyyy", NO_MATCH, id="date-of-single-letters"),
    pytest.param(["sms", "email"], "SMS", "sms", id="word-of-a-dates-letters"),
    pytest.param(["MS", "YS"], "ms", "MS", id="two-of-a-dates-letters"),
    pytest.param(["Hms", "yMd"], "hms", NO_MATCH, id="letters-of-a-date"),
    pytest.param(["YYYY", "epoch"], "yyyy", NO_MATCH, id="years-of-weeks"),
    pytest.param(["Y" * 50 + "_1", "b"], "y" * 50 + "_1", NO_MATCH, id="long-run-of-one-letter"),
    pytest.param(["ssh", "https"], "SSH", "ssh", id="word-of-a-dates-letters-one-twice"),
    pytest.param(["%Y", "%m"], "%y", NO_MATCH, id="percent-sign"),
    # Each pair is two units.
    *(
        pytest.param([member, "other"], sent, NO_MATCH, id=f"{sent}-is-not-{member}")
        for pair in """
                Mib/MiB Kib/KiB MOhm/mOhm MΩ/mΩ Mcal/mcal pA/Pa PA/Pa Nm/nm Ns/ns
                Pm/pm Mm/mm Ms/ms MS/ms mg/Mg ML/mL mHz/MHz mV/MV pF/PF MeV/meV Mbar/mbar Mvar/mvar MVAr/mVAr
                kb/kB kb/KB Kb/KB Gb/GB Mbps/MBps kbps/kBps MWh/mWh MAh/mAh MNm/mNm mSv/MSv mmol/Mmol mM/Mm
                Mibps/MiBps Mbit/mbit mCi/MCi mIU/MIU mEq/MEq mDa/MDa mOhms/MOhms zs/Zs Ym/ym eV/EV mGy/MGy mrad/Mrad
                m°C/M°C mt/MT mG/MG mOsm/MOsm Mvar/mVAr Mbyte/mbyte Mbytes/mbytes mbits/Mbits
                Tb/TB Pib/PiB mAs/MAs mVA/MVA Mrem/mrem Pbps/PBps Mb/mB RB/Rb
            """.split()
        for sent, member in (pair.split("/"), pair.split("/")[::-1])
    ),
    *(
        pytest.param([member, "other"], sent, NO_MATCH, id=f"{sent}-differs-from-{member}")
        for sent, member in [
            ("Mbit/s", "mbit/s"),
            ("mbit/s", "Mbit/s"),
            ("mb/s", "MB/s"),
            ("Mb per s", "mb per s"),
            ("MB/s", "Mb/s"),
            ("mg/L", "Mg/L"),
            ("m/s", "m/S"),
            ("km/h", "km/H"),
            ("mPa·s", "MPa·s"),
            ("mW/m2", "MW/m2"),
            ("W m^-2", "W M^-2"),
            ("10 Mb", "10 MB"),
            ("5mOhm", "5MOhm"),
            ("size_Mb", "size_MB"),
            ("Speed (Mbps)", "Speed (MBps)"),
            ("Mbits/s", "mbits/s"),
            ("Mb s-1", "mb s-1"),
            ("Mb·s⁻¹", "mb·s⁻¹"),
            ("mm²", "Mm²"),
            ("uM", "um"),
            ("Mibytes/s", "Mibytes/S"),
        ]
    ),
    # Words, and codes in a list of one case.
    *(
        pytest.param([member, "other"], sent, member, id=f"{sent}-is-{member}")
        for sent, member in [
            *(
                ("MIN", "min"),
                ("Min", "min"),
            ),
            *(),
            *(("µs", "μs"),),
            *(),
            *(
                ("Req", "req"),
                ("MMIN", "mmin"),
                ("m\u0345m", "m\u03b9m"),
            ),
            *(("Kbps", "kbps"),),
            *(),
            *(
                ("usd", "USD"),
                ("eur", "EUR"),
                ("mga", "MGA"),
                ("get", "GET"),
                ("put", "PUT"),
            ),
            *(
                ("sms", "SMS"),
                ("MMS", "mms"),
            ),
            *(
                ("gpt-4", "GPT-4"),
                ("GPT-4o", "gpt-4o"),
            ),
            *(
                ("ml engineer", "ML Engineer"),
                ("X-ray", "x-ray"),
                ("T-shirt", "t-shirt"),
            ),
            *(
                ("OPEN", "open"),
                ("In Progress", "in_progress"),
                ("CRITICAL", "critical"),
            ),
        ]
    ),
    # A few letters that may be a symbol.
    *(
        pytest.param([member, *more], sent, NO_MATCH, id=f"{sent}-may-not-be-{member}")
        for sent, member, *more in [
            *(("kn", "kN", "N"), ("fT", "ft", "m"), ("NM", "nm", "um", "mm"), ("Shh", "SHH", "TP53")),
            *(("kwh", "kWh", "kW"), ("mhz", "MHz", "kHz"), ("mpa", "MPa"), ("pa", "Pa", "kPa"), ("ph", "pH")),
            *(("Fr_Fr", "fr_FR", "en_US"), ("VI", "vi", "i"), ("Hf", "HF", "HCl"), ("hmma", "hMma")),
            *(("gb", "GB", "other"), ("Cal", "CAL"), ("cal", "Cal", "other"), ("meq", "Meq", "other")),
        ]
    ),
    # Codes, all of one case.
    *(
        pytest.param([member, *more], sent, member, id=f"{sent}-is-the-code-{member}")
        for sent, member, *more in [
            *(("us", "US", "GB", "DE"), ("usd", "USD", "EUR"), ("get", "GET", "POST"), ("hd", "HD", "SD")),
            *(
                ("CSV", "csv", "json"),
                ("SA", "sa", "nsw", "vic"),
                ("no", "No", "Yes"),
                ("Red", "red", "blue"),
            ),
            *(("fr_fr", "fr_FR", "en_US"), ("gpt-4", "GPT-4", "GPT-5"), ("usd", "USD", "other")),
        ]
    ),
    # These mean two things, which only a table of units would tell.
    *(
        pytest.param([member, "other"], sent, member, id=f"{sent}-is-taken-for-{member}")
        for sent, member in [
            *(("Mohm", "mohm"), ("mohm", "Mohm"), ("Mosm", "mosm"), ("mosm", "Mosm")),
            *(("Meq", "meq"), ("Cal", "cal"), ("MB/sec", "mb/sec")),
        ]
    ),
    # Each pair is two date patterns.
    *(
        pytest.param([member, "other"], sent, NO_MATCH, id=f"{sent}-differs-in-pattern-from-{member}")
        for sent, member in [
            *(("yyyy-MM-dd", "YYYY-MM-DD"), ("yyyy-mm-dd", "yyyy-MM-dd"), ("HH:mm", "hh:mm")),
            *(("HH:MM", "HH:mm"), ("dd", "DD"), ("ss", "SS"), ("yyyy", "YYYY"), ("MMdd", "mmdd")),
            *(("HHmmss", "hhmmss"), ("d/M/yy", "d/m/yy"), ("h:mm a", "H:mm a"), ("MMM d, y", "MMM D, y")),
            *(
                ("yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'hh:mm"),
                ("yyyy-MM-ddTHH:mm:ss", "YYYY-MM-DDTHH:mm:ss"),
            ),
            *(("yyyy年MM月dd日", "yyyy年mm月dd日"), ("yyyy年M月d日", "YYYY年M月D日")),
            *(("HH时mm分", "HH时MM分"), ("HH時", "hh時"), ("yyyy년 MM월 dd일", "yyyy년 mm월 dd일")),
            *(("MMMM d日", "mmmm d日"), ("HH'h'", "hh'h'"), ("H 'Uhr'", "h 'Uhr'")),
            *(("EEE, d MMM", "EEE, D MMM"), ("Y-m-d", "y-m-d"), ("yyyy_MM_dd", "yyyy_mm_dd")),
            *(("%Y-%m-%d", "%y-%m-%d"), ("%H:%M", "%H:%m"), ("%-d", "%-D")),
            ("at %H", "at %h"),
            *(("yyyyMd", "yyyymd"), ("yyyMd", "yyymd"), ("yMdThm", "yMdTHm")),
            ("s" * 9, "S" * 9),
            (f"yyyy-MM-dd'{'x' * 52}'", f"YYYY-MM-DD'{'x' * 52}'"),
            ("ISO yyyy-MM-dd", "ISO YYYY-MM-DD"),
            ("date in dd.MM.yyyy", "date in DD.MM.YYYY"),
        ]
    ),
    *(
        pytest.param([member, "other"], sent, member, id=f"{sent}-is-the-word-{member}")
        for sent, member in [
            *(("DAY", "day"), ("Day", "day"), ("WEEK", "week"), ("ASC", "asc"), ("EAST", "east")),
            *(("Mad", "mad"), ("SUCCESS", "success"), ("dmy", "DMY"), ("ymd", "YMD"), ("mdy", "MDY")),
            *(
                ("SSH", "ssh"),
                ("a.m.", "A.M."),
            ),
            *(
                ("u.s.", "U.S."),
                ("y/n", "Y/N"),
                ("100% OFF", "100% off"),
                *(("%Y Day", "%Y day"),),
            ),
        ]
    ),
    # The case of a letter has a meaning: alone, after the sign of an escape or option, or in a published notation.
    *(
        pytest.param([member, *more], sent, NO_MATCH, id=f"{sent}-means-another-than-{member}")
        for sent, member, *more in [
            *(("\\D", "\\d", "\\w"), ("\\W", "\\w"), ("\\Bend", "\\bend"), ("\\P{Lu}", "\\p{Lu}")),
            *(("\\gamma", "\\Gamma"), ("%i", "%I"), ("%X", "%x", "%d"), ("%Lu", "%lu"), ("[A-F]", "[a-f]")),
            *(
                ("-R", "-r", "-f"),
                ("-V", "-v"),
                ("/Q", "/q"),
                ("+X", "+x"),
                ("ls -T", "ls -t"),
                ("sort -r", "sort -R"),
            ),
            *(("-cJf", "-cjf"), ("-lar", "-laR"), ("ls -lar", "ls -laR")),
            *(("-Rf", "-rf"), ("docker -iT", "docker -it"), ("$X", "$x"), ("^c", "^C"), ("<X>", "<x>")),
            *(("e.h", "e.H"), ("c'", "C'"), ("E-", "e-"), ("R+", "r+"), ("main.C", "main.c"), ("*.H", "*.h")),
            *(("u+X", "u+x", "u+w"), ("u+rwx", "u+rwX"), ("a+rX,o-w", "a+rx,o-w"), ("go=Xr", "go=xr")),
            *(
                ("CM7", "Cm7", "G7"),
                ("Cm7", "CM7"),
                ("DM", "Dm", "G"),
                ("a+", "A+"),
                ("o-", "O-"),
            ),
            *(("Co2", "CO2"), ("CO", "Co", "Ni"), ("Co", "CO", "NO"), ("IDs", "IDS")),
            *(("GBp", "GBP", "USD"), ("GBP", "GBp"), ("ZAr", "ZAR"), ("price (GBp)", "price (GBP)")),
            *(("Kq", "KQ"), ("EN", "En"), ("ID", "Id"), ("Us", "US", "UK"), ("AM", "Am", "Pm"), ("Xl", "XL")),
            *(("kvar", "kVAr"), ("meq", "mEq"), ("s" * 10, "S" * 10)),
            *(("iv", "IV", "ii", "V"), ("II", "ii", "V"), ("Ab", "aB"), ("Ph", "pH", "Me")),
        ]
    ),
    # The case of these has no meaning.
    *(
        pytest.param([member, *more], sent, member, id=f"{sent}-is-{member}-in-another-case")
        for sent, member, *more in [
            *(),
            *(
                ("NO", "No", "Yes"),
                ("ON", "On", "Off"),
            ),
            *(
                ("co", "Co", "Ni"),
                ("CO", "Co", "Inc"),
                ("am", "Am", "G"),
            ),
            # Chess moves, chords and symbols look like words.
            *(
                ("bxc3", "Bxc3", "Nf3"),
                ("kq", "KQ"),
                ("hmma", "Hmma"),
            ),
            *(
                ("iv", "IV", "V"),
                ("nf3", "Nf3"),
                ("RWX", "rwx"),
            ),
            *(
                ("c#", "C#"),
                ("f#", "F#"),
                ("ab-", "AB-"),
                ("n/a", "N/A"),
                ("q&a", "Q&A"),
            ),
            *(
                ("P.M.", "p.m."),
                ("plan b", "Plan B"),
            ),
            *(),
            *(
                ("US-EAST-1", "us-east-1"),
                ("zh-hant", "zh-Hant"),
                ("acgt", "ACGT"),
            ),
            *(
                ("--Verbose", "--verbose"),
                ("-ASC", "-asc"),
                ("Iphone", "iPhone"),
            ),
            *(("100% OFF", "100% off"), ("text/HTML", "text/html"), ("utc", "UTC")),
        ]
    ),
]


def folded(values: list[Any], sent: str) -> Any:
    """Return the member of an enum that a text is read as; a lone member gets another beside it."""
    return read_as(enum(*values, *(["\u203b"] if len(values) < 2 else [])), sent, "fold_enum")


def test_a_text_is_folded_to_the_only_member():
    """A text matches the only member that differs just in spelling."""
    wrong = []
    for row in _ROWS:
        values, sent, member = row.values
        found = folded(values, sent)
        if exactly(found) != exactly(member):
            wrong.append((row.id, found))
    assert wrong == []


@given(st.lists(JSON_VALUE, max_size=5), ANY_TEXT)
def test_a_text_is_folded_to_members_only(values, sent):
    """The result is a member or none, and a member folds to itself."""
    found = folded(values, sent)
    if found is not NO_MATCH:
        assert any(type(member) is type(found) and member == found for member in values)
        assert folded(values, found) == found


@given(st.lists(ANY_TEXT, min_size=1, max_size=5, unique=True), st.data())
def test_exact_members_stay(values, data):
    """An exact member is never replaced by another."""
    member = data.draw(st.sampled_from(values))
    assert folded(values, member) == member


@given(
    st.lists(st.text("aAbB1-_ ", max_size=4), max_size=5, unique=True),
    st.text("aAbB1-_ \"'", max_size=6),
    st.randoms(),
)
def test_order_of_members_does_not_matter(values, sent, random):
    """The match does not depend on the order of the members."""
    assert folded(values, sent) == folded(random.sample(values, len(values)), sent)
