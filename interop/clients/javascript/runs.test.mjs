import assert from "node:assert/strict";
import { test } from "node:test";
import { owner, other, refused, works } from "./calls.mjs";

const graph = "conformance";
const unending = "wait=600000";
const writes = "wait-after-write=600000";
const said = (text) => ({ messages: [{ role: "user", content: text }] });
const texts = (values) => (values.messages ?? []).map((m) => m.content);
const newThread = async () => (await owner.threads.create()).thread_id;

async function all(stream) {
	const parts = [];
	for await (const part of stream) parts.push(part);
	return parts;
}

async function until(condition) {
	for (let i = 0; i < 1000; i++) {
		if (await condition()) return;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	assert.fail("what was waited for did not happen");
}

const untilWritten = (thread, text = "Working on it") =>
	until(async () => texts((await owner.threads.getState(thread)).values).some((t) => t.includes(text)));

test("a run is created, joined, read and listed", async () => {
	const thread = await newThread();
	let seen;
	const run = await owner.runs.create(thread, graph, {
		input: said("hello"), metadata: { k: "v" }, config: { tags: ["t"], configurable: { thread_id: thread } }, onRunCreated: (r) => (seen = r),
	});
	assert.equal(run.status, "pending");
	assert.equal(run.metadata.k, "v");
	assert.equal(run.kwargs, undefined);
	assert.equal(seen.run_id, run.run_id);
	works("runs.create");
	assert.deepEqual(texts(await owner.runs.join(thread, run.run_id)), ["hello", "You said: hello"]);
	works("runs.join");
	assert.equal((await owner.runs.get(thread, run.run_id)).status, "success");
	works("runs.get");
	const second = await owner.runs.create(thread, graph, { input: said("fail") });
	await owner.runs.join(thread, second.run_id);
	const ids = async (options) => (await owner.runs.list(thread, options)).map((r) => r.run_id);
	assert.deepEqual(await ids(), [second.run_id, run.run_id]);
	assert.deepEqual(await ids({ limit: 1, offset: 1 }), [run.run_id]);
	works("runs.list");
	assert.deepEqual(await ids({ status: "error" }), [second.run_id]);
	works("runs.list [status]");
	assert.deepEqual(await owner.runs.list(thread, { limit: 1, select: ["run_id", "status"] }), [{ run_id: second.run_id, status: "error" }]);
	works("runs.list [select]");
	await owner.runs.delete(thread, run.run_id);
	await refused("runs.get of a run that was deleted", owner.runs.get(thread, run.run_id), 404);
	works("runs.delete");
});

test("a run is waited for", async () => {
	const thread = await newThread();
	assert.deepEqual(texts(await owner.runs.wait(thread, graph, { input: said("one") })), ["one", "You said: one"]);
	works("runs.wait");
	await assert.rejects(owner.runs.wait(thread, graph, { input: said("fail") }), /GraphError: .*asked to/);
	const failed = await owner.runs.wait(thread, graph, { input: said("fail"), raiseError: false });
	assert.equal(failed.__error__.error, "GraphError");
	works("runs.wait [raise_error]");
	const created = "22222222-2222-4222-8222-" + thread.slice(-12);
	assert.deepEqual(texts(await owner.runs.wait(created, graph, { input: said("made"), ifNotExists: "create" })), ["made", "You said: made"]);
	works("runs.wait [if_not_exists]");
	const context = { model: "m", nested: { of: [1, null] } };
	const shown = async (options) => JSON.parse(texts(await owner.runs.wait(thread, graph, { input: said("show-configurable"), ...options })).at(-1));
	assert.deepEqual(await shown({ context }), context);
	works("runs.wait [context]");
	assert.deepEqual(await shown({ config: { configurable: context } }), context);
	works("runs.wait [config: configurable]");
	assert.match(await refused("runs.wait [context: the user]", owner.runs.wait(thread, graph, {
		input: said("whoami"), context: { graph_auth_user: { identity: "other" } },
	}), 422), /context\.graph_auth_user/);
	await refused("runs.wait [config: the user]", owner.runs.wait(thread, graph, {
		input: said("whoami"), config: { configurable: { graph_auth_user: { identity: "other" } } },
	}), 422);
});

test("a run is streamed", async () => {
	const thread = await newThread();
	const stream = (text, options) => all(owner.runs.stream(thread, graph, { input: said(text), ...options }));
	const names = (parts) => parts.map((p) => p.event);
	let parts = await stream("one wait-after-write=1");
	assert.deepEqual(names(parts), ["metadata", "values", "values", "values"]);
	assert.deepEqual(parts.slice(1).map((p) => p.data.messages.length), [1, 2, 3]);
	assert.equal((await owner.runs.get(thread, parts[0].data.run_id)).status, "success");
	works("runs.stream");
	parts = await stream("two", { streamMode: ["values", "updates"], streamSubgraphs: true, streamResumable: true });
	assert.deepEqual(names(parts), ["metadata", "values", "updates", "values"]);
	assert.deepEqual(texts(parts[2].data[graph]), ["You said: two"]);
	works("runs.stream [stream_mode values, updates]");
	parts = await stream("three", { streamMode: "messages" });
	assert.deepEqual(names(parts), ["metadata", "messages/metadata", "messages/complete"]);
	assert.equal(parts[2].data[0].content, "You said: three");
	works("runs.stream [stream_mode messages]");
	parts = await stream("four", { streamMode: "messages-tuple" });
	assert.deepEqual(names(parts), ["metadata", "messages"]);
	assert.equal(parts[1].data[0].content, "You said: four");
	assert.equal(parts[1].data[1].thread_id, thread);
	works("runs.stream [stream_mode messages-tuple]");
	parts = await stream("fail");
	assert.equal(parts.at(-1).event, "error");
	assert.equal(parts.at(-1).data.error, "GraphError");
	works("runs.stream of a run that fails");
});

test("the stream of a run is joined", async () => {
	const thread = await newThread();
	const run = (await owner.runs.create(thread, graph, { input: said("one wait-after-write=300") })).run_id;
	await untilWritten(thread);
	let parts = await all(owner.runs.joinStream(thread, run, { streamMode: ["values", "updates"] }));
	assert.deepEqual(parts.map((p) => p.event), ["updates", "values"]);
	works("runs.join_stream");
	assert.deepEqual(await all(owner.runs.joinStream(thread, run)), []);
	parts = await all(owner.runs.joinStream(thread, run, { lastEventId: "-1" }));
	assert.deepEqual(parts.map((p) => p.event), ["metadata", "values", "values", "values"]);
	works("runs.join_stream [last_event_id]");
	await refused("runs.join_stream without a thread", owner.runs.joinStream(null, run).next(), 404);
});

test("runs are cancelled", async () => {
	const thread = await newThread();
	const create = async (text) => (await owner.runs.create(thread, graph, { input: said(text) })).run_id;
	const status = async (run) => (await owner.runs.get(thread, run)).status;
	let run = await create(writes);
	await untilWritten(thread);
	await owner.runs.cancel(thread, run);
	assert.equal(await status(run), "interrupted");
	works("runs.cancel");
	run = await create(unending);
	await owner.runs.cancel(thread, run, true);
	assert.equal(await status(run), "interrupted");
	works("runs.cancel [wait]");
	run = await create("rolled " + writes);
	await untilWritten(thread, "Working on it: rolled");
	await owner.runs.cancel(thread, run, true, "rollback");
	await refused("runs.get of a run that was rolled back", owner.runs.get(thread, run), 404);
	assert.doesNotMatch(JSON.stringify(await owner.threads.getState(thread)), /rolled/);
	works("runs.cancel [action rollback]");
	await refused("runs.cancel of a run that was rolled back", owner.runs.cancel(thread, run), 404);
	run = await create("done");
	const values = await owner.runs.join(thread, run);
	for (const [name, action] of [["", "interrupt"], [" [action rollback]", "rollback"]])
		assert.match(await refused("runs.cancel of a run that has ended" + name, owner.runs.cancel(thread, run, false, action), 404), /is not in progress/);
	assert.equal(await status(run), "success");
	assert.deepEqual((await owner.threads.getState(thread)).values, values);
});

test("a run ends with the stream that it was made for", async () => {
	const thread = await newThread();
	const stop = new AbortController();
	const stream = owner.runs.stream(thread, graph, { input: said(writes), onDisconnect: "cancel", signal: stop.signal });
	const run = (await stream.next()).value.data.run_id;
	await untilWritten(thread);
	stop.abort();
	await stream.return();
	await until(async () => (await owner.runs.get(thread, run)).status === "interrupted");
	works("runs.stream [on_disconnect cancel]");
});

test("runs without a thread", async () => {
	assert.deepEqual(texts(await owner.runs.wait(null, graph, { input: said("alone") })), ["alone", "You said: alone"]);
	works("runs.wait without a thread");
	const parts = await all(owner.runs.stream(null, graph, { input: said("alone") }));
	assert.deepEqual(parts.map((p) => p.event), ["metadata", "values", "values"]);
	works("runs.stream without a thread");
	const run = await owner.runs.create(null, graph, { input: said("alone " + unending) });
	await owner.runs.cancel(run.thread_id, run.run_id);
	await until(async () => (await owner.threads.search({ ids: [run.thread_id] })).length === 0);
	await refused("runs.get after a run without a thread", owner.runs.get(run.thread_id, run.run_id), 404);
	works("runs.create without a thread");
	const runs = await owner.runs.createBatch(["a", "b"].map((text) => ({ assistantId: graph, input: said(text), on_completion: "keep" })));
	const first = await Promise.all(runs.map(async (r) => texts(await owner.runs.join(r.thread_id, r.run_id))[0]));
	assert.deepEqual(first, ["a", "b"]);
	works("runs.create_batch");
	await refused("runs.create_batch [webhook]", owner.runs.createBatch([{ assistantId: graph, input: said("a"), webhook: "https://example.org" }]), 422);
});

test("the strategies", async () => {
	for (const strategy of ["enqueue", "interrupt", "rollback", "reject"]) {
		const thread = await newThread();
		const prior = strategy === "enqueue" ? "wait-after-write=200 prior" : "prior " + writes;
		const reader = all(owner.runs.stream(thread, graph, { input: said(prior) }));
		await untilWritten(thread);
		const next = { input: said("after"), multitaskStrategy: strategy };
		if (strategy === "reject") {
			await refused("runs.wait [multitask_strategy reject] beside a run", owner.runs.wait(thread, graph, next), 409);
			await refused("runs.stream [multitask_strategy reject] beside a run", owner.runs.stream(thread, graph, next).next(), 409);
			const [run] = await owner.runs.list(thread, { status: "running" });
			await owner.runs.cancel(thread, run.run_id);
		} else {
			const values = texts(await owner.runs.wait(thread, graph, next));
			assert.equal(values.at(-1), "You said: after");
			assert.equal(values.length, { enqueue: 5, interrupt: 4, rollback: 2 }[strategy]);
			works(`runs.wait [multitask_strategy ${strategy}]`);
		}
		const last = (await reader).at(-1).data;
		if (strategy === "enqueue") assert.equal(texts(last).at(-1), "You said: " + prior);
		else assert.equal(last.error, strategy === "rollback" ? "UserRollback" : "UserInterrupt");
	}
});

test("what is refused", async () => {
	const thread = await newThread();
	const options = {
		webhook: ["webhook", "https://example.org"], after_seconds: ["afterSeconds", 5], interrupt_before: ["interruptBefore", ["x"]],
		interrupt_after: ["interruptAfter", "*"], checkpoint: ["checkpoint", { checkpoint_id: "x" }], checkpoint_id: ["checkpointId", "x"],
		command: ["command", { resume: "x" }], durability: ["durability", "exit"], checkpoint_during: ["checkpointDuring", false],
	};
	for (const [name, [key, value]] of Object.entries(options))
		assert.ok((await refused(`runs.create [${name}]`, owner.runs.create(thread, graph, { input: said("x"), [key]: value }), 422)).includes(name));
	await refused("runs.create without input", owner.runs.create(thread, graph, {}), 422);
	const stream = (more) => owner.runs.stream(thread, graph, { input: said("x"), ...more }).next();
	for (const mode of ["events", "debug", "custom", "tasks", "checkpoints"])
		assert.match(await refused(`runs.stream [stream_mode ${mode}]`, stream({ streamMode: mode }), 422), /stream_mode/);
	await refused("runs.stream [feedback_keys]", stream({ feedbackKeys: ["x"] }), 422);
	assert.deepEqual(await owner.runs.list(thread), []);
});

test("another user", async () => {
	const thread = await newThread();
	const run = (await owner.runs.create(thread, graph, { input: said(unending) })).run_id;
	const runs = other.runs;
	const input = { input: said("x") };
	for (const [name, call] of Object.entries({
		create: () => runs.create(thread, graph, input), wait: () => runs.wait(thread, graph, input), stream: () => runs.stream(thread, graph, input).next(),
		list: () => runs.list(thread), get: () => runs.get(thread, run), join: () => runs.join(thread, run), join_stream: () => runs.joinStream(thread, run).next(),
		cancel: () => runs.cancel(thread, run), delete: () => runs.delete(thread, run),
		"wait [if_not_exists]": () => runs.wait(thread, graph, { ...input, ifNotExists: "create" }),
	})) await refused(`runs.${name} by another user`, call(), 404);
	assert.ok(["pending", "running"].includes((await owner.runs.get(thread, run)).status));
	await owner.runs.cancel(thread, run);
});
