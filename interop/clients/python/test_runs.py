import asyncio
import json

from calls import Calls

GRAPH = "conformance"
UNENDING = "wait=600000"
WRITES = "wait-after-write=600000"


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


def texts(values):
    return [message["content"] for message in values["messages"]]


class Runs(Calls):
    async def thread(self):
        return (await self.owner.threads.create())["thread_id"]

    async def until_written(self, thread, text="Working on it"):
        async def written():
            state = await self.owner.threads.get_state(thread)
            return any(text in content for content in texts({"messages": [], **state["values"]}))

        await self.until(written)

    async def until(self, condition):
        for _ in range(1000):
            if await condition():
                return
            await asyncio.sleep(0.01)
        self.fail("what was waited for did not happen")

    async def test_a_run_is_created_joined_read_and_listed(self):
        thread = await self.thread()
        seen = []
        run = await self.owner.runs.create(
            thread, GRAPH, input=said("hello"), metadata={"k": "v"}, config={"tags": ["t"], "configurable": {"thread_id": thread}},
            on_run_created=seen.append)
        self.assertEqual(run["status"], "pending")
        self.assertEqual(run["metadata"]["k"], "v")
        self.assertNotIn("kwargs", run)
        self.assertEqual(seen[0], {"run_id": run["run_id"], "thread_id": thread})
        self.works("runs.create")
        values = await self.owner.runs.join(thread, run["run_id"])
        self.assertEqual(texts(values), ["hello", "You said: hello"])
        self.works("runs.join")
        self.assertEqual((await self.owner.runs.get(thread, run["run_id"]))["status"], "success")
        self.works("runs.get")
        second = await self.owner.runs.create(thread, GRAPH, input=said("fail"))
        await self.owner.runs.join(thread, second["run_id"])
        self.assertEqual([r["run_id"] for r in await self.owner.runs.list(thread)], [second["run_id"], run["run_id"]])
        self.assertEqual([r["run_id"] for r in await self.owner.runs.list(thread, limit=1, offset=1)], [run["run_id"]])
        self.works("runs.list")
        self.assertEqual([r["run_id"] for r in await self.owner.runs.list(thread, status="error")], [second["run_id"]])
        self.works("runs.list [status]")
        self.assertEqual(await self.owner.runs.list(thread, limit=1, select=["run_id", "status"]), [{"run_id": second["run_id"], "status": "error"}])
        self.works("runs.list [select]")
        await self.owner.runs.delete(thread, run["run_id"])
        await self.refused("runs.get of a run that was deleted", self.owner.runs.get(thread, run["run_id"]), 404)
        self.works("runs.delete")

    async def test_a_run_is_waited_for(self):
        thread = await self.thread()
        self.assertEqual(texts(await self.owner.runs.wait(thread, GRAPH, input=said("one"))), ["one", "You said: one"])
        self.works("runs.wait")
        with self.assertRaisesRegex(Exception, "GraphError: .*asked to"):
            await self.owner.runs.wait(thread, GRAPH, input=said("fail"))
        failed = await self.owner.runs.wait(thread, GRAPH, input=said("fail"), raise_error=False)
        self.assertEqual(failed["__error__"]["error"], "GraphError")
        self.works("runs.wait [raise_error]")
        new = "11111111-1111-4111-8111-" + thread[-12:]
        values = await self.owner.runs.wait(new, GRAPH, input=said("made"), if_not_exists="create")
        self.assertEqual(texts(values), ["made", "You said: made"])
        self.works("runs.wait [if_not_exists]")

    async def test_the_user_of_a_run_is_the_servers(self):
        thread = await self.thread()
        context = {"model": "m", "nested": {"of": [1, None]}}
        values = await self.owner.runs.wait(thread, GRAPH, input=said("show-configurable"), context=context)
        self.assertEqual(json.loads(values["messages"][-1]["content"]), context)
        self.works("runs.wait [context]")
        values = await self.owner.runs.wait(thread, GRAPH, input=said("show-configurable"), config={"configurable": context})
        self.assertEqual(json.loads(values["messages"][-1]["content"]), context)
        self.works("runs.wait [config: configurable]")
        detail = await self.refused("runs.wait [context: the user]", self.owner.runs.wait(
            thread, GRAPH, input=said("whoami"), context={"graph_auth_user": {"identity": "other"}}), 422)
        self.assertIn("context.graph_auth_user", detail)
        await self.refused("runs.wait [config: the user]", self.owner.runs.wait(
            thread, GRAPH, input=said("whoami"), config={"configurable": {"graph_auth_user": {"identity": "other"}}}), 422)

    async def test_a_run_is_streamed(self):
        thread = await self.thread()
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("one wait-after-write=1"))]
        self.assertEqual([p.event for p in parts], ["metadata", "values", "values", "values"])
        self.assertEqual([len(p.data["messages"]) for p in parts[1:]], [1, 2, 3])
        self.works("runs.stream")
        run = parts[0].data["run_id"]
        self.assertEqual((await self.owner.runs.get(thread, run))["status"], "success")
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("two"), stream_mode=["values", "updates"])]
        self.assertEqual([p.event for p in parts], ["metadata", "values", "updates", "values"])
        self.assertEqual(texts(parts[2].data[GRAPH]), ["You said: two"])
        self.works("runs.stream [stream_mode values, updates]")
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("three"), stream_mode="messages")]
        self.assertEqual([p.event for p in parts], ["metadata", "messages/metadata", "messages/complete"])
        self.assertEqual(parts[2].data[0]["content"], "You said: three")
        self.works("runs.stream [stream_mode messages]")
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("four"), stream_mode="messages-tuple")]
        self.assertEqual([p.event for p in parts], ["metadata", "messages"])
        self.assertEqual(parts[1].data[0]["content"], "You said: four")
        self.assertEqual(parts[1].data[1]["thread_id"], thread)
        self.works("runs.stream [stream_mode messages-tuple]")
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("five"), version="v2")]
        self.assertEqual([p["type"] for p in parts], ["metadata", "values", "values"])
        self.works("runs.stream [version v2]")
        parts = [p async for p in self.owner.runs.stream(thread, GRAPH, input=said("fail"))]
        self.assertEqual(parts[-1].event, "error")
        self.assertEqual(parts[-1].data["error"], "GraphError")
        self.works("runs.stream of a run that fails")

    async def test_the_stream_of_a_run_is_joined(self):
        thread = await self.thread()
        run = (await self.owner.runs.create(thread, GRAPH, input=said("one wait-after-write=300")))["run_id"]
        await self.until_written(thread)
        parts = [p async for p in self.owner.runs.join_stream(thread, run, stream_mode=["values", "updates"])]
        self.assertEqual([p.event for p in parts], ["updates", "values"])
        self.works("runs.join_stream")
        self.assertEqual([p async for p in self.owner.runs.join_stream(thread, run)], [])
        parts = [p async for p in self.owner.runs.join_stream(thread, run, last_event_id="1")]
        self.assertEqual([len(p.data["messages"]) for p in parts], [2, 3])
        self.works("runs.join_stream [last_event_id]")

    async def test_runs_are_cancelled(self):
        thread = await self.thread()
        create = self.owner.runs.create
        run = (await create(thread, GRAPH, input=said(WRITES)))["run_id"]
        await self.until_written(thread)
        await self.owner.runs.cancel(thread, run)
        self.assertEqual((await self.owner.runs.get(thread, run))["status"], "interrupted")
        self.works("runs.cancel")
        run = (await create(thread, GRAPH, input=said(UNENDING)))["run_id"]
        await self.owner.runs.cancel(thread, run, wait=True)
        self.assertEqual((await self.owner.runs.get(thread, run))["status"], "interrupted")
        self.works("runs.cancel [wait]")
        run = (await create(thread, GRAPH, input=said("rolled " + WRITES)))["run_id"]
        await self.until_written(thread, "Working on it: rolled")
        await self.owner.runs.cancel(thread, run, wait=True, action="rollback")
        await self.refused("runs.get of a run that was rolled back", self.owner.runs.get(thread, run), 404)
        self.assertNotIn("rolled", str(await self.owner.threads.get_state(thread)))
        self.works("runs.cancel [action rollback]")
        await self.refused("runs.cancel of a run that was rolled back", self.owner.runs.cancel(thread, run), 404)
        run = (await create(thread, GRAPH, input=said("done")))["run_id"]
        values = await self.owner.runs.join(thread, run)
        for name, action in (("", "interrupt"), (" [action rollback]", "rollback")):
            detail = await self.refused(f"runs.cancel of a run that has ended{name}", self.owner.runs.cancel(thread, run, action=action), 404)
            self.assertIn("is not in progress", detail)
        self.assertEqual((await self.owner.runs.get(thread, run))["status"], "success")
        self.assertEqual((await self.owner.threads.get_state(thread))["values"], values)
        run = (await create(thread, GRAPH, input=said(UNENDING)))["run_id"]
        await self.refused("runs.cancel_many by another user", self.other.runs.cancel_many(thread_id=thread, run_ids=[run]), 404)
        await self.owner.runs.cancel_many(thread_id=thread, run_ids=[run])
        self.assertEqual((await self.owner.runs.get(thread, run))["status"], "interrupted")
        self.works("runs.cancel_many")

    async def test_a_run_ends_with_the_stream_that_it_was_made_for(self):
        thread = await self.thread()
        stream = self.owner.runs.stream(thread, GRAPH, input=said(WRITES), on_disconnect="cancel")
        run = (await anext(stream)).data["run_id"]
        await self.until_written(thread)
        await stream.aclose()

        async def interrupted():
            return (await self.owner.runs.get(thread, run))["status"] == "interrupted"

        await self.until(interrupted)
        self.works("runs.stream [on_disconnect cancel]")

    async def test_runs_without_a_thread(self):
        wait, stream, create = self.owner.runs.wait, self.owner.runs.stream, self.owner.runs.create
        self.assertEqual(texts(await wait(None, GRAPH, input=said("alone"))), ["alone", "You said: alone"])
        self.works("runs.wait without a thread")
        parts = [p async for p in stream(None, GRAPH, input=said("alone"))]
        self.assertEqual([p.event for p in parts], ["metadata", "values", "values"])
        self.works("runs.stream without a thread")
        run = await create(None, GRAPH, input=said("alone"), on_completion="keep")
        self.assertEqual(texts(await self.owner.runs.join(run["thread_id"], run["run_id"])), ["alone", "You said: alone"])
        self.works("runs.create without a thread [on_completion keep]")
        run = await create(None, GRAPH, input=said("alone " + UNENDING))
        await self.owner.runs.cancel(run["thread_id"], run["run_id"])

        async def deleted():
            return not await self.owner.threads.search(ids=[run["thread_id"]])

        await self.until(deleted)
        await self.refused("runs.get after a run without a thread", self.owner.runs.get(run["thread_id"], run["run_id"]), 404)
        self.works("runs.create without a thread")
        runs = await self.owner.runs.create_batch(
            [{"assistant_id": GRAPH, "input": said(text), "on_completion": "keep"} for text in ("a", "b")])
        self.assertEqual([texts(await self.owner.runs.join(r["thread_id"], r["run_id"]))[0] for r in runs], ["a", "b"])
        self.works("runs.create_batch")
        await self.refused("runs.create_batch [webhook]", self.owner.runs.create_batch(
            [{"assistant_id": GRAPH, "input": said("a"), "webhook": "https://example.org"}]), 422)

    async def test_the_strategies(self):
        for strategy in ("enqueue", "interrupt", "rollback", "reject"):
            thread = await self.thread()
            prior = "wait-after-write=200 prior" if strategy == "enqueue" else "prior " + WRITES
            events = []

            async def read():
                async for part in self.owner.runs.stream(thread, GRAPH, input=said(prior)):
                    events.append(part)

            reader = asyncio.create_task(read())
            await self.until_written(thread)
            run = events[0].data["run_id"]
            after = self.owner.runs.wait(thread, GRAPH, input=said("after"), multitask_strategy=strategy)
            if strategy == "reject":
                await self.refused("runs.wait [multitask_strategy reject] beside a run", after, 409)
                await self.refused("runs.stream [multitask_strategy reject] beside a run", anext(
                    self.owner.runs.stream(thread, GRAPH, input=said("after"), multitask_strategy=strategy)), 409)
                await self.owner.runs.cancel(thread, run)
            else:
                values = texts(await after)
                self.assertEqual(values[-1], "You said: after")
                self.assertEqual(len(values), {"enqueue": 5, "interrupt": 4, "rollback": 2}[strategy])
                self.works(f"runs.wait [multitask_strategy {strategy}]")
            await asyncio.wait_for(reader, 30)
            if strategy == "enqueue":
                self.assertEqual(texts(events[-1].data)[-1], "You said: " + prior)
            else:
                self.assertEqual(events[-1].data["error"], "UserRollback" if strategy == "rollback" else "UserInterrupt")

    async def test_what_is_refused(self):
        thread = await self.thread()
        create, stream = self.owner.runs.create, self.owner.runs.stream
        for options in (
            {"webhook": "https://example.org"}, {"after_seconds": 5}, {"interrupt_before": ["x"]}, {"interrupt_after": "*"},
            {"checkpoint": {"checkpoint_id": "x"}}, {"checkpoint_id": "x"}, {"command": {"resume": "x"}}, {"durability": "exit"},
            {"strict_resume": True}, {"on_completion": "delete"},
        ):
            name = next(iter(options))
            self.assertIn(name, await self.refused(f"runs.create [{name}]", create(thread, GRAPH, input=said("x"), **options), 422))
        await self.refused("runs.create without input", create(thread, GRAPH), 422)
        for mode in ("events", "debug", "custom", "tasks", "checkpoints"):
            detail = await self.refused(f"runs.stream [stream_mode {mode}]", anext(stream(thread, GRAPH, input=said("x"), stream_mode=mode)), 422)
            self.assertIn("stream_mode", detail)
        await self.refused("runs.stream [feedback_keys]", anext(stream(thread, GRAPH, input=said("x"), feedback_keys=["x"])), 422)
        self.assertEqual(await self.owner.runs.list(thread), [])

    async def test_another_user(self):
        thread = await self.thread()
        run = (await self.owner.runs.create(thread, GRAPH, input=said(UNENDING)))["run_id"]
        runs = self.other.runs
        for name, call in {
            "create": runs.create(thread, GRAPH, input=said("x")), "wait": runs.wait(thread, GRAPH, input=said("x")),
            "stream": anext(runs.stream(thread, GRAPH, input=said("x"))), "list": runs.list(thread), "get": runs.get(thread, run),
            "join": runs.join(thread, run), "join_stream": anext(runs.join_stream(thread, run)), "cancel": runs.cancel(thread, run),
            "delete": runs.delete(thread, run), "wait [if_not_exists]": runs.wait(thread, GRAPH, input=said("x"), if_not_exists="create"),
        }.items():
            await self.refused(f"runs.{name} by another user", call, 404)
        self.assertIn((await self.owner.runs.get(thread, run))["status"], ("pending", "running"))
        await self.owner.runs.cancel(thread, run)
