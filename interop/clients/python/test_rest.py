import uuid

from calls import Calls, client


class Assistants(Calls):
    async def test_search_and_count(self):
        assistants = self.owner.assistants
        found = await assistants.search()
        self.assertEqual([(a["assistant_id"], a["graph_id"], a["name"]) for a in found], [("conformance",) * 3])
        self.works("assistants.search")
        for option, (hit, miss) in {
            "graph_id": ("conformance", "nobody"),
            "name": ("CONF", "nobody"),
            "metadata": ({"created_by": "system"}, {"created_by": "nobody"}),
        }.items():
            self.assertEqual(await assistants.search(**{option: hit}), found)
            self.assertEqual(await assistants.search(**{option: miss}), [])
            self.works(f"assistants.search ({option})")
            self.assertEqual((await assistants.count(**{option: hit}), await assistants.count(**{option: miss})), (1, 0))
            self.works(f"assistants.count ({option})")
        self.assertEqual(await assistants.count(), 1)
        self.works("assistants.count")
        self.assertEqual(await assistants.search(offset=1), [])
        self.works("assistants.search (offset)")
        self.assertEqual(await assistants.search(sort_by="name", sort_order="asc", limit=1), found)
        self.works("assistants.search (sort_by, sort_order, limit)")
        self.assertEqual(await assistants.search(select=["name"]), [{"name": "conformance"}])
        self.works("assistants.search (select)")
        self.assertEqual(await assistants.search(response_format="object"), {"assistants": found, "next": None})
        self.works("assistants.search (response_format)")
        self.assertEqual(await self.other.assistants.search(), found)
        self.works("assistants.search of another user")
        await self.refused("assistants.search without credentials", client("wrong").assistants.search(), 401)
        await self.refused("assistants.count without credentials", client("wrong").assistants.count(), 401)

    async def test_get(self):
        assistants = self.owner.assistants
        found = (await assistants.search())[0]
        self.assertEqual(await assistants.get(found["assistant_id"]), found)
        self.works("assistants.get")
        graph = await assistants.get_graph("conformance", xray=True)
        self.assertEqual([node["id"] for node in graph["nodes"]], ["__start__", "conformance", "__end__"])
        self.assertEqual(graph["edges"][1], {"source": "conformance", "target": "__end__"})
        self.works("assistants.get_graph")
        schemas = await assistants.get_schemas("conformance")
        self.assertEqual((schemas["graph_id"], list(schemas["input_schema"]["properties"])), ("conformance", ["messages"]))
        self.works("assistants.get_schemas")
        self.assertEqual(await assistants.get_subgraphs("conformance"), {})
        self.works("assistants.get_subgraphs")
        for name in ("get", "get_graph", "get_schemas", "get_subgraphs"):
            await self.refused(f"assistants.{name} (unknown assistant)", getattr(assistants, name)("nobody"), 404)
            await self.refused(f"assistants.{name} without credentials", getattr(client("wrong").assistants, name)("conformance"), 401)

    async def test_assistants_cannot_be_changed(self):
        assistants = self.owner.assistants
        await self.refused("assistants.create", assistants.create("conformance"), 404)
        await self.refused("assistants.update", assistants.update("conformance", name="x"), 405)
        await self.refused("assistants.delete", assistants.delete("conformance"), 405)
        await self.refused("assistants.get_versions", assistants.get_versions("conformance"), 404)
        await self.refused("assistants.set_latest", assistants.set_latest("conformance", 1), 404)


class Server(Calls):
    async def test_ok_and_info(self):
        for each in (self.owner, client("wrong")):
            self.assertEqual(await each.http.get("/ok"), {"ok": True})
            self.assertEqual((await each.http.get("/info"))["flags"]["crons"], False)
        self.works("GET /ok, without credentials too")
        self.works("GET /info, without credentials too")

    async def test_there_is_no_store(self):
        for who, by, status in (("", self.owner, 404), (" by another user", self.other, 404), (" without credentials", client("wrong"), 401)):
            store = by.store
            await self.refused(f"store.put_item{who}", store.put_item(["a"], key="k", value={"x": 1}), status)
            await self.refused(f"store.get_item{who}", store.get_item(["a"], key="k"), status)
            await self.refused(f"store.delete_item{who}", store.delete_item(["a"], key="k"), status)
            await self.refused(f"store.search_items{who}", store.search_items(["a"]), status)
            await self.refused(f"store.list_namespaces{who}", store.list_namespaces(["a"]), status)

    async def test_there_are_no_crons(self):
        thread = (await self.owner.threads.create())["thread_id"]
        for who, by, status in (("", self.owner, 404), (" by another user", self.other, 404), (" without credentials", client("wrong"), 401)):
            crons = by.crons
            await self.refused(f"crons.create{who}", crons.create("conformance", schedule="0 0 * * *", input={}), status)
            await self.refused(f"crons.create_for_thread{who}", crons.create_for_thread(thread, "conformance", schedule="0 0 * * *", input={}), status)
            await self.refused(f"crons.search{who}", crons.search(), status)
            await self.refused(f"crons.count{who}", crons.count(), status)
            await self.refused(f"crons.update{who}", crons.update(str(uuid.uuid4()), enabled=False), status)
            await self.refused(f"crons.delete{who}", crons.delete(str(uuid.uuid4())), status)
