"""What matplotlib draws, made light: words stay words, heat maps keep their pixels."""

import base64
import io
from xml.etree import ElementTree

import pytest

from scratchbook.core.plots import lighten, with_palette

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")


def letters(*places):
    """A formula as matplotlib writes it: a letter, its place, its height."""
    look = "font-size: 10px; font-family: 'DejaVu Sans'"
    spans = "".join(f'<tspan x="{x}" y="{y}" style="{look}">{letter}</tspan>\n' for letter, x, y in places)
    return f'<svg xmlns="http://www.w3.org/2000/svg"><text>\n{spans}</text></svg>'


def words(svg):
    """The text of each piece of a lightened figure, and where it begins."""
    (text,) = ElementTree.fromstring(lighten(svg))
    return [(span.text, span.get("x")) for span in text]


def test_letters_in_a_row_become_one_word():
    assert words(letters(("1", 0, 0), ("0", 6.4, 0))) == [("10", "0")]


def test_an_exponent_stays_where_it_is():
    assert words(letters(("1", 0, 0), ("0", 6.4, 0), ("3", 12.8, -4))) == [("10", "0"), ("3", "12.8")]


def test_words_with_a_formula_between_them_stay_apart():
    assert words(letters(("a", 0, 0), ("b", 30, 0))) == [("a", "0"), ("b", "30")]


def test_a_letter_further_left_begins_a_word():
    assert words(letters(("b", 30, 0), ("a", 0, 0))) == [("b", "30"), ("a", "0")]


def test_a_kerned_row_stays_as_it_is():
    assert words(letters(("AV", "0 6", 0), ("x", 12, 0))) == [("AV", "0 6"), ("x", "12")]


def test_the_font_is_named_once_where_a_page_can_outweigh_it():
    root = ElementTree.fromstring(lighten(letters(("1", 0, 0))))

    assert root.get("font-family") == "DejaVu Sans, sans-serif"
    assert [span.get("style") for span in root.iter() if span.get("style")] == ["font-size: 10px;"]


def test_a_font_that_the_author_chose_stays():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><text style="font-family: \'Comic Neue\'">a</text></svg>'

    assert "Comic Neue" in lighten(svg)


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def pixels_of(picture):
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA"))


def noise(colours, alpha=255):
    generator = numpy.random.default_rng(0)
    palette = numpy.column_stack([generator.integers(0, 256, (colours, 3)), numpy.full(colours, alpha)])
    return palette[generator.integers(0, colours, (40, 40))].astype(numpy.uint8)


def test_a_heat_map_with_few_colours_is_lighter_and_the_same():
    picture = png(noise(200))
    light = with_palette(picture)

    assert len(light) < 0.7 * len(picture)
    assert (pixels_of(light) == pixels_of(picture)).all()


@pytest.mark.parametrize("pixels", [noise(1500), noise(100, alpha=128)], ids=["many colours", "seen through"])
def test_another_picture_stays_as_it_is(pixels):
    picture = png(pixels)

    assert with_palette(picture) == picture
