r"""Equations in ordinary LaTeX, read, evaluated and held against code.  NumPy only: text and numbers in, data out.

The way of an equation, a room a module:

    tokens, pieces, spelling, speller, vocabulary   LaTeX and the page's macros to names, numbers and signs
    statements, piecewise, listed, rewritten   rows, "where" parts, ranges and lines of cases to relations
    compounds, joined, bound       names of several parts, and each of them as one token
    labelled                       names in brackets on the left
    shown, setnames                  arrays declared with the letters of their indices; sets below names
    described, unions, members     sets that a display describes, those made of others, and where they are read
    bracketed, cells               what stands in brackets behind a name and is no argument: an event, an element
    sites, steps, conditioned      declared names where they stand, the letters that count their steps, and bars below
    notation, kinds, symbols       what each symbol is: kind, shape, name in the code, meaning
    lexicon, names, leftsides, letters, general, known    what each name in a display is: names decide, ambiguity fails
    parser, naming, subscripts, brackets, bigoperators, environments, conditions, ellipsis, samples, stretches,
    plain                          one expression to a tree
    nodes, equation, definitions   trees, statements, and what each left side defines
    algebra, powers, primitives    arithmetic with shapes, and the functions that everybody knows
    evaluator, arithmetic, blocks, defined, indexing, ranges, uses, reductions, calls, parameters,
    differentiation, derived       trees to numbers
    options, targets, asked, factors, origins, codecalls, binding, draws, ties, prepared, sides, gradient, slopes,
    arguments, picked, vacuity, decided                      what a check runs and draws
    comparison, evidence, comparing, checker, verdict        both sides, and what was found
    branch, errors                 a check within a page's session, and what is wrong at which place of the text
    mutator, changes, renamings, ranks      changes that a slip could make
    suggest, score, codemutants             did-you-mean, and the proof that checks can fail
    inputs, render, worked, explain     trees to LaTeX again: with numbers put in, or with every bracket shown

Import from the modules: the package itself loads nothing, since a builder needs the evaluator and NumPy only rarely.
What the Sphinx side calls: `read_notation`, `Notation.overridden`, `parse_equation`, `parse_plain`, `check` with a
`Request`, `read_inputs`, `work` and `evaluate`, `explain`; what `make mutate` calls: `mutate`, `score`, `score_code`.
"""
