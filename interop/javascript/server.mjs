// Starts the server of @langchain/langgraph-api with langgraph.json, without the watcher of its command line:
//
//	node server.mjs PORT [WORKERS]
//
// With CONFORMANCE_MEND=1 the server is mended (mended.mjs); CONFORMANCE_MUTANT is the name of a mutant of the mended
// server (mutants.mjs).
import { readFile } from "node:fs/promises";
import { startServer } from "@langchain/langgraph-api/server";

const { CONFORMANCE_MEND: mend, CONFORMANCE_MUTANT: mutant } = process.env;
if (mend || mutant) {
  const server = await import("./mended.mjs");
  if (mutant) {
    const { mutants } = await import("./mutants.mjs");
    if (!Object.hasOwn(mutants, mutant)) throw new Error(`CONFORMANCE_MUTANT: ${JSON.stringify(mutant)} is not known`);
    const { auth } = await import("./auth.mjs");
    mutants[mutant].apply({ ...server, handlers: auth["~handlerCache"] });
  }
}

const { graphs, auth } = JSON.parse(await readFile("langgraph.json", "utf8"));
const [port, nWorkers = 10] = process.argv.slice(2).map(Number);
await startServer({ host: "127.0.0.1", port, nWorkers, cwd: process.cwd(), graphs, auth });
