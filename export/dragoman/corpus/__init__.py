"""Parallel text out of a Debian archive: `dragoman corpus`.

What free software has been translated by its own people lies in four places of the archive: package
descriptions in the translation indexes, gettext catalogues and help pages in the packages, manual
pages in pairs of packages, and debconf's questions in the packages' control part. One run walks
through the modules like this:

    recipe      names packages               discover  finds them for a language without a list
    apt         fetches them                 deb       opens them
    descriptions, catalogues, manuals, questions       one reader for each source
    cleaning    text that one can train on   filters, language, limits   what is left out, counted
    split       whole documents apart        leakage   what training has seen is not held out
    output      train.tsv, dev.tsv, test.tsv, ORIGINS.tsv, corpus.json

Only the ordinary package tools go to the network, as any user, with a state directory of their own.

Alignment is by what the sources state: message and translation, package and hash of its
description, and for pages the same blocks in the same order, section by section; paragraphs are
split into sentences where both sides have as many. Nothing is guessed from the texts, so a filter's
work is to drop what is no text, and what a translator has told otherwise. Nothing is known of a
language either but how the archive spells its name: what its words, its script and its lengths are
like is learnt from the corpus. Source packages and Qt's own catalogues (.qm) are not read.
"""
