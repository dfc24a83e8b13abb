"""What is summed of groups is the same in every run."""

import numpy as np
import polars as pl

from analytics.metrics.sums import in_order


def test_a_mean_of_a_group_is_the_same_to_the_last_bit_in_whatever_order_its_values_come():
    values = np.random.default_rng(1).random(200)
    means = set()
    for seed in range(20):
        frame = pl.DataFrame({"group": 0, "value": np.random.default_rng(seed).permutation(values)})
        means |= {*frame.group_by("group").agg(in_order(pl.col("value")).mean())["value"]}
    assert len(means) == 1
