"""SVG for a page: nothing that runs, no id twice, and the page's own colour for what was black."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from scratchbook.core import figures
from scratchbook.core.endings import OutputError
from scratchbook.core.figures import take_figures, tidy_svg

SETTINGS = Path(figures.__file__).with_name("matplotlibrc")
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def tidied(body, attributes=""):
    return ElementTree.fromstring(tidy_svg(f"<svg {NAMESPACES} {attributes}>{body}</svg>", "p-"))


def attributes(body):
    return tidied(body)[0].attrib


def test_every_id_and_what_refers_to_it_get_the_prefix():
    body = '<use xlink:href="#a"/><g id="a" clip-path="url(#b)" style="fill: url(\'#a\')"/><clipPath id="b"/>'

    use, group, clip = tidied(body)

    assert use.get("{http://www.w3.org/1999/xlink}href") == "#p-a"
    assert group.attrib == {"id": "p-a", "clip-path": "url(#p-b)", "style": "fill: url(#p-a)"}
    assert clip.get("id") == "p-b"


@pytest.mark.parametrize("black", ["#000000", "#000", "black", "BLACK", "rgb(0, 0, 0)"])
def test_black_becomes_the_pages_colour_of_text(black):
    assert attributes(f'<path stroke="{black}" style="fill: {black}"/>') == {
        "stroke": "currentColor",
        "style": "fill: currentColor",
    }


def test_other_colours_stay():
    assert attributes('<path stroke="#0000001" fill="#000033"/>') == {"stroke": "#0000001", "fill": "#000033"}


def test_what_has_no_colour_takes_that_of_the_page():
    assert tidied("").get("fill") == "currentColor"


def test_a_colour_of_the_whole_picture_stays():
    assert tidied("", 'fill="none"').get("fill") == "none"


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        "<foreignObject><b/></foreignObject>",
        "<metadata>today</metadata>",
        "<!-- made today -->",
        "<g><script/></g>",
    ],
)
def test_scripts_and_history_go(body):
    assert "script" not in ElementTree.tostring(tidied(body), encoding="unicode")
    assert "today" not in ElementTree.tostring(tidied(body), encoding="unicode")
    assert "foreign" not in ElementTree.tostring(tidied(body), encoding="unicode")


@pytest.mark.parametrize(
    "name", ['onclick="x()"', 'href="javascript:x()"', 'xlink:href="data:text/html,x"', 'href="file:///x"']
)
def test_attributes_that_run_or_fetch_go(name):
    assert attributes(f"<a {name}/>") == {}


def test_a_link_leads_elsewhere_and_no_picture_comes_from_there():
    assert attributes('<a href="https://example.org"/>') == {"href": "https://example.org"}
    assert attributes('<image href="https://example.org/seen.png"/>') == {}


def test_a_prolog_goes():
    text = f'<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD" "x.dtd">\n<svg {NAMESPACES}/>'

    assert tidy_svg(text, "p-").startswith("<svg ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello", "drew no figure: the text it ends with is not SVG"),
        ("<p>x</p>", "drew no figure: the text it ends with is <p>, not <svg>"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "the SVG declares a document type of its own; leave it out"),
    ],
)
def test_what_is_no_svg_is_told(text, told):
    with pytest.raises(OutputError) as caught:
        tidy_svg(text, "p-")

    assert str(caught.value).startswith(told)


def test_a_style_for_everything_holds_for_the_picture_only():
    picture = tidied("<defs><style>*{stroke-linejoin: round}</style></defs>")

    assert picture.get("style") == "stroke-linejoin: round"
    assert [element.tag.rpartition("}")[2] for element in picture.iter()] == ["svg", "defs"]


def test_another_style_sheet_is_refused():
    with pytest.raises(OutputError, match="would change the whole page"):
        tidied("<style>.a{fill: red}</style>")


class Drawing:
    """What libraries other than matplotlib give a notebook."""

    def _repr_svg_(self):
        return f'<svg {NAMESPACES} id="x"/>'


def test_an_object_that_draws_itself_is_a_figure():
    (part,) = take_figures(Drawing(), "block 1")

    assert part.kind == "svg"
    assert 'id="block-1-x"' in part.data["svg"]


def test_the_words_of_a_figure_are_text_in_the_font_of_the_page():
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(fname=SETTINGS):
        figure = Figure()
        figure.subplots().set(xlabel="a loss", xscale="log")
        svg, pdf = take_figures(figure, "block 1")

    assert ">a loss</text>" in svg.data["svg"]
    assert 'font-family="DejaVu Sans, sans-serif"' in svg.data["svg"]
    assert "font-family:" not in svg.data["svg"]
    assert pdf.kind == "pdf"
