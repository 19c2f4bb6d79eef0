"""Learning to drive with Stable-Baselines3: SAC for a few minutes, and how the return rises. Needs tussock[train].

python examples/63_train.py 4000     steps to train for; without a number a few, to see that it works
"""

import sys

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

try:
    from stable_baselines3 import SAC
    from stable_baselines3.common.monitor import Monitor
except ImportError:
    sys.exit(print("this example needs Stable-Baselines3: pip install 'tussock[train]'"))

import tussock

# A VLP-16 that turns twice a second and fires 72 times meanwhile: an action lasts half a second, and scans cost little.
slow = {"rotation_hz": 2.0, "rotation_hz_limits": [1.0, 20.0], "cycle_us": 6944.4}
sensor = tussock.load_sensor("vlp-16").with_(**{"beam.rays": 1, **{f"pattern.{key}": v for key, v in slow.items()}})


class Sectors(gymnasium.ObservationWrapper):
    """What is learned from: the goal, and the nearest thing in each of 24 sectors (a small network learns it quickly)."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(-4.0, 4.0, (5 + 24,), np.float32)

    def observation(self, observation):
        level = observation["ranges"][4:].min(0)  # without the four lowest rings, which see the ground nearby
        return np.concatenate([observation["goal"], [part.min() for part in np.array_split(level, 24)]]).astype("f4")


drive = gymnasium.make(
    "tussock.gym:Tussock/Drive-v0",
    scene="yard",
    sensor=sensor,
    observation="ranges",
    distance=(5.0, 12.0),
    max_steps=40,
)
env = Monitor(Sectors(drive))


def judged(model, episodes):
    """Returns of episodes that are never trained on, always the same ones, and how many of them reached the goal."""
    sums, there = [], 0
    for seed in range(1000, 1000 + episodes):
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            observation, reward, ended, cut, told = env.step(model.predict(observation, deterministic=True)[0])
            total, over = total + reward, ended or cut
        sums.append(total)
        there += told["success"]
    return f"mean return {np.mean(sums):.1f} of {episodes} episodes, {there} reached the goal"


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
begin, net = min(300, steps // 2), {"net_arch": [64, 64]}
model = SAC(
    "MlpPolicy", env, learning_rate=1e-3, gamma=0.95, batch_size=128, learning_starts=begin, policy_kwargs=net, seed=0,
    device="cpu",
)  # fmt: skip
episodes = 20 if steps > 1000 else 1
print(f"before: {judged(model, episodes)}")
begun = len(env.get_episode_rewards())
model.learn(steps)
sums, after = np.array(env.get_episode_rewards()[begun:]), np.cumsum(env.get_episode_lengths()[begun:])
print(f"after {after[-1]} steps: {judged(model, episodes)}")
for part in np.array_split(np.arange(len(sums)), min(8, len(sums))):
    print(f"  in training, up to step {after[part[-1]]}: mean return {sums[part].mean():.1f} of {len(part)} episodes")

mean = min(20, len(sums))
plt.figure(figsize=(7, 3.5), layout="constrained")
plt.plot(after, sums, ".", ms=3, color="0.6", label="an episode")
plt.plot(after[mean - 1 :], np.convolve(sums, np.ones(mean) / mean, "valid"), lw=2, label=f"mean of {mean}")
plt.xlabel("steps")
plt.ylabel("return")
plt.legend(loc="lower right")
plt.savefig("learning.png", dpi=120)
print("wrote learning.png")
