import uuid

from calls import Calls, client


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


def texts(state):
    return [message["content"] for message in state["values"]["messages"]]


class States(Calls):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.threads = self.owner.threads
        self.thread = (await self.threads.create())["thread_id"]

    async def run_of(self, text, **options):
        return (await self.owner.runs.create(self.thread, "conformance", input=said(text), **options))["run_id"]

    async def completed(self, text, **options):
        run = await self.run_of(text, **options)
        await self.owner.runs.join(self.thread, run)
        return run

    async def until(self, count):
        """Waits until the state has so many messages."""
        while len((await self.threads.get_state(self.thread))["values"].get("messages", [])) < count:
            pass

    async def test_get_state(self):
        empty = await self.threads.get_state(self.thread)
        self.assertEqual((empty["values"], empty["next"], empty["tasks"], empty["parent_checkpoint"]), ({}, [], [], None))
        run = await self.completed("hello")
        state = await self.threads.get_state(self.thread)
        self.assertEqual(texts(state), ["hello", "You said: hello"])
        self.assertEqual((state["next"], state["tasks"], state["interrupts"]), ([], [], []))
        self.assertEqual((state["checkpoint"]["thread_id"], state["checkpoint"]["checkpoint_ns"]), (self.thread, ""))
        self.assertEqual((state["metadata"]["run_id"], state["metadata"]["source"], state["metadata"]["step"]), (run, "loop", 1))
        self.assertRegex(state["created_at"], r"^20\d\d-")
        self.works("threads.get_state")
        self.assertEqual(await self.threads.get_state(self.thread, subgraphs=True), state)
        self.works("threads.get_state (subgraphs)")
        before = await self.threads.get_state(self.thread, checkpoint_id=state["parent_checkpoint"]["checkpoint_id"])
        self.assertEqual((texts(before), before["next"]), (["hello"], ["conformance"]))
        self.works("threads.get_state (checkpoint_id)")
        self.assertEqual(await self.threads.get_state(self.thread, state["parent_checkpoint"], subgraphs=True), before)
        self.works("threads.get_state (checkpoint)")
        await self.refused("threads.get_state (unknown checkpoint)", self.threads.get_state(self.thread, checkpoint_id=str(uuid.uuid4())), 404)
        await self.refused("threads.get_state (select)", self.threads.get_state(self.thread, select=["values"]), 422)
        for who, by, status in (("by another user", self.other, 404), ("without credentials", client("wrong"), 401)):
            await self.refused(f"threads.get_state {who}", by.threads.get_state(self.thread), status)
            await self.refused(f"threads.get_state (checkpoint) {who}", by.threads.get_state(self.thread, state["checkpoint"]), status)
            await self.refused(f"threads.get_state (checkpoint_id) {who}", by.threads.get_state(self.thread, checkpoint_id=state["checkpoint"]["checkpoint_id"]), status)

    async def test_the_state_tells_what_is_left_to_do(self):
        run = await self.run_of("x wait-after-write=600000")
        await self.until(2)
        state = await self.threads.get_state(self.thread)
        self.assertEqual(state["next"], ["conformance"])
        self.assertEqual([(t["id"], t["name"], t["error"]) for t in state["tasks"]], [(run, "conformance", None)])
        await self.refused("threads.update_state of a thread with a run in progress", self.threads.update_state(self.thread, said("a note")), 409)
        copied = (await self.threads.copy(self.thread))["thread_id"]
        self.assertEqual((await self.threads.get_state(copied))["values"], {})
        await self.completed("fail", multitask_strategy="rollback")
        state = await self.threads.get_state(self.thread)
        self.assertEqual(texts(state), ["fail"])
        self.assertIn("asked to", state["tasks"][0]["error"])
        self.works("threads.get_state (next and tasks)")

    async def test_update_state(self):
        run = await self.completed("hello")
        before = await self.threads.get_state(self.thread)
        made = await self.threads.update_state(self.thread, said("a note"))
        state = await self.threads.get_state(self.thread)
        self.assertEqual(texts(state), ["hello", "You said: hello", "a note"])
        self.assertEqual((state["metadata"]["source"], made["checkpoint"]), ("update", state["checkpoint"]))
        self.works("threads.update_state")
        await self.threads.update_state(self.thread, said("as the graph"), as_node="conformance")
        self.assertEqual((await self.threads.get_state(self.thread))["next"], [])
        self.works("threads.update_state (as_node)")
        state = await self.threads.get_state(self.thread)
        await self.threads.update_state(self.thread, said("at the newest"), checkpoint=state["checkpoint"])
        self.assertEqual(texts(await self.threads.get_state(self.thread))[-1], "at the newest")
        self.works("threads.update_state (newest checkpoint)")
        for call, options in {
            "(earlier checkpoint)": {"values": said("x"), "checkpoint": before["checkpoint"]},
            "(earlier checkpoint_id)": {"values": said("x"), "checkpoint_id": before["checkpoint"]["checkpoint_id"]},
            "(unknown as_node)": {"values": said("x"), "as_node": "nobody"},
            "(values: other than messages)": {"values": {"other": 1}},
            "(values: null)": {"values": None},
            "(id of another message)": {"values": {"messages": [{**before["values"]["messages"][0], "content": "changed"}]}},
        }.items():
            await self.refused(f"threads.update_state {call}", self.threads.update_state(self.thread, **options), 422)
        await self.refused("threads.update_state by another user", self.other.threads.update_state(self.thread, said("x")), 404)
        await self.refused("threads.update_state without credentials", client("wrong").threads.update_state(self.thread, said("x")), 401)
        await self.owner.runs.delete(self.thread, run)
        self.assertEqual(texts(await self.threads.get_state(self.thread)), ["a note", "as the graph", "at the newest"])
        self.works("threads.update_state stays when runs are deleted")

    async def test_get_history(self):
        self.assertEqual(await self.threads.get_history(self.thread), [])
        await self.threads.update_state(self.thread, said("a note"))
        await self.run_of("prior wait-after-write=600000")
        await self.until(3)
        run = await self.completed("next", multitask_strategy="rollback")
        history = await self.threads.get_history(self.thread)
        self.assertEqual([texts(state)[-1] for state in history], ["You said: next", "next", "a note"])
        self.assertEqual([state["metadata"]["source"] for state in history], ["loop", "input", "update"])
        self.assertEqual([state["parent_checkpoint"] for state in history], [history[1]["checkpoint"], history[2]["checkpoint"], None])
        self.works("threads.get_history")
        self.works("threads.get_history has nothing of a rolled back run")
        self.assertEqual(await self.threads.get_history(self.thread, limit=1), history[:1])
        self.works("threads.get_history (limit)")
        self.assertEqual(await self.threads.get_history(self.thread, before=history[0]["checkpoint"]), history[1:])
        self.assertEqual(await self.threads.get_history(self.thread, before=history[1]["checkpoint"]["checkpoint_id"]), history[2:])
        self.works("threads.get_history (before)")
        self.assertEqual(await self.threads.get_history(self.thread, metadata={"run_id": run}), history[:2])
        self.works("threads.get_history (metadata)")
        self.assertEqual(await self.threads.get_history(self.thread, checkpoint={"checkpoint_ns": ""}), history)
        self.works("threads.get_history (checkpoint)")
        await self.refused("threads.get_history (checkpoint_id)", self.threads.get_history(self.thread, checkpoint=history[0]["checkpoint"]), 422)
        await self.refused("threads.get_history (select)", self.threads.get_history(self.thread, select=["values"]), 422)
        await self.refused("threads.get_history by another user", self.other.threads.get_history(self.thread), 404)
        await self.refused("threads.get_history without credentials", client("wrong").threads.get_history(self.thread), 401)
