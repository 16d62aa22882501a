"""What the client does when a service refuses for now, breaks off, or is none."""

from __future__ import annotations

import unittest
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from unittest.mock import patch

import httpx
from coinrack import AsyncClient, AsyncSandbox, CoinrackError, ConnectionError, Retry
from coinrack._async import edge

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]
SANDBOX = "sbx01kabcdefghjkmnpqrstvwxyz0"
URL = "https://vps.example.net"


class Broken(httpx.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        raise httpx.ReadError("the connection broke")


class TestRepetition(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.pauses: list[float] = []
        self.requests: list[httpx.Request] = []

        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)

        patched = patch.object(edge, "sleep", sleep)
        patched.start()
        self.addCleanup(patched.stop)

    def client(self, *answers: Answer, retry: Retry = Retry()) -> AsyncClient:
        left = list(answers)

        def answer(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            each = left.pop(0)
            if isinstance(each, Exception):
                raise each
            return each if isinstance(each, httpx.Response) else each(request)

        http = edge.HttpClient(transport=httpx.MockTransport(answer))
        return AsyncClient(URL, "crk_x", retry=retry, http=http)

    async def test_behavior_a_refusal_for_now_is_repeated_when_the_service_says(self) -> None:
        client = self.client(
            httpx.Response(429, headers={"retry-after": "7"}),
            httpx.Response(503, json={"code": "overloaded", "retry_after": 3}),
            httpx.Response(200, json={"ticket_id": "tkt_1"}),
        )
        with self.assertRaises(CoinrackError) as caught:
            await client.create_ticket(subject="a", body="b")
        # What came at last is no ticket.
        self.assertEqual(caught.exception.code, "unexpected_answer")
        self.assertEqual(self.pauses, [7.0, 3.0])

    async def test_behavior_a_write_whose_answer_was_lost_is_sent_again_with_its_key(self) -> None:
        client = self.client(httpx.ReadError("broken"), httpx.Response(502), httpx.Response(401, json={}))
        with self.assertRaises(CoinrackError):
            await client.order_vps(product="nano", os_id=1)
        keys = {request.headers["idempotency-key"] for request in self.requests}
        self.assertEqual((len(self.requests), len(keys)), (3, 1))
        self.assertTrue(0.125 <= self.pauses[0] <= 0.25 and 0.25 <= self.pauses[1] <= 0.5)

    async def test_behavior_a_public_write_has_no_key_and_is_not_repeated(self) -> None:
        client = self.client(httpx.ReadError("broken"))
        with self.assertRaises(ConnectionError) as caught:
            await client.register_account(email="a@rackmail.net")
        self.assertNotIn("idempotency-key", self.requests[0].headers)
        self.assertNotIn("authorization", self.requests[0].headers)
        self.assertIn("/auth/register", str(caught.exception))

    async def test_behavior_told_to_wait_too_long_it_fails(self) -> None:
        client = self.client(httpx.Response(503, json={"code": "capacity", "retry_after": 3600}))
        with self.assertRaises(CoinrackError) as caught:
            await client.get_balance()
        self.assertEqual((caught.exception.code, caught.exception.retry_after), ("capacity", 3600.0))
        self.assertEqual(self.pauses, [])

    async def test_error_after_the_last_attempt_there_is_no_answer(self) -> None:
        client = self.client(*[httpx.ConnectError("refused")] * 3, retry=Retry(attempts=3))
        with self.assertRaises(OSError):
            await client.get_balance()
        self.assertEqual(len(self.requests), 3)

    async def test_error_what_another_service_answers_is_unexpected(self) -> None:
        for answer in (httpx.Response(200, text="<html>"), httpx.Response(200, json=[1]), httpx.Response(404)):
            with self.assertRaises(CoinrackError) as caught:
                await self.client(answer).get_balance()
            self.assertEqual(caught.exception.code, "unexpected_answer")

    async def test_behavior_inputs_stand_where_the_contract_says(self) -> None:
        client = self.client(httpx.Response(200, json={"deleted": "a"}), httpx.Response(200, json=[]))
        await client.delete_file(sandbox_id=SANDBOX, path="a b/ü")
        await client.list_invoices(limit=2, status="unpaid").page()
        first, second = self.requests
        self.assertEqual(
            str(first.url), f"{URL}/api/v1/eqvps/sandboxes/{SANDBOX}/files?path=a+b%2F%C3%BC"
        )
        self.assertEqual(second.url.query, b"limit=2&status=unpaid")

    async def test_behavior_money_is_sent_as_it_is_written(self) -> None:
        client = self.client(httpx.Response(422, json={}))
        with self.assertRaises(CoinrackError):
            await client.topup_balance(amount=Decimal("12.50"))
        self.assertEqual(self.requests[0].content, b'{"amount": "12.50"}')

    async def test_behavior_a_reader_of_a_task_reads_on_after_a_broken_connection(self) -> None:
        end = b'event: end\ndata: {"task_id": "tsk_1", "running": false, "stdout": "", "stderr": "", "exit_code": 0,'
        end += b' "from": {"stdout": 0, "stderr": 0}, "next": {"stdout": 4, "stderr": 0}, "signal": null,'
        end += b' "timed_out": false, "duration_ms": 5, "results": [], "error": null}\n\n'
        first = b'event: stdout\ndata: {"text": "1\\n", "next": {"stdout": 2, "stderr": 0}}\n\n'
        second = b'event: stdout\ndata: {"text": "2\\n", "next": {"stdout": 4, "stderr": 0}}\n\n'
        client = self.client(
            httpx.Response(200, stream=Broken(first)),
            httpx.Response(200, content=second[:20] + second[20:] + end),
        )
        heard: list[str] = []
        ended = await AsyncSandbox.connect(client, SANDBOX).task("tsk_1").wait(on_stdout=heard.append)
        self.assertEqual((ended.stdout, heard, ended.exit_code), ("1\n2\n", ["1\n", "2\n"], 0))
        self.assertEqual(self.requests[1].url.query, b"stdout=2&stderr=0&results=0")

    async def test_error_a_stream_of_work_that_breaks_off_is_not_repeated(self) -> None:
        for stream in (Broken(b"event: stdout\n"), Broken()):
            client = self.client(httpx.Response(200, stream=stream))
            with self.assertRaises(ConnectionError):
                await AsyncSandbox.connect(client, SANDBOX).exec("make")

    async def test_error_a_stream_may_end_with_a_refusal(self) -> None:
        text = 'event: error\ndata: {"code": "sandbox_unreachable", "message": "It is gone"}\n\n'
        with self.assertRaises(CoinrackError) as caught:
            await AsyncSandbox.connect(self.client(httpx.Response(200, text=text)), SANDBOX).exec("make")
        self.assertEqual((caught.exception.code, caught.exception.status), ("sandbox_unreachable", 0))


if __name__ == "__main__":
    unittest.main()
