from calls import Calls


class System(Calls):
    async def test_a_thread_is_created_and_read(self):
        thread = await self.owner.threads.create(metadata={"purpose": "first"})
        self.assertEqual((await self.owner.threads.get(thread["thread_id"]))["metadata"]["purpose"], "first")
        self.works("threads.create")
        self.works("threads.get")
        await self.refused("threads.get by another user", self.other.threads.get(thread["thread_id"]), 404)
