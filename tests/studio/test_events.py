"""Events: every page is told, and a slow one gets the latest."""

import asyncio

from pairup.studio.events import Bus, Listener


def test_a_slow_page_gets_the_latest_of_each_kind():
    async def run():
        listener = Listener()
        for n in range(5):
            listener.put("step", n)
        listener.put("job", "running")
        listener.put("step", 5)
        return await listener.get()

    assert asyncio.run(run()) == [("job", "running"), ("step", 5)]


def test_all_pages_of_a_project_are_told_and_no_others():
    async def collect(bus, project, seen):
        with bus.subscribe(project) as listener:
            async for event in listener.listen():
                seen.append(event)

    async def run():
        bus, one, two, other = Bus(), [], [], []
        bus.attach(asyncio.get_running_loop())
        tasks = [
            asyncio.create_task(collect(bus, project, seen)) for project, seen in (("a", one), ("a", two), ("b", other))
        ]
        await asyncio.sleep(0)
        await asyncio.to_thread(bus.publish, "a", "project", 1)
        while not (one and two):
            await asyncio.sleep(0)
        bus.close()
        await asyncio.wait_for(asyncio.gather(*tasks), 5)
        return one, two, other, bus._listeners

    one, two, other, left = asyncio.run(run())
    assert one == two == [("project", 1)]
    assert other == []
    assert not left


def test_nobody_listening_is_no_error():
    bus = Bus()
    bus.publish("a", "project", 1)
    bus.close()


def test_a_quiet_project_says_so_now_and_then(monkeypatch):
    monkeypatch.setattr("pairup.studio.events.QUIET", 0.01)

    async def run():
        with Bus().subscribe("a") as listener:
            stream = listener.listen()
            event = await anext(stream)
            await stream.aclose()
            return event

    assert asyncio.run(run()) == ("quiet", None)


def test_who_comes_when_the_studio_ends_is_sent_away():
    async def run():
        bus = Bus()
        bus.close()
        with bus.subscribe("a") as listener:
            return [event async for event in listener.listen()]

    assert asyncio.run(run()) == []


def test_nothing_is_missed_between_subscribing_and_listening():
    async def run():
        bus = Bus()
        bus.attach(asyncio.get_running_loop())
        with bus.subscribe("a") as listener:
            bus.publish("a", "job", "done")
            await asyncio.sleep(0)
            return await anext(listener.listen())

    assert asyncio.run(run()) == ("job", "done")
