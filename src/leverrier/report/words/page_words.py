"""Sentences of the page that say how to read it."""

from __future__ import annotations

CLASSES_PAGE = (
    "A page that shows who the classes are is written by leverrier classes, or lv.latent_classes(…).report(…)."
)
EXPLORE = (
    "Choose values for some columns: the probability of the hidden states, and of the other columns, follows from the "
    "model. Nothing leaves this page."
)
EXPLORE_ROWS = (
    "Open your table below to see which state each row is in, the rows of one state, or one row of yours. It is read "
    "here, in your browser, and sent nowhere."
)
NATS = (
    "All gains here are in nats, the natural unit of evidence: a model that is ahead by 1 nat makes what was seen 2.7 "
    "times as probable, by 10 nats 22,000 times."
)
ONE_NAT = (
    "Gains are in nats: a model ahead by 1 nat makes what was seen 2.7 times as probable, by 10 nats 22,000 times."
)
NO_PROOF = (
    "A hidden variable says that these columns move together as if something that nobody measured drove them. It is no "
    "proof of a cause."
)
NO_HEADS = (
    "A line without an arrowhead is an arc whose direction the data cannot tell: both directions describe them equally "
    "well. An arrowhead is a direction that this network needs, which is still no proof of a cause."
)
RENAME = (
    'Give the states names of your own: found.rename({"H1": {"0": "low rate"}}), or --names "H1:0=low rate" with '
    "leverrier report. They are kept in the saved findings and in every table made from them."
)
