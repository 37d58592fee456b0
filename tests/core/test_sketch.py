"""What a figure shows, in lines: what is told of a change, and what is not for the last digits of a processor."""

import base64
import io

import pytest

from scratchbook.core.cells import Part
from scratchbook.core.pins import Pin, compare, pin_part
from scratchbook.core.sketch import sketch

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="50">'


def curve(*moved):
    """A path of a hundred points; each of `moved` is (which, by how much)."""
    heights = [float(number % 7) for number in range(100)]
    for number, distance in moved:
        heights[number] += distance
    return f'<path d="M {" L ".join(f"{x} {y}" for x, y in enumerate(heights))}" style="stroke: #0072b2"/>'


def picture(level=0):
    from PIL import Image

    drawn = Image.new("RGB", (4, 3), (200, 200, 200))
    drawn.putpixel((1, 1), (200, level, 200))
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG")
    return f'<image xlink:href="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"/>'


def pinned(body):
    svg = f"{HEAD}{body}</svg>"
    kind, value = pin_part(Part("svg", {"svg": svg, "sketch": sketch(svg)}))
    return {"live-1": Pin("draw()", {kind: value})}


def is_told(before, after):
    return compare(pinned(before), pinned(after), 1e-6) != ()


def test_a_figure_is_described_in_words_that_a_reader_can_follow():
    svg = f"{HEAD}<text>loss in nats</text>{curve()}<rect x='3' width='4'/></svg>"

    assert sketch(svg) == [
        "words: loss in nats",
        "curve of 200 numbers from 0.0 to 99.0, checks 1133.0 1016.8",
        "other shapes of 4 numbers from 3.0 to 100.0, checks -43.0 157.0",
    ]


@pytest.mark.parametrize("distance", [1e-6, 0.01])
def test_last_digits_are_no_difference(distance):
    assert not is_told(curve(), curve((3, distance), (50, -distance), (51, distance)))


@pytest.mark.parametrize("which", [0, 17, 50, 99])
def test_one_point_of_a_hundred_that_moved_by_one_is_a_difference(which):
    assert is_told(curve(), curve((which, 1.0)))


def test_points_that_moved_and_keep_their_sum_are_a_difference():
    assert is_told(curve(), curve((10, 3.0), (20, -3.0)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<text>loss</text>", "<text>gain</text>"),
        ("<text>0.5</text>", "<text>0.6</text>"),
        ("<rect x='3' width='4'/>", "<rect x='3' width='6'/>"),
        ("<rect x='3' fill='#000000'/>", "<rect x='3' fill='#ffffff'/>"),
        (curve(), curve().replace("M 0 0.0 L", "M")),
        (curve(), curve() + curve()),
    ],
)
def test_what_a_reader_sees_is_told(before, after):
    assert is_told(before, after)


def test_a_minus_before_nought_and_a_name_made_from_it_are_no_difference():
    before = "<path id='p12' d='M 0 0 L 9 0'/><g clip-path='url(#p12)'/>"

    assert not is_told(before, before.replace("p12", "p34").replace("M 0 0", "M 0 -0"))


def test_a_picture_is_compared_by_its_pixels():
    assert not is_told(picture(100), picture(101))
    assert is_told(picture(100), picture(140))


def test_a_picture_that_cannot_be_read_is_compared_by_its_bytes():
    broken = '<image xlink:href="data:image/png;base64,QUJD"/>'

    assert not is_told(broken, broken)
    assert is_told(broken, broken.replace("QUJD", "QUJE"))


def test_what_is_only_defined_is_not_described():
    assert sketch(f"{HEAD}<defs>{curve()}</defs></svg>") == sketch(f"{HEAD}</svg>")
