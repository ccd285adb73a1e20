"""The names of methods and metrics, which the command line lists without importing what they stand for."""

METHODS = ("auto", "lsom", "ks-hsic", "ks-nocco", "ks-mi")
METRICS = ("auto", "euclidean", "cosine", "precomputed")
