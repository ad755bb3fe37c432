"""What stands behind columns of numbers and states: hidden classes and continua, fitted by EM.

`Block` holds the columns in one space; `Link` says how a column hangs on the hidden variable and on observed ones;
`ascend` is the EM of a class or of a continuum on nodes, `ascend_factor` that of a continuum behind numbers alone, on
their Gram matrix. `restructure` is the structural step: which columns hang on it, with which observed parents.
"""
