// Starts the server of @langchain/langgraph-api with langgraph.json, without the watcher of its command line:
//
//	node server.mjs PORT
import { readFile } from "node:fs/promises";
import { startServer } from "@langchain/langgraph-api/server";

const { graphs, auth } = JSON.parse(await readFile("langgraph.json", "utf8"));
await startServer({ host: "127.0.0.1", port: Number(process.argv[2]), nWorkers: 10, cwd: process.cwd(), graphs, auth });
