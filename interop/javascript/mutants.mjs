// Mutants of the mended server (mended.mjs): faults of the kind that servers in use have had, which need its state.
// CONFORMANCE_MUTANT chooses one. What acts on HTTP alone is a row of the catalogue, and stands before any server (proxy.sh).
//
// does says what a client observes. fails holds each requirement that must fail, with the reason: that for which the mutant was
// made is the first. blocks are those that cannot be judged then, and mayFail those whose verdict depends on timing. All others
// must pass, but for those that the mended server fails too. apply changes the objects of the server before it starts.
import { setTimeout as sleep } from "node:timers/promises";

// What the mended server fails: the entries of baseline.yaml that are not about rollback.
export const mended = {
  fails: {
    "AS-RUN-7": "POST of a run with the number 42 as input returns 200",
    "AS-RUN-9": "the join of an unknown run, and of a run under another thread, returns 200",
  },
};

// The milliseconds for which a run was told to wait.
const told = (run) =>
  [...JSON.stringify(run.kwargs.input).matchAll(/\bwait(?:-after-write)?=(\d+)/g)].reduce((sum, [, ms]) => sum + Number(ms), 0);

export const mutants = {
  "search-filter-replaces-the-owner": {
    does: "POST /threads/search with metadata returns the threads of all users that match it",
    fails: { "AS-AUTHZ-3": "the metadata filter of the caller replaces the filter of the handler" },
    apply({ wrap, threads }) {
      wrap(threads, "search", (search) => function (options, auth) {
        return search.call(this, options, options.metadata ? undefined : auth);
      });
    },
  },
  "graph-gets-the-first-user": {
    does: "the graph receives the user of the first request that the server got, whoever sends the run",
    fails: {
      "AS-AUTH-7": "each run must receive the user of its own request",
      "AS-AUTH-6": "the fields of the second user do not reach the graph",
    },
    apply({ wrap, handlers, runs }) {
      let first;
      wrap(handlers, "authenticate", (authenticate) => async (request) => {
        const user = await authenticate(request);
        first ??= user;
        return user;
      });
      wrap(runs, "put", (put) => function (runId, assistantId, kwargs, ...rest) {
        kwargs.config.configurable.langgraph_auth_user = first;
        return put.call(this, runId, assistantId, kwargs, ...rest);
      });
    },
  },
  "rollback-is-rejected": {
    does: "a run with rollback returns 409 while another run is in progress",
    fails: { "AS-ROLLBACK-1": "the new run must be accepted" },
    // No run can be rolled back, and no run that rolls another one back can report its user.
    blocks: [...[2, 3, 4, 5, 7, 8, 9].map((number) => `AS-ROLLBACK-${number}`), "AS-AUTH-6"],
    mayFail: ["AS-RUN-4"], // blocked if no run that rolls another one back can be joined, unless that one has ended in time
    apply({ wrap, runs }) {
      wrap(runs, "put", (put) => async function (runId, assistantId, kwargs, options, auth) {
        const rejects = options.multitaskStrategy === "rollback";
        const preventInsertInInflight = rejects || options.preventInsertInInflight;
        const created = await put.call(this, runId, assistantId, kwargs, { ...options, preventInsertInInflight }, auth);
        if (rejects && created.length > 0 && created[0].run_id !== runId) {
          throw Object.assign(new Error("rejected"), { getResponse: () => new Response("The thread is busy", { status: 409 }) });
        }
        return created;
      });
    },
  },
  "messages-come-back": {
    does: "a run that was rolled back goes on, and writes its messages into the state at its natural end",
    fails: {
      "AS-ROLLBACK-4": "a run that was rolled back must not reappear after its natural end",
      "AS-ROLLBACK-5": "a run that has started since it was accepted, or behind which another one is pending, reappears too",
      "AS-ROLLBACK-3": "on a thread that is used again, the messages are back before the state is read",
    },
    mayFail: ["AS-STATE-2"], // on a thread that is used again, if the messages follow those of a later run in time
    apply({ wrap, rollback, stored, newThreads }) {
      wrap(rollback, "erase", (erase) => async function (run, shown) {
        erase.call(this, run, shown);
        await sleep(run.created_at.getTime() + told(run) - Date.now());
        if (!stored().threads[run.thread_id]) return;
        await newThreads().state.post({ configurable: { thread_id: run.thread_id } }, run.kwargs.input, "answer", undefined);
      });
    },
  },
  "concurrent-rollbacks-miss-each-other": {
    does: "rollbacks that arrive at the same time do not roll back each other",
    fails: { "AS-ROLLBACK-8": "of several rollbacks at the same time one run must be left" },
    apply({ wrap, runs, stored }) {
      wrap(runs, "put", (put) => async function (runId, assistantId, kwargs, options, auth) {
        const known = new Set(Object.keys(stored().runs));
        await sleep(50);
        const created = await put.call(this, runId, assistantId, kwargs, options, auth);
        return created.filter((run) => run.run_id === runId || known.has(run.run_id));
      });
    },
  },
};
