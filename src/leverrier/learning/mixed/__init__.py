"""Networks over states and numbers, in one space.

    space = make_space(columns, seed=0)          # mixed_space: a dict, a frame or a Table → scores, codes, margins
    scores = MixedScores(space)                  # mixed_scores: families kept by child and parents
    scores.family(child, parents)                # nats: log-likelihood − (p/2)·log n of the best kind
    scores.fitted(child, parents)                # Fitted: score, log_likelihood, dimension, family (a Conditional)
    parents = mixed_search(scores, seed=0)       # mixed_search: {child: parents} by number; starts= takes graphs
    network = mixed_network(scores, parents)     # learn_mixed: the value, in the user's units

Children and parents are column numbers of the space. Every score is in nats of z, the normal scores: models of one
table may be compared, whatever their families. A family sees cells of the space: normal scores of numbers (in the
middle of the atom where the number is atomic), codes of states.
"""
