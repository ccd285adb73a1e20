import pytest

from pairup.paper.protocol import ALBUMS, EXPERIMENTS, IMAGE_METHODS, REPORTED_VOICE_METHODS, SIZES, Task, plan
from pairup.voice.methods import METHODS


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_keys_are_unique_and_decide_the_task(experiment):
    tasks = plan(experiment, runs=3)
    assert len({task.key for task in tasks}) == len(tasks)
    assert all(Task(**task.to_dict()) == task for task in tasks)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_quick_plan_is_smaller_and_more_runs_only_add(experiment):
    few, more, quick = plan(experiment, runs=2), plan(experiment, runs=5), plan(experiment, runs=5, quick=True)
    assert set(few) <= set(more)
    assert len(quick) <= len(few)


def test_seeds_differ_between_draws_and_are_shared_by_methods_and_variants():
    tasks = plan("images", runs=3)
    draws = {(task.n, task.run) for task in tasks}
    assert len({task.seed for task in tasks}) == len(draws)
    assert Task("voice", "lsom", 50, 0, "shuffled").seed == Task("voice", "auto", 50, 0, "disjoint").seed


def test_seeds_are_those_of_the_published_report():
    assert Task("images", "LSOM", 40, 0).seed == 3968230749


def test_all_methods_and_sizes_of_the_paper_are_planned():
    tasks = [task for task in plan("images", runs=1) if not task.variant]
    assert {(task.method, task.n) for task in tasks} == {(method, n) for method in IMAGE_METHODS for n in SIZES}
    assert set(REPORTED_VOICE_METHODS) <= set(METHODS)
    assert {task.variant for task in plan("albums", runs=9)} == set(ALBUMS)
    assert sum(task.n == 320 for task in plan("images", runs=9)) == len(IMAGE_METHODS)  # there is one subset only


def test_unknown_experiments_are_refused():
    with pytest.raises(ValueError, match="experiment must be one of toy, images, voice, albums, got 'music'"):
        plan("music", runs=1)
