"""Calls of the unmodified Python client against the reference: what the interface names, search, removal and cancellation."""

import os
import unittest

from langgraph_sdk import get_client

GRAPH = "conformance"


def client(token):
    return get_client(url=os.environ["AGENT_URL"], api_key=None, headers={"Authorization": f"Bearer {token}"})


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


class Client(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.owner, self.other = client(os.environ["AGENT_TOKEN"]), client(os.environ["OTHER_TOKEN"])
        self.thread = (await self.owner.threads.create(metadata={"purpose": "test"}))["thread_id"]

        self.addAsyncCleanup(self.owner.aclose)
        self.addAsyncCleanup(self.other.aclose)

    async def texts(self):
        return [m["content"] for m in (await self.owner.threads.get_state(self.thread))["values"]["messages"]]

    async def refused(self, call, status):
        with self.assertRaises(Exception) as caught:
            await call
        self.assertEqual(caught.exception.response.status_code, status)

    async def test_a_run_is_created_joined_and_read(self):
        runs = self.owner.runs
        run = (await runs.create(self.thread, GRAPH, input=said("hello")))["run_id"]
        self.assertEqual((await runs.join(self.thread, run))["messages"][-1]["content"], "You said: hello")
        self.assertEqual((await runs.get(self.thread, run))["run_id"], run)
        self.assertEqual([r["run_id"] for r in await runs.list(self.thread)], [run])
        self.assertEqual(await self.texts(), ["hello", "You said: hello"])

    async def test_a_run_is_rolled_back(self):
        runs = self.owner.runs
        prior = (await runs.create(self.thread, GRAPH, input=said("prior wait=600000")))["run_id"]
        after = (await runs.create(self.thread, GRAPH, input=said("next"), multitask_strategy="rollback"))["run_id"]
        await runs.join(self.thread, after)
        await self.refused(runs.get(self.thread, prior), 404)
        self.assertEqual(await self.texts(), ["next", "You said: next"])

    async def test_a_run_is_cancelled(self):
        run = (await self.owner.runs.create(self.thread, GRAPH, input=said("wait=600000")))["run_id"]
        await self.owner.runs.cancel(self.thread, run, wait=True)
        self.assertEqual((await self.owner.runs.get(self.thread, run))["status"], "interrupted")

    async def test_threads_are_their_owners(self):
        found = await self.owner.threads.search(metadata={"purpose": "test"}, limit=1)
        self.assertEqual([t["thread_id"] for t in found], [self.thread])
        self.assertNotIn(self.thread, [t["thread_id"] for t in await self.other.threads.search(limit=100)])
        await self.refused(self.other.threads.get_state(self.thread), 404)
        await self.refused(client("wrong").threads.search(), 401)
        await self.owner.threads.delete(self.thread)
        await self.refused(self.owner.threads.get_state(self.thread), 404)
