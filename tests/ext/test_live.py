"""{live}: what a page shows of files and of its own code."""

from docutils import nodes


def test_a_region_stands_above_its_demonstration_and_their_output(chapter):
    built = chapter(
        """
        # Book

        ```{live} code.py
        :tag: double

        print(double(21))
        ```
        """,
        """
        # tag::double[]
        def double(x):
            return 2 * x
        # end::double[]
        """,
    )

    blocks = [block.astext() for block in built.doctree().findall(nodes.literal_block)]
    assert blocks == ["def double(x):\n    return 2 * x", "print(double(21))", "42"]
    assert built.warnings == []
    assert built.status == 0
