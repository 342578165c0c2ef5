import assert from "node:assert/strict";
import { test } from "node:test";
import { owner, other, refused, works } from "./calls.mjs";

test("a thread is created and read", async () => {
	const thread = await owner.threads.create({ metadata: { purpose: "first" } });
	assert.equal((await owner.threads.get(thread.thread_id)).metadata.purpose, "first");
	works("threads.create");
	works("threads.get");
	await refused("threads.get by another user", other.threads.get(thread.thread_id), 404);
});
