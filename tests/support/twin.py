"""A live experiment on the rewards that the engine would draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truebest.experiment.experiment import Experiment
from truebest.kernels.random import GAUSSIAN, open_stream, reward

MOST = 1500


class Rewards:
    """The rewards that the engine would draw in run 0."""

    def __init__(
        self, means: list[float], seed: int, family: int = GAUSSIAN, noise: float | Sequence[float] = 1.0
    ) -> None:
        self.means, self.family = means, family
        self.noise = [float(one) for one in np.broadcast_to(noise, len(means))]
        self.streams = np.zeros((len(means), 2), np.uint64)
        for a in range(len(means)):
            open_stream(np.uint64(seed), np.uint64(0), np.uint64(a), self.streams[a])

    def draw(self, arm: int) -> float:
        return float(reward(self.family, self.means[arm], self.noise[arm], self.streams[arm]))


def drive(experiment: Experiment, rewards: Rewards, most: int = MOST, reopen: int = 0) -> list[int]:
    """Ask and tell one by one; returns the arms asked. `reopen`: a new process every so many pulls."""
    arms = experiment.settings.arms
    asked: list[int] = []
    while len(asked) < most and (pulls := experiment.ask()):
        arm = arms.index(pulls[0].arm)
        asked.append(arm)
        experiment.tell(pulls[0], rewards.draw(arm))
        if reopen and len(asked) % reopen == 0:
            experiment = Experiment.open(experiment._store, experiment.name)
    return asked
