// Calls of the unmodified JavaScript client against the reference: what the interface names, search, removal and cancellation.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";

const graph = "conformance";
const client = (token) =>
	new Client({
		apiUrl: process.env.AGENT_URL, apiKey: null, defaultHeaders: { Authorization: `Bearer ${token}` },
		callerOptions: { maxRetries: 0 },
	});
const owner = client(process.env.AGENT_TOKEN);
const other = client(process.env.OTHER_TOKEN);
const said = (text) => ({ messages: [{ role: "user", content: text }] });
const newThread = async () => (await owner.threads.create({ metadata: { purpose: "test" } })).thread_id;
const start = async (thread, text, options) => (await owner.runs.create(thread, graph, { input: said(text), ...options })).run_id;
const texts = async (thread) => (await owner.threads.getState(thread)).values.messages.map((m) => m.content);
const refused = (call, status) => assert.rejects(call, (e) => (e.status ?? e.response?.status) === status);

test("a run is created, joined and read", async () => {
	const thread = await newThread();
	const run = await start(thread, "hello");
	assert.equal((await owner.runs.join(thread, run)).messages.at(-1).content, "You said: hello");
	assert.equal((await owner.runs.get(thread, run)).run_id, run);
	assert.deepEqual((await owner.runs.list(thread)).map((r) => r.run_id), [run]);
	assert.deepEqual(await texts(thread), ["hello", "You said: hello"]);
});

test("a run is rolled back", async () => {
	const thread = await newThread();
	const prior = await start(thread, "prior wait=600000");
	await owner.runs.join(thread, await start(thread, "next", { multitaskStrategy: "rollback" }));
	await refused(owner.runs.get(thread, prior), 404);
	assert.deepEqual(await texts(thread), ["next", "You said: next"]);
});

test("a run is cancelled", async () => {
	const thread = await newThread();
	const run = await start(thread, "wait=600000");
	await owner.runs.cancel(thread, run, true);
	assert.equal((await owner.runs.get(thread, run)).status, "interrupted");
});

test("threads are their owner's", async () => {
	const thread = await newThread();
	const found = await owner.threads.search({ metadata: { purpose: "test" }, limit: 1 });
	assert.deepEqual(found.map((t) => t.thread_id), [thread]);
	assert.ok(!(await other.threads.search({ limit: 100 })).some((t) => t.thread_id === thread));
	await refused(other.threads.getState(thread), 404);
	await refused(client("wrong").threads.search(), 401);
	await owner.threads.delete(thread);
	await refused(owner.threads.getState(thread), 404);
});
