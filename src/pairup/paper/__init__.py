"""The paper's experiments, ours beside theirs: `pairup paper run …` and `pairup paper report`."""
