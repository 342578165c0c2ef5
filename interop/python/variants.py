"""Graphs that break one line of the contract each, to show what the suite reports. CONFORMANCE_VARIANT chooses.

    no-wait, no-whoami, no-tool, no-fail   the word is not understood
    no-early-write                         wait-after-write=<ms> waits, and writes nothing before
    deaf                                   no word is understood; the text is answered
    failing                                each run fails
    blocking                               each run calls time.sleep, which stops all other runs and requests
    write-at-end                           the state shows nothing until a run ends (durability "exit")
"""

import os
import time

import graph as conforming
from langgraph.graph.state import CompiledStateGraph

NAME = os.environ["CONFORMANCE_VARIANT"]
WORDS = {"no-wait": "wait=", "no-whoami": "whoami", "no-tool": "tool", "no-fail": "fail", "deaf": ""}
begin = conforming.begin

if NAME in WORDS:
    conforming.words_of = lambda text: [w for w in text.split() if not w.startswith(WORDS[NAME])]
elif NAME == "no-early-write":

    async def begin(state: conforming.MessagesState):
        await conforming.begin(state)
        return {}

elif NAME == "failing":

    async def begin(state: conforming.MessagesState):
        raise RuntimeError("each run fails")

elif NAME == "blocking":

    async def blocking_sleep(seconds):
        time.sleep(max(seconds, 0.01))

    conforming.sleep = blocking_sleep
elif NAME != "write-at-end":
    raise ValueError(f"CONFORMANCE_VARIANT: {NAME!r} is not known")

graph = conforming.build(begin, conforming.answer)

if NAME == "write-at-end":

    class WriteAtEnd(CompiledStateGraph):
        """The server sets durability for each run, so it is set again here."""

        def astream(self, *args, **kwargs):
            return super().astream(*args, **{**kwargs, "durability": "exit"})

    graph.__class__ = WriteAtEnd
