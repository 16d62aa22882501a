# Made by `npm run generate` from the module that awaits.
"""The client against a service: every object that it has, and what it makes of refusals."""

from __future__ import annotations

import io
import secrets
import unittest
import urllib.request
from datetime import timedelta
from decimal import Decimal

from coinrack import (
    Client,
    Sandbox,
    SandboxTask,
    Vps,
    CoinrackError,
    NeverError,
    wait_for_invoice,
)
from service import URL, customer


class TestOperations(unittest.TestCase):
    def test_default_from_registration_to_an_order(self) -> None:
        with Client(URL) as stranger:
            session = stranger.register_account(email=f"python-{secrets.token_hex(8)}@rackmail.net")
            self.assertEqual(session.token_expires_at.utcoffset(), timedelta(0))
        with Client(URL, customer()) as coinrack:
            self.assertEqual((coinrack.get_balance()).balance, Decimal("20.00"))
            plan = [plan for plan in coinrack.list_plans() if plan.available][0]
            order = coinrack.order_vps(
                product=plan.slug, os_id=plan.os_images[0].os_id, max_price=Decimal("20")
            )
            self.assertEqual((order.total, order.status), (plan.price, "provisioning"))
            self.assertEqual((coinrack.get_balance()).balance, Decimal("20.00") - plan.price)

    def test_behavior_a_list_goes_through_every_page(self) -> None:
        with Client(URL, customer()) as coinrack:
            for _ in range(3):
                coinrack.order_vps(product="nano", os_id=1, billing_cycle="hourly")
            listing = coinrack.list_orders(limit=2)
            page = listing.page()
            self.assertEqual(len(page.items), 2)
            self.assertIsInstance(page.next_cursor, str)
            ids = [order.id for order in listing]
            self.assertEqual((len(set(ids)), ids[:2]), (3, [order.id for order in page.items]))

    def test_behavior_a_key_of_ones_own_makes_a_write_run_once(self) -> None:
        with Client(URL, customer()) as coinrack:
            one, same = [
                coinrack.order_vps(product="nano", os_id=1, idempotency_key="one") for _ in range(2)
            ]
            self.assertEqual(one.id, same.id)
            self.assertEqual([order.id for order in coinrack.list_orders()], [one.id])

    def test_error_a_refusal_has_the_words_of_the_service(self) -> None:
        with Client(URL, customer()) as coinrack:
            with self.assertRaises(CoinrackError) as caught:
                coinrack.order_vps(product="none-such", os_id=1)
            error = caught.exception
            self.assertEqual((error.code, error.status), ("unknown_product", 422))
            self.assertEqual(error.next_steps[0].tool, "list_plans")
            self.assertIsInstance(error.request_id, str)
            self.assertIn(error.fix, str(error))

    def test_error_an_order_without_money_has_its_invoice(self) -> None:
        with Client(URL, customer("0.00")) as coinrack:
            with self.assertRaises(CoinrackError) as caught:
                Vps.order(coinrack, product="nano", os_id=1)
            self.assertEqual(caught.exception.code, "insufficient_balance")
            invoice_id = caught.exception.body["invoice"]["id"]
            seen: list[str] = []
            with self.assertRaises(TimeoutError):
                wait_for_invoice(
                    coinrack, invoice_id, timeout=1, on_change=lambda invoice: seen.append(invoice.status)
                )
            self.assertEqual(set(seen), {"unpaid"})
            coinrack.cancel_invoice(invoice_id=invoice_id)
            with self.assertRaises(NeverError):
                wait_for_invoice(coinrack, invoice_id)


class TestVps(unittest.TestCase):
    def test_default_a_vps_is_ordered_used_changed_and_cancelled(self) -> None:
        with Client(URL, customer()) as coinrack:
            vps = Vps.order(coinrack, product="nano", os_id=1, hostname="by-python")
            seen: list[str] = []
            ready = vps.wait_until_ready(timeout=60, on_change=lambda status: seen.append(status.status))
            self.assertIsInstance(ready.root_password, str)
            self.assertEqual(seen[-1], "active")
            self.assertEqual([each.id for each in Vps.list(coinrack)], [vps.id])

            access = vps.ssh()
            self.assertEqual((access.host, access.port, access.username), (ready.ip, ready.ssh_port, "root"))
            self.assertIn("ssh-ed25519", access.known_hosts[0])

            ran = vps.exec("cat", stdin="hello\n", timeout=10)
            self.assertEqual((ran.exit_code, ran.stdout), (0, "hello\n"))
            content = bytes(number * 7 % 251 for number in range(3_500_001))
            self.assertEqual(vps.files.write("/root/large.bin", content), len(content))
            self.assertEqual(vps.files.read("/root/large.bin"), content)
            vps.files.write("/root/a.txt", "grüße\n")
            self.assertEqual(vps.files.text("/root/a.txt"), "grüße\n")

            works: list[str] = []
            vps.reboot(on_change=lambda work: works.append(work.status))
            self.assertEqual(works[-1], "succeeded")
            vps.stop()
            self.assertEqual((vps.info()).status, "stopped")
            vps.cancel(mode="immediate", confirm="by-python")
            with self.assertRaises(NeverError):
                vps.wait_until_ready(timeout=60)


class TestSandbox(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(URL, customer("1.00"))
        self.sandbox = Sandbox.create(self.client, metadata={"by": "python"})

    def tearDown(self) -> None:
        self.sandbox.kill()
        self.client.close()

    def test_default_code_and_commands_are_heard_while_they_run(self) -> None:
        result = self.sandbox.run_code('print("hello")\n6 * 7', context="python")
        self.assertEqual((result.stdout, result.results[0].data["text/plain"]), ("hello\n", "42"))
        heard: list[str] = []
        errors: list[str] = []
        ran = self.sandbox.exec(
            "echo one; sleep 0.2; echo two; echo three >&2; exit 3",
            on_stdout=heard.append,
            on_stderr=errors.append,
        )
        self.assertEqual(heard, ["one\n", "two\n"])
        self.assertEqual(errors, ["three\n"])
        self.assertEqual((ran.exit_code, ran.stdout, ran.truncated), (3, "one\ntwo\n", False))
        self.assertEqual((self.sandbox.exec("cat", stdin="typed")).stdout, "typed")

    def test_default_a_task_is_typed_into_and_read_on(self) -> None:
        task = self.sandbox.start('read name; echo "hello $name"; read more')
        self.assertEqual([each.id for each in self.sandbox.tasks()], [task.id])
        task.write("Ada\n")
        read = task.read(timeout=20)
        self.assertEqual(read.stdout, "hello Ada\n")
        self.assertEqual((task.read(stdout=read.next.stdout)).from_.stdout, read.next.stdout)
        task.write("", end=True)
        ended = self.sandbox.task(task.id).wait()
        self.assertEqual((ended.stdout, ended.running), ("hello Ada\n", False))

    def test_default_a_command_has_a_terminal(self) -> None:
        started: list[SandboxTask] = []
        ran = self.sandbox.exec(
            'tty -s && echo terminal; read a; echo "got $a"; exit 3',
            terminal={"columns": 80, "rows": 24},
            stdin="go\n",
            on_start=started.append,
        )
        self.assertIn("got go", ran.stdout)
        self.assertEqual((ran.exit_code, len(started)), (3, 1))

    def test_default_files_are_written_read_streamed_and_removed(self) -> None:
        files = self.sandbox.files
        self.assertEqual(files.write("data/a.txt", "grüße\n"), 8)
        self.assertEqual(files.text("data/a.txt"), "grüße\n")
        large = bytes(range(256)) * 4096
        files.write("large", io.BytesIO(large))
        pieces = []
        with files.stream("large") as content:
            for piece in content:
                pieces.append(piece)
        self.assertEqual(b"".join(pieces), large)
        self.assertEqual([(each.path, each.size) for each in files.list("data")], [("/home/user/data/a.txt", 8)])
        link = files.link("download", "data/a.txt", 60)
        with urllib.request.urlopen(link) as answer:
            self.assertEqual(answer.read().decode(), "grüße\n")
        files.remove("data")
        with self.assertRaises(CoinrackError) as caught:
            files.read("data/a.txt")
        self.assertEqual((caught.exception.code, caught.exception.status), ("file_not_found", 404))

    def test_default_folders_are_made_moved_and_watched(self) -> None:
        files = self.sandbox.files
        self.assertEqual([files.make_folder("a/b"), files.make_folder("a/b")], [True, False])
        files.write("a/b/one.txt", "one")
        files.move("a/b/one.txt", "a/c/two.txt")
        self.assertEqual(files.text("a/c/two.txt"), "one")
        with files.watch("a", recursive=True) as changes:
            files.write("a/b/three.txt", "three")
            for change in changes:
                if change.path == "b/three.txt":
                    break
        with self.assertRaises(CoinrackError) as caught:
            with files.watch("none"):
                pass
        self.assertEqual(caught.exception.code, "file_not_found")

    def test_default_contexts_keep_what_code_defines(self) -> None:
        contexts = self.sandbox.contexts
        made = contexts.create("mine", cwd="/tmp")
        self.assertEqual((made.id, made.language, made.cwd), ("mine", "python", "/tmp"))
        self.sandbox.run_code("x = 1", context="mine")
        contexts.restart("mine")
        error = (self.sandbox.run_code("x", context="mine")).error
        self.assertEqual(error and error.name, "NameError")
        self.assertEqual([each.id for each in contexts.list()], ["bash", "mine", "node", "python"])
        contexts.remove("mine")
        self.assertEqual([each.id for each in contexts.list()], ["bash", "node", "python"])

    def test_default_results_are_told_when_they_are_shown(self) -> None:
        code = "import time\ndisplay(1)\ntime.sleep(0.5)\n2"
        heard: list[str] = []
        result = self.sandbox.run_code(code, on_result=lambda shown: heard.append(shown.data["text/plain"]))
        self.assertEqual((heard, len(result.results)), (["1", "2"], 2))
        task = self.sandbox.start_code(code)
        ended = task.wait(on_result=lambda shown: heard.append(shown.data["text/plain"]))
        self.assertEqual((heard, len(ended.results)), (["1", "2", "1", "2"], 2))

    def test_default_it_is_paused_forked_and_kept_as_a_template(self) -> None:
        self.sandbox.run_code("x = 1", context="python")
        self.assertEqual((self.sandbox.pause()).state, "paused")
        self.assertEqual((self.sandbox.resume(timeout=77)).timeout, 77)
        with self.sandbox.fork() as copy:
            copy.run_code("x = 2", context="python")
            ids = {each.id for each in Sandbox.list(self.client)}
            self.assertEqual(ids, {copy.id, self.sandbox.id})
        self.assertEqual((copy.info()).state, "ended")
        snapshot = self.sandbox.snapshot("one")
        with Sandbox.create(self.client, template=snapshot.id) as later:
            result = later.run_code("x", context="python")
            self.assertEqual(result.results[0].data["text/plain"], "1")

    def test_default_it_has_ports_rules_and_a_price(self) -> None:
        exposed = self.sandbox.expose(8000, "token")
        self.assertIsInstance(exposed.token, str)
        self.assertEqual([each.port for each in self.sandbox.ports()], [8000])
        self.sandbox.unexpose(8000)
        self.assertEqual([each.port for each in self.sandbox.ports()], [])
        self.assertIn("{port}", (self.sandbox.expose_all("token")).url or "")
        self.assertIsNone((self.sandbox.expose_all("none")).url)
        changed = self.sandbox.set_network(allow_internet=False, allow_out=["pypi.org"])
        self.assertEqual(changed.network.allow_out, ["pypi.org"])
        self.assertEqual((self.sandbox.set_timeout(600)).timeout, 600)
        info = self.sandbox.info()
        self.assertEqual((info.price_per_hour, info.metadata), (Decimal("0.0165"), {"by": "python"}))


if __name__ == "__main__":
    unittest.main()
