"""The report's figures, each a function from findings to an ``<svg>`` element that HTML takes as it stands.

A figure is None where there is nothing to draw; the section it draws says why. Figures have no ``style`` attribute,
script or link, so a page may forbid all three; colours are the variables of `css`, which the page's stylesheet has to
include.
"""
