"""The loopback receiver records its requests and sends scripted responses."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.fakes.receiver import LoopbackReceiver


@pytest.fixture
def receiver() -> Iterator[LoopbackReceiver]:
    with LoopbackReceiver() as running:
        yield running


def test_requests_are_recorded_unchanged(receiver: LoopbackReceiver) -> None:
    before = time.monotonic()

    response = httpx.post(f"{receiver.url}?a=1", content=b"\x00\xff", headers={"Webhook-Id": "m1"})

    (received,) = receiver.wait_for(1)
    assert response.status_code == 200
    assert (received.method, received.path) == ("POST", "/hook?a=1")
    assert received.body == b"\x00\xff"
    assert received.headers["webhook-id"] == "m1"
    assert before <= received.received_at <= time.monotonic()


def test_scripted_responses_are_used_in_order(receiver: LoopbackReceiver) -> None:
    receiver.answer(status=500, times=2)
    receiver.answer(status=429, headers={"Retry-After": "7"}, body=b"slow down")

    responses = [httpx.post(receiver.url) for _ in range(4)]

    assert [response.status_code for response in responses] == [500, 500, 429, 200]
    assert responses[2].headers["retry-after"] == "7"
    assert responses[2].content == b"slow down"
    assert [request.status for request in receiver.requests] == [500, 500, 429, 200]


def test_a_path_has_its_own_responses(receiver: LoopbackReceiver) -> None:
    receiver.answer(status=410, path="/gone")

    responses = [httpx.post(receiver.url), httpx.post(receiver.url_of("/gone"))]

    assert [response.status_code for response in responses] == [200, 410]


def test_a_reset_connection_is_an_error_for_the_sender(receiver: LoopbackReceiver) -> None:
    receiver.answer(reset=True)

    with pytest.raises(httpx.NetworkError):
        httpx.post(receiver.url, content=b"x")

    assert receiver.requests[0].status == 0


def test_a_delayed_response_exceeds_the_senders_timeout(receiver: LoopbackReceiver) -> None:
    receiver.answer(delay_seconds=5)

    with pytest.raises(httpx.ReadTimeout):
        httpx.post(receiver.url, timeout=httpx.Timeout(30, read=0.1))


def test_a_dripping_body_outlasts_a_read_timeout(receiver: LoopbackReceiver) -> None:
    receiver.answer(drip=True, drip_seconds=0.5, body=b"abcde")
    started = time.monotonic()

    response = httpx.post(receiver.url, timeout=2)

    assert response.content == b"abcde"
    assert time.monotonic() - started > 2


def test_an_endless_drip_does_not_delay_the_end_of_the_test(receiver: LoopbackReceiver) -> None:
    receiver.answer(drip=True)

    with httpx.stream("POST", receiver.url) as response:
        first = next(response.iter_raw())

    assert first == b"."


def test_redirects_and_huge_bodies_are_sent(receiver: LoopbackReceiver) -> None:
    receiver.answer(status=302, redirect_to=receiver.url_of("/elsewhere"))
    receiver.answer(body_bytes=3_000_000)

    redirect, huge = httpx.post(receiver.url), httpx.post(receiver.url)

    assert redirect.headers["location"] == receiver.url_of("/elsewhere")
    assert len(huge.content) == 3_000_000


def test_a_timeout_reports_the_number_of_requests(receiver: LoopbackReceiver) -> None:
    httpx.post(receiver.url)

    with pytest.raises(TimeoutError, match="1 of 2"):
        receiver.wait_for(2, timeout_seconds=0.05)

    receiver.assert_no_more(1, within_seconds=0.05)
