import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { owner, other, refused, works } from "./calls.mjs";
import { nobody, said, texts } from "./helpers.mjs";

// marked gives a test threads of its own: all carry the same mark in their metadata.
function marked() {
	const mark = randomUUID();
	const thread = async (text, metadata) => {
		const { thread_id: id } = await owner.threads.create({ metadata: { mark, ...metadata } });
		if (text) await owner.runs.join(id, (await owner.runs.create(id, "conformance", { input: said(text) })).run_id);
		return id;
	};
	const found = async (query) =>
		(await owner.threads.search({ ...query, metadata: { mark, ...query?.metadata } })).map((t) => t.thread_id);
	return { mark, thread, found };
}

test("threads are created", async () => {
	const threadId = randomUUID();
	const made = await owner.threads.create({ threadId, metadata: { n: 1 }, graphId: "conformance" });
	assert.equal(made.thread_id, threadId);
	works("threads.create (thread_id)");
	assert.deepEqual([made.metadata.n, made.metadata.graph_id, made.status, made.values], [1, "conformance", "idle", {}]);
	works("threads.create (metadata)");
	works("threads.create (graph_id)");
	assert.deepEqual((await owner.threads.create({ threadId, ifExists: "do_nothing" })).metadata, made.metadata);
	works("threads.create (if_exists: do_nothing)");
	await refused("threads.create (if_exists: raise)", owner.threads.create({ threadId, ifExists: "raise" }), 409);
	await refused("threads.create (thread_id of someone else)", other.threads.create({ threadId, ifExists: "do_nothing" }), 409);
	await refused("threads.create (ttl)", owner.threads.create({ ttl: 5 }), 422);
	const supersteps = [{ updates: [{ values: said("hello"), asNode: "conformance" }] }];
	await refused("threads.create (supersteps)", owner.threads.create({ supersteps }), 422);
	await refused("threads.create without credentials", nobody.threads.create(), 401);
});

test("threads are read, updated and deleted", async () => {
	const id = await marked().thread("hello", { n: 1 });
	assert.deepEqual(texts(await owner.threads.get(id)), ["hello", "You said: hello"]);
	const changed = await owner.threads.update(id, { metadata: { m: 2 } });
	assert.deepEqual([changed.metadata.n, changed.metadata.m], [1, 2]);
	works("threads.update");
	await refused("threads.update (ttl)", owner.threads.update(id, { metadata: {}, ttl: 5 }), 422);
	await refused("threads.update by another user", other.threads.update(id, { metadata: { m: 4 } }), 404);
	await refused("threads.delete by another user", other.threads.delete(id), 404);
	await owner.threads.delete(id);
	await refused("threads.get after threads.delete", owner.threads.get(id), 404);
	works("threads.delete");
});

test("threads are searched by what they are", async () => {
	const { mark, thread, found } = marked();
	const first = await thread("one fail", { deep: { a: 1, b: 2 } });
	const second = await thread("two", { deep: { a: 2 } });
	const third = await thread();
	assert.deepEqual(await found(), [third, second, first]);
	works("threads.search");
	assert.deepEqual(await found({ metadata: { deep: { a: 1 } } }), [first]);
	works("threads.search (metadata)");
	assert.deepEqual(await found({ ids: [second, randomUUID()] }), [second]);
	assert.deepEqual(await found({ ids: [] }), []);
	works("threads.search (ids)");
	assert.deepEqual(await found({ values: { messages: [{ type: "human", content: "two" }] } }), [second]);
	works("threads.search (values)");
	assert.deepEqual(await found({ status: "error" }), [first]);
	assert.deepEqual(await found({ status: "busy" }), []);
	works("threads.search (status)");
	await refused("threads.search (unknown status)", found({ status: "done" }), 422);
	assert.deepEqual(await other.threads.search({ metadata: { mark } }), []);
	works("threads.search by another user finds nothing");

	assert.equal(await owner.threads.count({ metadata: { mark } }), 3);
	works("threads.count");
	assert.equal(await owner.threads.count({ metadata: { mark, deep: { a: 2 } } }), 1);
	works("threads.count (metadata)");
	assert.equal(await owner.threads.count({ metadata: { mark }, status: "idle" }), 2);
	works("threads.count (status)");
	assert.equal(await owner.threads.count({ metadata: { mark }, values: { messages: [{ content: "two" }] } }), 1);
	works("threads.count (values)");
	assert.equal(await other.threads.count({ metadata: { mark } }), 0);
	works("threads.count by another user is 0");
	await refused("threads.search without credentials", nobody.threads.search(), 401);
	await refused("threads.count without credentials", nobody.threads.count(), 401);
});

test("threads are searched in order and in pages", async () => {
	const { mark, thread, found } = marked();
	const [first, second, third] = [await thread("one fail"), await thread("two"), await thread()];
	await owner.threads.update(first, { metadata: { changed: true } });
	assert.deepEqual(await found({ limit: 1 }), [third]);
	works("threads.search (limit)");
	assert.deepEqual(await found({ limit: 2, offset: 1 }), [second, first]);
	works("threads.search (offset)");
	const orders = { created_at: [first, second, third], updated_at: [second, third, first], thread_id: [first, second, third].sort() };
	for (const [sortBy, order] of Object.entries(orders)) {
		assert.deepEqual(await found({ sortBy, sortOrder: "asc" }), order);
		assert.deepEqual(await found({ sortBy, sortOrder: "desc" }), order.toReversed());
		works(`threads.search (sort_by: ${sortBy})`);
	}
	assert.equal((await found({ sortBy: "status", sortOrder: "asc" }))[0], first);
	works("threads.search (sort_by: status)");
	works("threads.search (sort_order)");
	await refused("threads.search (sort_by: state_updated_at)", found({ sortBy: "state_updated_at" }), 422);
	assert.deepEqual(await owner.threads.search({ metadata: { mark }, select: ["status"], limit: 1 }), [{ thread_id: third, status: "idle" }]);
	works("threads.search (select)");
	await refused("threads.search (select: context)", found({ select: ["context"] }), 422);
});

test("a copy of a thread has its metadata and its state", async () => {
	const { mark, thread } = marked();
	const id = await thread("hello");
	const copied = await owner.threads.copy(id);
	assert.notEqual(copied.thread_id, id);
	assert.equal(copied.metadata.mark, mark);
	await owner.threads.delete(id);
	assert.deepEqual(texts(await owner.threads.getState(copied.thread_id)), ["hello", "You said: hello"]);
	works("threads.copy");
	await refused("threads.copy by another user", other.threads.copy(copied.thread_id), 404);
	await refused("threads.copy without credentials", nobody.threads.copy(copied.thread_id), 401);
});
