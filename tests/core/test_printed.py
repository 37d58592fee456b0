"""From captured bytes to text for a page: what a reader would see, the same on every machine."""

import pytest

from scratchbook.core.printed import Printed, clean_text, say_bytes, show_bytes


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Aup", "up"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b(Btext\x1b=", "text"),
        ("\x9b1mbold", "bold"),
        ("unfinished \x1b", "unfinished "),
        ("unfinished \x1b[3", "unfinished "),
        ("unfinished \x1b[3\nnext", "unfinished \nnext"),
        ("unfinished \x1b(\nnext", "unfinished \nnext"),
        ("unfinished \x1b]8;;http", "unfinished "),
        ("unfinished \x1b]8;;http\nnext", "unfinished \nnext"),
        ("bell\x07 null\x00 form\x0c feed\x7f", "bell null form feed"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_control_sequences_and_control_bytes_go(printed, shown):
    assert clean_text(printed) == shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("100%\r", "100%"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("abc\b\bX", "aX"),
        ("\b\bX", "X"),
    ],
)
def test_a_progress_bar_is_left_as_it_ended(printed, shown):
    assert clean_text(printed) == shown


def test_a_hidden_character_is_written_as_its_number():
    assert clean_text("a\u202eb\u200bc\u2066d") == "a\\u202eb\\u200bc\\u2066d"


def test_joined_emoji_stay():
    assert clean_text("\U0001f469\u200d\U0001f52c") == "\U0001f469\u200d\U0001f52c"


def test_addresses_are_written_as_dots():
    text = "<function f at 0x7f3a2b1c4d5e> and <__main__.A object at 0x55d0c0ffee00>"

    assert clean_text(text) == "<function f at 0x…> and <__main__.A object at 0x…>"


def test_a_hexadecimal_number_stays():
    assert clean_text("0x7f3a2b1c4d5e at 0x10") == "0x7f3a2b1c4d5e at 0x10"


def test_paths_of_this_machine_are_written_from_the_project():
    folders = (("/home/ann/book/", ""), ("/home/ann/book", "."))

    assert clean_text("/home/ann/book/a.py in /home/ann/book, not /home/ann/bookshop", folders) == (
        "a.py in ., not /home/ann/bookshop"
    )


def test_bytes_that_are_not_utf8_are_counted():
    assert show_bytes(b"a\xff\xfe\xe2\x82", 100) == Printed("a\ufffd\ufffd\ufffd\ufffd", 0, 4)


def test_a_replacement_character_that_was_printed_is_no_wrong_byte():
    assert show_bytes("a\ufffd".encode(), 100) == Printed("a\ufffd", 0, 0)


def test_the_cut_stands_between_two_lines():
    assert show_bytes(b"one\ntwo\nthree\n", 10) == Printed("one\ntwo\n", 6, 0)


def test_one_long_line_is_cut_between_two_letters():
    assert show_bytes("aé".encode() * 4, 5) == Printed("aéa", 8, 0)


@pytest.mark.parametrize(
    ("count", "said"),
    [(10, "10 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1024**2, "1 MiB"), (4 * 1024**3, "4 GiB")],
)
def test_a_number_of_bytes_is_said_in_the_unit_that_fits(count, said):
    assert say_bytes(count) == said
