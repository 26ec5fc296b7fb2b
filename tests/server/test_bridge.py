import asyncio
import threading

from dragoman.engine import Event, TokensCommitted
from dragoman.server.bridge import EventBridge


def event(number: int) -> Event:
    return TokensCommitted((number,), (0.0,))


async def test_events_arrive_in_order_on_the_loop() -> None:
    bridge = EventBridge(asyncio.get_running_loop())
    got: list[tuple[int, Event]] = []
    done = asyncio.Event()

    def receive(index: int, event: Event) -> None:
        assert threading.current_thread() is threading.main_thread()
        got.append((index, event))
        if len(got) == 3000:
            done.set()

    first, second = bridge.callback(receive, 1), bridge.callback(receive, 2)

    def work() -> None:
        for number in range(1500):
            first(event(number))
            second(event(number))

    thread = threading.Thread(target=work)
    thread.start()
    await asyncio.wait_for(done.wait(), 30)
    thread.join()
    for index in (1, 2):
        assert [e for i, e in got if i == index] == [event(number) for number in range(1500)]


async def test_a_batch_of_events_wakes_the_loop_once() -> None:
    loop = asyncio.get_running_loop()
    wakes = []

    class Loop:
        def call_soon_threadsafe(self, callback: object) -> None:
            wakes.append(callback)
            loop.call_soon_threadsafe(callback)  # type: ignore[arg-type]

    bridge = EventBridge(Loop())  # type: ignore[arg-type]
    got: list[Event] = []
    post = bridge.callback(lambda _, e: got.append(e), 0)
    for number in range(10):
        post(event(number))
    await asyncio.sleep(0)
    assert len(got) == 10
    assert len(wakes) == 1
    post(event(10))
    await asyncio.sleep(0)
    assert len(got) == 11
    assert len(wakes) == 2


def test_events_after_the_end_are_dropped() -> None:
    loop = asyncio.new_event_loop()
    bridge = EventBridge(loop)
    bridge.close()
    loop.close()
    bridge.callback(lambda _, e: None, 0)(event(1))
