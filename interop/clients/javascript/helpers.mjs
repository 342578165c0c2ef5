// What several tests of the JavaScript client need beside the calls.
import { Client } from "@langchain/langgraph-sdk";

// nobody has credentials that no server knows.
export const nobody = new Client({
	apiUrl: process.env.AGENT_URL, apiKey: null, defaultHeaders: { Authorization: "Bearer wrong" }, callerOptions: { maxRetries: 0 },
});

export const said = (text) => ({ messages: [{ role: "user", content: text }] });

export const texts = ({ values }) => values.messages.map((message) => message.content);
