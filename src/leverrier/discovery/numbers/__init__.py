"""Hidden classes and continua behind tables with numbers: candidates, the search, the rule, the tests, the route."""
