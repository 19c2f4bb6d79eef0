"""Learning to drive with Stable-Baselines3: PPO for a few minutes, and how the return rises. Needs tussock[train].

python examples/63_train.py 30000     steps to train for; without a number a few, to see that it works
"""

import sys

import numpy as np

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.monitor import Monitor
except ImportError:
    sys.exit(print("this example needs Stable-Baselines3: pip install 'tussock[train]'"))

import matplotlib.pyplot as plt

from tussock.gym import DriveEnv

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 256
env = Monitor(DriveEnv("yard", observation="ranges", distance=(5.0, 10.0), max_steps=120))


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


model = PPO("MultiInputPolicy", env, n_steps=256, batch_size=64, learning_rate=1e-3, gamma=0.97, seed=0, device="cpu")
episodes = 20 if steps > 5000 else 1
print(f"before: {judged(model, episodes)}")
begun = len(env.get_episode_rewards())
model.learn(steps)
sums, lengths = env.get_episode_rewards()[begun:], env.get_episode_lengths()[begun:]
print(f"after {steps} steps: {judged(model, episodes)}")

shown = max(1, len(sums) // 10)
for part in np.array_split(np.arange(len(sums)), min(6, len(sums))):
    print(f"  trained on up to step {np.cumsum(lengths)[part[-1]]}: mean return {np.mean(np.array(sums)[part]):.1f}")
if sums:
    _, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(np.cumsum(lengths), sums, ".", ms=3, color="0.6", label="an episode")
    smooth = np.convolve(sums, np.ones(shown) / shown, "valid")
    axes.plot(np.cumsum(lengths)[shown - 1 :], smooth, lw=2, label=f"mean of {shown}")
    axes.set(xlabel="steps", ylabel="return", title="PPO on Tussock/Drive-v0")
    axes.legend(loc="lower right")
    plt.savefig("learning.png", dpi=120)
    print("wrote learning.png")
