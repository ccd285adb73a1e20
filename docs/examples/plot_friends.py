"""
One club, two networks
======================

Who is friends with whom in a karate club of 34 members, known from two sources that use different names; the
second has lost one friendship in ten. The members are matched by the networks alone.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import pairup

club = nx.karate_club_graph()
rng = np.random.default_rng(1)
codes = dict(zip(club, rng.permutation(34) + 100, strict=True))
other = nx.relabel_nodes(club, codes)
edges = sorted(other.edges)
other.remove_edges_from(
    [edges[k] for k in rng.choice(len(edges), len(edges) // 10, replace=False)]
)

matching = pairup.match(club, other)
print(matching.report)

# %%
# ``names`` holds the nodes of both graphs in the order of the rows. Some members have the very same friends;
# nothing tells them apart, and their probability is low. The colours show it.

found = np.array([matching.names[1][j] for j in matching.indices])
right = found == [codes[node] for node in matching.names[0]]
print(
    f"{right.sum()} of 34 right; of the {np.sum(matching.confidence > 0.9)} "
    f"with a probability above 0.9, "
    f"{right[matching.confidence > 0.9].sum()}"
)

places = nx.spring_layout(club, seed=3)
back = {
    code: places[node] for node, code in zip(matching.names[0], found, strict=True)
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
nx.draw_networkx(
    club,
    places,
    ax=axes[0],
    node_color="#c98bb0",
    node_size=260,
    font_size=8,
    edge_color="0.8",
)
shades = [matching.confidence[list(found).index(code)] for code in other]
nx.draw_networkx(
    other,
    back,
    ax=axes[1],
    node_color=shades,
    cmap="viridis",
    vmin=0,
    vmax=1,
    node_size=260,
    font_size=7,
    font_color="white",
    edge_color="0.8",
)
axes[0].set_title("the club")
axes[1].set_title(
    "the other source, at the places of the partners found\n"
    "(yellow: sure, blue: not sure)"
)
for ax in axes:
    ax.axis("off")
figure.show()
