"""EM for hidden regimes and for classes and levels of persons."""
