"""`Tussock/Drive-v0`: Gymnasium's own check, vector environments, and the same episodes for the same seed."""

import warnings

import numpy as np
import pytest
from small_drives import field

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'tussock[gym]'")

from tussock.drive.settings import DriveSettings  # noqa: E402
from tussock.drive.stage import Stage  # noqa: E402
from tussock.errors import InputError  # noqa: E402
from tussock.gym import DriveEnv  # noqa: E402


@pytest.fixture(scope="module")
def place():
    return Stage(field(), DriveSettings().vehicle)


def make(place, **options):
    return gymnasium.make("Tussock/Drive-v0", scene=place, max_steps=20, **options)


@pytest.mark.parametrize("kind", ["ranges", "map", "points"])
def test_gymnasium_finds_nothing_to_complain_of(place, kind):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not having a spec.*")
        check_env(DriveEnv(place, observation=kind, render_mode="rgb_array"))


def episode(env, seed, steps=12):
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    seen = [observation]
    rewards = []
    for _ in range(steps):
        observation, reward, ended, cut, _ = env.step(env.action_space.sample())
        seen.append(observation)
        rewards.append(reward)
        if ended or cut:
            break
    return seen, rewards


def test_the_same_seed_gives_the_same_episode(place):
    first, second = (episode(make(place, observation="map"), 5) for _ in range(2))
    assert first[1] == second[1]
    for a, b in zip(first[0], second[0], strict=True):
        for key in a:
            np.testing.assert_array_equal(a[key], b[key])
    assert episode(make(place, observation="map"), 6)[1] != first[1]


def test_it_works_in_vector_environments(place):
    envs = gymnasium.vector.SyncVectorEnv([lambda: make(place, observation="ranges") for _ in range(3)])
    observations, _ = envs.reset(seed=1)
    assert observations["goal"].shape == (3, 5)
    for _ in range(3):
        observations, rewards, *_ = envs.step(np.tile(np.float32([1.0, 0.0]), (3, 1)))
    assert rewards.shape == (3,)
    alone, _ = make(place, observation="ranges").reset(seed=2)
    np.testing.assert_array_equal(envs.reset(seed=1)[0]["ranges"][1], alone["ranges"])
    envs.close()


def test_driving_to_the_goal_is_rewarded_and_running_into_the_wall_is_not(place):
    env = DriveEnv(place, max_steps=200)
    env.reset(seed=0, options={"start": (-14.0, 5.0, 0.0), "goal": (-9.0, 5.0)})
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, cut, told = env.step(np.float32([1.0, 0.0]))
        total += reward
        assert not cut or ended
    assert told["success"]
    assert total > 20
    env.reset(seed=0, options={"start": (-4.0, 5.0, 0.0), "goal": (10.0, 5.0)})
    ended = False
    while not ended:
        _, reward, ended, _, told = env.step(np.float32([1.0, 0.0]))
    assert told["collision"]
    assert reward < -9


def test_mistakes(place):
    with pytest.raises(InputError, match="observation: must be ranges, map or points"):
        DriveEnv(place, observation="sonar")
    with pytest.raises(InputError, match="distance"):
        DriveEnv(place, distance=(5.0, 1.0))
    with pytest.raises(InputError, match="must be reset"):
        DriveEnv(place).step([0, 0])
