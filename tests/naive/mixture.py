"""A mixture of Gaussians the slow way: row by row, with SciPy's densities and the textbook's formulas [20.3.1]."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def log_joint(x, weights, means, covariances):
    """(rows, components): log w + log density of the observed cells; a row of holes has density 1."""
    logs = np.zeros((len(x), len(weights)))
    for i, row in enumerate(x):
        seen = ~np.isnan(row)
        for c, weight in enumerate(weights):
            logs[i, c] = np.log(weight)
            if seen.any():
                own = covariances[c][np.ix_(seen, seen)]
                logs[i, c] += multivariate_normal(means[c][seen], own).logpdf(row[seen])
    return logs


def posterior(x, weights, means, covariances):
    logs = log_joint(x, weights, means, covariances)
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def log_likelihood(x, weights, means, covariances, row_weights=None):
    rows = logsumexp(log_joint(x, weights, means, covariances), axis=1)
    return rows.sum() if row_weights is None else rows @ row_weights


def em_step(x, weights, means, covariances, row_weights=None):
    """One EM step with full covariances: responsibilities, then each component's weighted moments.

    A row with holes counts as its conditional mean given what is observed, plus the conditional covariance.
    """
    n, d = x.shape
    share = posterior(x, weights, means, covariances) * (np.ones(n) if row_weights is None else row_weights)[:, None]
    new = []
    for c in range(len(weights)):
        completed, extra = np.empty((n, d)), np.zeros((n, d, d))
        for i, row in enumerate(x):
            seen = ~np.isnan(row)
            lost = ~seen
            regression = covariances[c][np.ix_(lost, seen)] @ np.linalg.inv(covariances[c][np.ix_(seen, seen)])
            completed[i, seen] = row[seen]
            completed[i, lost] = means[c][lost] + regression @ (row[seen] - means[c][seen])
            extra[i][np.ix_(lost, lost)] = (
                covariances[c][np.ix_(lost, lost)] - regression @ covariances[c][np.ix_(seen, lost)]
            )
        count = share[:, c].sum()
        mean = share[:, c] @ completed / count
        away = completed - mean
        scatter = np.einsum("i,ij,ik->jk", share[:, c], away, away) + np.einsum("i,ijk->jk", share[:, c], extra)
        covariance = scatter / count
        new.append((count, mean, covariance))
    counts = np.array([count for count, _, _ in new])
    return counts / counts.sum(), np.array([mean for _, mean, _ in new]), np.array([own for _, _, own in new])


def penalty(covariance, scale, strength):
    """Log inverse-Wishart density up to its constant, less the same at its mode scale / strength."""
    d = len(scale)

    def bare(own):
        return -0.5 * (strength * np.linalg.slogdet(own)[1] + np.trace(scale @ np.linalg.inv(own)))

    return bare(covariance) - bare(scale / strength) if d else 0.0
