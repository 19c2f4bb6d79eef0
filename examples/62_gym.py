"""Learning to drive: an environment of Gymnasium, here with actions drawn by chance. Needs tussock[gym]."""

import gymnasium

env = gymnasium.make("tussock.gym:Tussock/Drive-v0", scene="yard", observation="ranges")
observation, _ = env.reset(seed=1)
env.action_space.seed(1)
total = 0.0
for _ in range(50):
    observation, reward, ended, cut, told = env.step(env.action_space.sample())
    total += reward
    if ended or cut:
        break
print(f"reward {total:.1f}, {told['left_m']:.1f} m left; range image {observation['ranges'].shape}")
