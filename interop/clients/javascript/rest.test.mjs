import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { owner, other, refused, works } from "./calls.mjs";
import { nobody } from "./helpers.mjs";

const { assistants } = owner;
const callers = [["", owner, 404], [" by another user", other, 404], [" without credentials", nobody, 401]];

test("assistants are searched and counted", async () => {
	const found = await assistants.search();
	assert.deepEqual(found.map((a) => [a.assistant_id, a.graph_id, a.name]), [["conformance", "conformance", "conformance"]]);
	works("assistants.search");
	for (const [option, key, hit, miss] of [
		["graph_id", "graphId", "conformance", "nobody"],
		["name", "name", "CONF", "nobody"],
		["metadata", "metadata", { created_by: "system" }, { created_by: "nobody" }],
	]) {
		assert.deepEqual(await assistants.search({ [key]: hit }), found);
		assert.deepEqual(await assistants.search({ [key]: miss }), []);
		works(`assistants.search (${option})`);
		assert.deepEqual([await assistants.count({ [key]: hit }), await assistants.count({ [key]: miss })], [1, 0]);
		works(`assistants.count (${option})`);
	}
	assert.equal(await assistants.count(), 1);
	works("assistants.count");
	assert.deepEqual(await assistants.search({ offset: 1 }), []);
	works("assistants.search (offset)");
	assert.deepEqual(await assistants.search({ sortBy: "name", sortOrder: "asc", limit: 1 }), found);
	works("assistants.search (sort_by, sort_order, limit)");
	assert.deepEqual(await assistants.search({ select: ["name"] }), [{ name: "conformance" }]);
	works("assistants.search (select)");
	assert.deepEqual(await assistants.search({ includePagination: true }), { assistants: found, next: null });
	works("assistants.search (response_format)");
	assert.deepEqual(await other.assistants.search(), found);
	works("assistants.search of another user");
	await refused("assistants.search without credentials", nobody.assistants.search(), 401);
	await refused("assistants.count without credentials", nobody.assistants.count(), 401);
});

test("an assistant is read", async () => {
	const [found] = await assistants.search();
	assert.deepEqual(await assistants.get(found.assistant_id), found);
	works("assistants.get");
	const graph = await assistants.getGraph("conformance", { xray: true });
	assert.deepEqual(graph.nodes.map((node) => node.id), ["__start__", "conformance", "__end__"]);
	assert.deepEqual(graph.edges[1], { source: "conformance", target: "__end__" });
	works("assistants.get_graph");
	const schemas = await assistants.getSchemas("conformance");
	assert.deepEqual([schemas.graph_id, Object.keys(schemas.input_schema.properties)], ["conformance", ["messages"]]);
	works("assistants.get_schemas");
	assert.deepEqual(await assistants.getSubgraphs("conformance"), {});
	works("assistants.get_subgraphs");
	for (const [name, method] of [["get", "get"], ["get_graph", "getGraph"], ["get_schemas", "getSchemas"], ["get_subgraphs", "getSubgraphs"]]) {
		await refused(`assistants.${name} (unknown assistant)`, assistants[method]("nobody"), 404);
		await refused(`assistants.${name} without credentials`, nobody.assistants[method]("conformance"), 401);
	}
});

test("assistants cannot be changed", async () => {
	await refused("assistants.create", assistants.create({ graphId: "conformance" }), 404);
	await refused("assistants.update", assistants.update("conformance", { name: "x" }), 405);
	await refused("assistants.delete", assistants.delete("conformance"), 405);
	await refused("assistants.get_versions", assistants.getVersions("conformance"), 404);
	await refused("assistants.set_latest", assistants.setLatest("conformance", 1), 404);
});

// The client has no method of its own for these two.
test("the server tells that it is up and what it supports", async () => {
	for (const each of [owner, nobody]) {
		assert.deepEqual(await each.threads.fetch("/ok"), { ok: true });
		assert.equal((await each.threads.fetch("/info")).flags.crons, false);
	}
	works("GET /ok, without credentials too");
	works("GET /info, without credentials too");
});

test("there is no store", async () => {
	for (const [who, { store }, status] of callers) {
		await refused(`store.put_item${who}`, store.putItem(["a"], "k", { x: 1 }), status);
		await refused(`store.get_item${who}`, store.getItem(["a"], "k"), status);
		await refused(`store.delete_item${who}`, store.deleteItem(["a"], "k"), status);
		await refused(`store.search_items${who}`, store.searchItems(["a"]), status);
		await refused(`store.list_namespaces${who}`, store.listNamespaces({ prefix: ["a"] }), status);
	}
});

test("there are no crons", async () => {
	const { thread_id: thread } = await owner.threads.create();
	const schedule = { schedule: "0 0 * * *", input: {} };
	for (const [who, { crons }, status] of callers) {
		await refused(`crons.create${who}`, crons.create("conformance", schedule), status);
		await refused(`crons.create_for_thread${who}`, crons.createForThread(thread, "conformance", schedule), status);
		await refused(`crons.search${who}`, crons.search(), status);
		await refused(`crons.count${who}`, crons.count(), status);
		await refused(`crons.update${who}`, crons.update(randomUUID(), { enabled: false }), status);
		await refused(`crons.delete${who}`, crons.delete(randomUUID()), status);
	}
});
