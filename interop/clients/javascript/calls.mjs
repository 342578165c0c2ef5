// What the tests of the JavaScript client share: clients for two users, and a note of each call with its result.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { Client } from "@langchain/langgraph-sdk";

const client = (token) =>
	new Client({ apiUrl: process.env.AGENT_URL, apiKey: null, defaultHeaders: { Authorization: `Bearer ${token}` }, callerOptions: { maxRetries: 0 } });

export const owner = client(process.env.AGENT_TOKEN);
export const other = client(process.env.OTHER_TOKEN);

const note = (call, result, detail = null) => appendFileSync(process.env.CALLS, JSON.stringify({ call, result, detail }) + "\n");

// works notes that a call works; the test has asserted it before.
export const works = (call) => note(call, "works");

// refused asserts that the server refuses a call with a status, notes the answer, and returns it.
export async function refused(call, promise, status) {
	const error = await promise.then(() => assert.fail(`${call} was not refused`), (e) => e);
	if (error instanceof assert.AssertionError) throw error;
	assert.equal(error.status ?? error.response?.status, status, `${call}: ${error}`);
	const detail = error.text ?? error.message;
	note(call, `refused with ${status}`, detail);
	return detail;
}
