"""The conformance graph as a LangGraph graph in Python.

Its contract is https://github.com/agentconform/agentconform/blob/main/reference/graphs/CONTRACT.md
Words in the last human message control it: wait=<ms>, wait-after-write=<ms>, whoami, tool, fail.
"""

import asyncio
import json

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph

# Fields of the user whose names contain one of these are not returned.
SECRETS = ("token", "secret", "password", "key")

sleep = asyncio.sleep  # asynchronous: other runs continue, and a run that sleeps can be interrupted


async def begin(state: MessagesState):
    """Waits, then writes the early message. A node of its own: the state shows what a node wrote when the node ends."""
    text, words = asked(state)
    await sleep(milliseconds(words, "wait=") / 1000)
    if any(word.startswith("wait-after-write=") for word in words):
        return {"messages": [AIMessage("Working on it: " + text)]}
    return {}


async def answer(state: MessagesState, config: RunnableConfig):
    """Waits if there was an early message, then fails or answers."""
    text, words = asked(state)
    await sleep(milliseconds(words, "wait-after-write=") / 1000)
    if "fail" in words:
        raise RuntimeError("the run fails because it was asked to")
    out, reply = [], "You said: " + text
    if "tool" in words:
        found = ToolMessage("looked up: " + text, name="lookup", tool_call_id="lookup-1")
        out, reply = [found], reply + "\n" + found.content
    if "whoami" in words:
        reply = whoami(config["configurable"].get("langgraph_auth_user"))
    return {"messages": [*out, AIMessage(reply)]}


def asked(state):
    """The text of the last human message, and its words."""
    text = text_of(next((m.content for m in reversed(state["messages"]) if m.type == "human"), ""))
    return text, words_of(text)


def text_of(content):
    """The text of a message: its content is a string, or a list of strings and of parts with a text."""
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content)


def words_of(text):
    return text.split()


def milliseconds(words, prefix):
    return next((int(w[len(prefix):]) for w in words if w.startswith(prefix) and w[len(prefix):].isdigit()), 0)


def whoami(user):
    """The user object as JSON without secrets; null if there is none."""
    if user is None:
        return "null"
    public = {k: v for k, v in dict(user).items() if not any(s in k.lower() for s in SECRETS)}
    return json.dumps(public, default=str)


def build(begin, answer):
    builder = StateGraph(MessagesState)
    builder.add_node("begin", begin)
    builder.add_node("answer", answer)
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "answer")
    builder.add_edge("answer", END)
    return builder.compile()


graph = build(begin, answer)
