import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { owner, other, refused, works } from "./calls.mjs";
import { nobody, said, texts } from "./helpers.mjs";

const { threads, runs } = owner;
const others = [["by another user", other, 404], ["without credentials", nobody, 401]];

const newThread = async () => (await threads.create()).thread_id;
const start = async (id, text, options) => (await runs.create(id, "conformance", { input: said(text), ...options })).run_id;

async function complete(id, text, options) {
	const run = await start(id, text, options);
	await runs.join(id, run);
	return run;
}

// until waits until the state has so many messages.
async function until(id, count) {
	while (((await threads.getState(id)).values.messages ?? []).length < count);
}

test("a state is read", async () => {
	const id = await newThread();
	const empty = await threads.getState(id);
	assert.deepEqual([empty.values, empty.next, empty.tasks, empty.parent_checkpoint], [{}, [], [], null]);
	const run = await complete(id, "hello");
	const state = await threads.getState(id);
	assert.deepEqual(texts(state), ["hello", "You said: hello"]);
	assert.deepEqual([state.next, state.tasks, state.interrupts], [[], [], []]);
	assert.deepEqual([state.checkpoint.thread_id, state.checkpoint.checkpoint_ns], [id, ""]);
	assert.deepEqual([state.metadata.run_id, state.metadata.source, state.metadata.step], [run, "loop", 1]);
	assert.match(state.created_at, /^20\d\d-/);
	works("threads.get_state");
	assert.deepEqual(await threads.getState(id, undefined, { subgraphs: true }), state);
	works("threads.get_state (subgraphs)");
	const before = await threads.getState(id, state.parent_checkpoint.checkpoint_id);
	assert.deepEqual([texts(before), before.next], [["hello"], ["conformance"]]);
	works("threads.get_state (checkpoint_id)");
	assert.deepEqual(await threads.getState(id, state.parent_checkpoint, { subgraphs: true }), before);
	works("threads.get_state (checkpoint)");
	await refused("threads.get_state (unknown checkpoint)", threads.getState(id, randomUUID()), 404);
	for (const [who, by, status] of others) {
		await refused(`threads.get_state ${who}`, by.threads.getState(id), status);
		await refused(`threads.get_state (checkpoint) ${who}`, by.threads.getState(id, state.checkpoint), status);
		await refused(`threads.get_state (checkpoint_id) ${who}`, by.threads.getState(id, state.checkpoint.checkpoint_id), status);
	}
	await refused("threads.patch_state", threads.patchState(id, { n: 1 }), 405);
});

test("a state tells what is left to do", async () => {
	const id = await newThread();
	const run = await start(id, "x wait-after-write=600000");
	await until(id, 2);
	let state = await threads.getState(id);
	assert.deepEqual(state.next, ["conformance"]);
	assert.deepEqual(state.tasks.map((t) => [t.id, t.name, t.error]), [[run, "conformance", null]]);
	await refused("threads.update_state of a thread with a run in progress", threads.updateState(id, { values: said("a note") }), 409);
	const copied = await threads.copy(id);
	assert.deepEqual((await threads.getState(copied.thread_id)).values, {});
	await complete(id, "fail", { multitaskStrategy: "rollback" });
	state = await threads.getState(id);
	assert.deepEqual(texts(state), ["fail"]);
	assert.match(state.tasks[0].error, /asked to/);
	works("threads.get_state (next and tasks)");
});

test("a state is updated", async () => {
	const id = await newThread();
	const run = await complete(id, "hello");
	const before = await threads.getState(id);
	const made = await threads.updateState(id, { values: said("a note") });
	let state = await threads.getState(id);
	assert.deepEqual(texts(state), ["hello", "You said: hello", "a note"]);
	assert.deepEqual([state.metadata.source, made.configurable], ["update", state.checkpoint]);
	works("threads.update_state");
	await threads.updateState(id, { values: said("as the graph"), asNode: "conformance" });
	state = await threads.getState(id);
	assert.deepEqual(state.next, []);
	works("threads.update_state (as_node)");
	await threads.updateState(id, { values: said("at the newest"), checkpoint: state.checkpoint });
	assert.equal(texts(await threads.getState(id)).at(-1), "at the newest");
	works("threads.update_state (newest checkpoint)");
	for (const [call, options] of Object.entries({
		"(earlier checkpoint)": { values: said("x"), checkpoint: before.checkpoint },
		"(earlier checkpoint_id)": { values: said("x"), checkpointId: before.checkpoint.checkpoint_id },
		"(unknown as_node)": { values: said("x"), asNode: "nobody" },
		"(values: other than messages)": { values: { other: 1 } },
		"(values: null)": { values: null },
		"(id of another message)": { values: { messages: [{ ...before.values.messages[0], content: "changed" }] } },
	})) {
		await refused(`threads.update_state ${call}`, threads.updateState(id, options), 422);
	}
	await refused("threads.update_state by another user", other.threads.updateState(id, { values: said("x") }), 404);
	await refused("threads.update_state without credentials", nobody.threads.updateState(id, { values: said("x") }), 401);
	await runs.delete(id, run);
	assert.deepEqual(texts(await threads.getState(id)), ["a note", "as the graph", "at the newest"]);
	works("threads.update_state stays when runs are deleted");
});

test("the history of a thread", async () => {
	const id = await newThread();
	assert.deepEqual(await threads.getHistory(id), []);
	await threads.updateState(id, { values: said("a note") });
	await start(id, "prior wait-after-write=600000");
	await until(id, 3);
	const run = await complete(id, "next", { multitaskStrategy: "rollback" });
	const history = await threads.getHistory(id);
	assert.deepEqual(history.map((state) => texts(state).at(-1)), ["You said: next", "next", "a note"]);
	assert.deepEqual(history.map((state) => state.metadata.source), ["loop", "input", "update"]);
	assert.deepEqual(history.map((state) => state.parent_checkpoint), [history[1].checkpoint, history[2].checkpoint, null]);
	works("threads.get_history");
	works("threads.get_history has nothing of a rolled back run");
	assert.deepEqual(await threads.getHistory(id, { limit: 1 }), history.slice(0, 1));
	works("threads.get_history (limit)");
	assert.deepEqual(await threads.getHistory(id, { before: { configurable: history[0].checkpoint } }), history.slice(1));
	works("threads.get_history (before)");
	assert.deepEqual(await threads.getHistory(id, { metadata: { run_id: run } }), history.slice(0, 2));
	works("threads.get_history (metadata)");
	assert.deepEqual(await threads.getHistory(id, { checkpoint: { checkpoint_ns: "" } }), history);
	works("threads.get_history (checkpoint)");
	await refused("threads.get_history (checkpoint_id)", threads.getHistory(id, { checkpoint: history[0].checkpoint }), 422);
	for (const [who, by, status] of others) await refused(`threads.get_history ${who}`, by.threads.getHistory(id), status);
});
