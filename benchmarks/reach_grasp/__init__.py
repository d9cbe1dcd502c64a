"""Policy from demonstrations: data set, network, rollouts through the gate."""
