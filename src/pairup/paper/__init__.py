"""The paper's experiments, our results beside the published ones: `pairup paper run` and `pairup paper report`."""
