"""Names, notes and addresses: what can be seen, and which addresses are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base import texts
from storage.base.errors import NameTaken
from tests.refusals import errors_of

# Spaces and joiners, Hangul fillers, an empty Braille pattern, lone marks, variation selectors.
INVISIBLE = [
    "\u200b",
    "\u200d\u200c\u2060",
    "\ufeff",
    "\u00ad",
    "\u3164",
    "\u115f\u1160",
    "\uffa0",
    "\u2800",
    "\u0301",
    "\u034f",
    "\ufe0f",
    "\U000e0100",
    "\U000e0041",
    "\u2003 \u3164",
]


@pytest.mark.parametrize("text", [*INVISIBLE, "-", "...", "🌴"])
def test_a_name_needs_a_letter_or_digit_that_can_be_seen(text: str) -> None:
    errors = errors_of(lambda: texts.name(text, "first_name"))

    assert errors == [("/first_name", "no_visible_letter")]
    assert texts.plain_name(text) == ""


@pytest.mark.parametrize(
    "name",
    ["Ada", "7", "王", "م", "Œ", "ʻOkina", "🌴 Holiday", "நி", "o\u0301", "Ⅳ", "می\u200cشود"],
)
def test_names_of_every_script_are_accepted(name: str) -> None:
    assert texts.name(name, "first_name") == name
    assert texts.plain_name(name) == name


@pytest.mark.parametrize("text", INVISIBLE)
def test_a_note_without_a_visible_character_is_none(text: str) -> None:
    assert texts.optional_text(text, "note", 100) is None


@pytest.mark.parametrize("text", ["…", "👍", "?", "o\u0301"])
def test_a_note_may_be_a_sign(text: str) -> None:
    assert texts.optional_text(text, "note", 100) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ren\u00e9@example.com", "rene\u0301@example.com"),
        ("\uff41da@example.com", "ada@example.com"),
        ("ADA@Example.COM", "ada@example.com"),
        ("stra\u00dfe@example.com", "STRASSE@example.com"),
        ("\ufb01n@example.com", "fin@example.com"),
        ("\u212aim@example.com", "kim@example.com"),
    ],
)
def test_addresses_are_equal_in_every_form_and_case(one: str, other: str) -> None:
    assert texts.email_key(one) == texts.email_key(other)


def test_a_dotless_i_is_another_letter() -> None:
    keys = {texts.email_key(f"{letter}da@example.com") for letter in "iı"}

    assert len(keys) == 2


@given(st.text())
def test_the_key_of_an_address_is_the_same_for_all_its_forms(text: str) -> None:
    key = texts.email_key(text)

    assert texts.email_key(key) == key
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert texts.email_key(unicodedata.normalize(form, text)) == key


@pytest.mark.parametrize(
    "local", ["аda", "pаypal", "αlpha", "ada.ада", "maг", "ᎪDA", "\uff41дa", "ada日本"]
)
def test_an_address_that_mixes_alphabets_is_refused(local: str) -> None:
    errors = errors_of(lambda: texts.new_email(f"{local}@example.com", "email"))

    assert errors == [("/email", "mixed_scripts")]


@pytest.mark.parametrize(
    "address",
    [
        "ada.lovelace+1@example.com",
        "ада@пример.рф",
        "ада.1@example.com",
        "rené@example.com",
        "すずき鈴木スー@example.jp",
        "김金@example.kr",
        "o\u02bcneil@example.com",
        "\uff41da@example.com",
    ],
)
def test_an_address_in_one_alphabet_is_accepted(address: str) -> None:
    assert texts.new_email(address, "email") == address


@pytest.mark.parametrize(
    "address",
    [
        "ada",
        "ada@example",
        "ada @example.com",
        "ada@exa mple.com",
        "@example.com",
        "a@b@example.com",
        "ada@-example.com",
        "ada@example..com",
        "Ada <ada@example.com>",
        "a" * 65 + "@example.com",
        "ada@" + "a" * 60 + ("." + "b" * 60) * 3 + ".example",
    ],
)
def test_a_malformed_address_is_refused(address: str) -> None:
    assert errors_of(lambda: texts.email(address, "email")) == [("/email", "invalid_email")]


# A lone mark is a part of the letter before it.
@pytest.mark.parametrize("invisible", [text for text in INVISIBLE if text != "\u0301"])
def test_an_address_with_an_invisible_character_is_refused(invisible: str) -> None:
    errors = errors_of(lambda: texts.email(f"ada{invisible}@example.com", "email"))

    assert errors == [("/email", "invalid_email")]


def test_a_name_is_taken_by_others_in_any_case_but_not_by_its_own() -> None:
    others = [("1", "Research"), ("2", "Shop")]

    texts.check_is_free("RESEARCH", others, own_id="1")
    with pytest.raises(NameTaken) as refused:
        texts.check_is_free(" research", others, own_id="2")
    assert refused.value.other_id == "1"
