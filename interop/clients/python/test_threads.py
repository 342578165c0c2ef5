import uuid

from calls import Calls, client


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


class Threads(Calls):
    """Threads of their own for each test: all carry the same mark in their metadata."""

    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.mark = str(uuid.uuid4())

    async def thread(self, text=None, **options):
        options["metadata"] = {"mark": self.mark, **options.get("metadata", {})}
        thread_id = (await self.owner.threads.create(**options))["thread_id"]
        if text is not None:
            run = await self.owner.runs.create(thread_id, "conformance", input=said(text))
            await self.owner.runs.join(thread_id, run["run_id"])
        return thread_id

    async def found(self, **options):
        options["metadata"] = {"mark": self.mark, **options.get("metadata", {})}
        return [thread["thread_id"] for thread in await self.owner.threads.search(**options)]

    async def test_create(self):
        own = str(uuid.uuid4())
        made = await self.owner.threads.create(thread_id=own, metadata={"n": 1}, graph_id="conformance")
        self.assertEqual(made["thread_id"], own)
        self.works("threads.create (thread_id)")
        self.assertEqual((made["metadata"]["n"], made["metadata"]["graph_id"]), (1, "conformance"))
        self.assertEqual((made["status"], made["values"]), ("idle", {}))
        self.works("threads.create (metadata)")
        self.works("threads.create (graph_id)")
        again = await self.owner.threads.create(thread_id=own, if_exists="do_nothing")
        self.assertEqual(again["metadata"], made["metadata"])
        self.works("threads.create (if_exists: do_nothing)")
        await self.refused("threads.create (if_exists: raise)", self.owner.threads.create(thread_id=own, if_exists="raise"), 409)
        await self.refused("threads.create (thread_id of someone else)", self.other.threads.create(thread_id=own, if_exists="do_nothing"), 409)
        await self.refused("threads.create (ttl)", self.owner.threads.create(ttl=5), 422)
        steps = [{"updates": [{"values": said("hello"), "as_node": "conformance"}]}]
        await self.refused("threads.create (supersteps)", self.owner.threads.create(supersteps=steps), 422)
        await self.refused("threads.create without credentials", client("wrong").threads.create(), 401)

    async def test_get_update_and_delete(self):
        thread = await self.thread("hello", metadata={"n": 1})
        read = await self.owner.threads.get(thread)
        self.assertEqual([m["content"] for m in read["values"]["messages"]], ["hello", "You said: hello"])
        await self.refused("threads.get (include)", self.owner.threads.get(thread, include=["ttl"]), 422)

        changed = await self.owner.threads.update(thread, metadata={"m": 2})
        self.assertEqual((changed["metadata"]["n"], changed["metadata"]["m"]), (1, 2))
        self.works("threads.update")
        self.assertIsNone(await self.owner.threads.update(thread, metadata={"m": 3}, return_minimal=True))
        self.assertEqual((await self.owner.threads.get(thread))["metadata"]["m"], 3)
        self.works("threads.update (return_minimal)")
        await self.refused("threads.update (ttl)", self.owner.threads.update(thread, metadata={}, ttl=5), 422)
        await self.refused("threads.update by another user", self.other.threads.update(thread, metadata={"m": 4}), 404)

        await self.refused("threads.delete by another user", self.other.threads.delete(thread), 404)
        await self.owner.threads.delete(thread)
        await self.refused("threads.get after threads.delete", self.owner.threads.get(thread), 404)
        self.works("threads.delete")
        await self.refused("threads.prune", self.owner.threads.prune([str(uuid.uuid4())]), 404)

    async def test_search_by_what_threads_are(self):
        first = await self.thread("one fail", metadata={"deep": {"a": 1, "b": 2}})
        second = await self.thread("two", metadata={"deep": {"a": 2}})
        third = await self.thread()
        self.assertEqual(await self.found(), [third, second, first])
        self.works("threads.search")
        self.assertEqual(await self.found(metadata={"deep": {"a": 1}}), [first])
        self.works("threads.search (metadata)")
        self.assertEqual(await self.found(ids=[second, str(uuid.uuid4())]), [second])
        self.works("threads.search (ids)")
        self.assertEqual(await self.found(values={"messages": [{"type": "human", "content": "two"}]}), [second])
        self.works("threads.search (values)")
        self.assertEqual(await self.found(status="error"), [first])
        self.assertEqual(await self.found(status="busy"), [])
        self.works("threads.search (status)")
        await self.refused("threads.search (unknown status)", self.found(status="done"), 422)
        await self.refused("threads.search (extract)", self.found(extract={"last": "values.messages[-1]"}), 422)
        self.assertEqual(await self.other.threads.search(metadata={"mark": self.mark}), [])
        self.works("threads.search by another user finds nothing")

        self.assertEqual(await self.owner.threads.count(metadata={"mark": self.mark}), 3)
        self.works("threads.count")
        self.assertEqual(await self.owner.threads.count(metadata={"mark": self.mark, "deep": {"a": 2}}), 1)
        self.works("threads.count (metadata)")
        self.assertEqual(await self.owner.threads.count(metadata={"mark": self.mark}, status="idle"), 2)
        self.works("threads.count (status)")
        self.assertEqual(await self.owner.threads.count(metadata={"mark": self.mark}, values={"messages": [{"content": "two"}]}), 1)
        self.works("threads.count (values)")
        self.assertEqual(await self.other.threads.count(metadata={"mark": self.mark}), 0)
        self.works("threads.count by another user is 0")
        await self.refused("threads.search without credentials", client("wrong").threads.search(), 401)
        await self.refused("threads.count without credentials", client("wrong").threads.count(), 401)

    async def test_search_in_order_and_in_pages(self):
        first, second, third = await self.thread("one fail"), await self.thread("two"), await self.thread()
        await self.owner.threads.update(first, metadata={"changed": True})
        self.assertEqual(await self.found(limit=1), [third])
        self.works("threads.search (limit)")
        self.assertEqual(await self.found(limit=2, offset=1), [second, first])
        self.works("threads.search (offset)")
        for by, order in {
            "created_at": [first, second, third],
            "updated_at": [second, third, first],
            "thread_id": sorted([first, second, third]),
        }.items():
            self.assertEqual(await self.found(sort_by=by, sort_order="asc"), order)
            self.assertEqual(await self.found(sort_by=by, sort_order="desc"), order[::-1])
            self.works(f"threads.search (sort_by: {by})")
        self.assertEqual((await self.found(sort_by="status", sort_order="asc"))[0], first)
        self.works("threads.search (sort_by: status)")
        self.works("threads.search (sort_order)")
        await self.refused("threads.search (sort_by: state_updated_at)", self.found(sort_by="state_updated_at"), 422)
        selected = await self.owner.threads.search(metadata={"mark": self.mark}, select=["status"], limit=1)
        self.assertEqual(selected, [{"thread_id": third, "status": "idle"}])
        self.works("threads.search (select)")
        await self.refused("threads.search (select: context)", self.found(select=["context"]), 422)

    async def test_copy(self):
        thread = await self.thread("hello")
        copied = await self.owner.threads.copy(thread)
        self.assertNotEqual(copied["thread_id"], thread)
        self.assertEqual(copied["metadata"]["mark"], self.mark)
        await self.owner.threads.delete(thread)
        state = await self.owner.threads.get_state(copied["thread_id"])
        self.assertEqual([m["content"] for m in state["values"]["messages"]], ["hello", "You said: hello"])
        self.works("threads.copy")
        await self.refused("threads.copy by another user", self.other.threads.copy(copied["thread_id"]), 404)
        await self.refused("threads.copy without credentials", client("wrong").threads.copy(copied["thread_id"]), 401)
