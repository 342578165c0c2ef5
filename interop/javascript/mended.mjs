// Mends how @langchain/langgraph-api 2.0.0 rolls back a running run: the run is deleted, and with it its input and
// everything that it wrote. Unmended, the server only interrupts it. Import this module before the server starts.
//
// It wraps methods of the server's objects, which mutants.mjs wraps once more. Nothing of the server is copied.
const dist = new URL(".", import.meta.resolve("@langchain/langgraph-api/server"));
const [{ FileSystemRuns, FileSystemThreads, StreamManager }, { FileSystemPersistence }, { checkpointer }] = await Promise.all(
  ["storage/ops.mjs", "storage/persist.mjs", "storage/checkpoint.mjs"].map((file) => import(new URL(file, dist))),
);

export { checkpointer };
export const runs = FileSystemRuns.prototype;
export const threads = FileSystemThreads.prototype;
export const state = FileSystemThreads.State.prototype;

// wrap replaces a method by what make returns for the present one.
export function wrap(object, method, make) {
  object[method] = make(object[method]);
}

// stored returns the threads and runs of the server by their ids, newThreads an object with the operations on threads.
let connection;
export const stored = () => connection.data;
export const newThreads = () => new FileSystemThreads(connection);
wrap(FileSystemPersistence.prototype, "initialize", (initialize) => async function (...args) {
  const initialized = await initialize.apply(this, args);
  if ("runs" in this.data) connection = this;
  return initialized;
});

// The ids of the running runs that a rollback has stopped. An id stays here: late writes are recognised by it.
const rolledBack = new Set();

// What the thread of each running run showed before.
const before = new Map();

export const rollback = {
  // stop ends a running run; abort makes the graph stop.
  stop(runId, abort) {
    rolledBack.add(runId);
    abort();
  },
  // erase deletes a run that has stopped, its messages, and what the thread shows of them.
  erase(run, { values, interrupts }) {
    delete stored().runs[run.run_id];
    checkpointer.delete(run.thread_id, run.run_id);
    const waiting = Object.values(stored().runs).some((other) => other.thread_id === run.thread_id && other.status === "pending");
    const thread = stored().threads[run.thread_id];
    if (thread) Object.assign(thread, { values, interrupts, status: waiting ? "busy" : "idle" });
  },
};

// A worker locks a run while it executes it. A rollback aborts the control of the lock, with its own name as the reason.
wrap(StreamManager, "lock", (lock) => function (runId) {
  const signal = lock.call(this, runId);
  const { values, interrupts } = stored().threads[stored().runs[runId]?.thread_id] ?? {};
  before.set(runId, { values, interrupts });
  wrap(this.getControl(runId), "abort", (abort) => function (reason) {
    if (reason === "rollback") rollback.stop(runId, () => abort.call(this, reason));
    else abort.call(this, reason);
  });
  return signal;
});

// The run is erased when its worker has ended, and not before: until then it keeps the next run of the thread from starting,
// which would read its messages.
wrap(StreamManager, "unlock", (unlock) => function (runId) {
  unlock.call(this, runId);
  const run = stored().runs[runId];
  if (rolledBack.has(runId) && run) rollback.erase(run, before.get(runId));
  before.delete(runId);
});

wrap(runs, "setStatus", (setStatus) => async function (runId, status) {
  if (!rolledBack.has(runId)) await setStatus.call(this, runId, status);
});

wrap(runs, "get", (get) => async function (runId, ...rest) {
  return rolledBack.has(runId) ? null : get.call(this, runId, ...rest);
});

// A write that had begun before the rollback may end after it, and is deleted then.
for (const method of ["put", "putWrites"]) {
  wrap(checkpointer, method, (write) => async function (config, ...rest) {
    const { run_id: runId, thread_id: threadId } = config.configurable ?? {};
    if (rolledBack.has(runId)) return config;
    const written = await write.call(this, config, ...rest);
    if (rolledBack.has(runId)) await this.delete(threadId, runId);
    return written;
  });
}
