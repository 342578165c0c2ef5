// The conformance graph as a LangGraph graph in JavaScript.
//
// Its contract is https://github.com/agentconform/agentconform/blob/main/reference/graphs/CONTRACT.md
// Words in the last human message control it: wait=<ms>, wait-after-write=<ms>, whoami, tool, fail.
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

// Fields of the user whose names contain one of these are not returned.
const SECRETS = ["token", "secret", "password", "key"];

// Waits, then writes the early message. A node of its own: the state shows what a node wrote when the node ends.
async function begin(state, config) {
  const { text, words } = asked(state);
  await sleep(milliseconds(words, "wait="), undefined, { signal: config.signal });
  if (!words.some((word) => word.startsWith("wait-after-write="))) return {};
  return { messages: [new AIMessage("Working on it: " + text)] };
}

// Waits if there was an early message, then fails or answers.
async function answer(state, config) {
  const { text, words } = asked(state);
  await sleep(milliseconds(words, "wait-after-write="), undefined, { signal: config.signal });
  if (words.includes("fail")) throw new Error("the run fails because it was asked to");
  const out = [];
  let reply = "You said: " + text;
  if (words.includes("tool")) {
    const content = "looked up: " + text;
    out.push(new ToolMessage({ content, name: "lookup", tool_call_id: "lookup-1" }));
    reply += "\n" + content;
  }
  if (words.includes("whoami")) reply = whoami(config.configurable?.langgraph_auth_user);
  return { messages: [...out, new AIMessage(reply)] };
}

// The text of the last human message, and its words.
function asked(state) {
  const text = textOf(state.messages.findLast((message) => message.getType() === "human")?.content ?? "");
  return { text, words: text.split(/\s+/).filter(Boolean) };
}

// The text of a message: its content is a string, or a list of parts of which some have a text.
function textOf(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

function milliseconds(words, prefix) {
  const found = words.find((word) => word.startsWith(prefix) && /^[0-9]+$/.test(word.slice(prefix.length)));
  return found ? Number(found.slice(prefix.length)) : 0;
}

// The user object as JSON without secrets; null if there is none.
function whoami(user) {
  if (user == null) return "null";
  const isPublic = ([name]) => !SECRETS.some((secret) => name.toLowerCase().includes(secret));
  return JSON.stringify(Object.fromEntries(Object.entries(user).filter(isPublic)));
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("begin", begin)
  .addNode("answer", answer)
  .addEdge(START, "begin")
  .addEdge("begin", "answer")
  .addEdge("answer", END)
  .compile();
