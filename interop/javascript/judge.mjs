// Compares a result of the suite with what mutants.mjs says of a mutant, or of the mended server, and prints what differs:
//
//	node judge.mjs list              the names of the mutants
//	node judge.mjs NAME RESULT       NAME is that of a mutant, or "mended"; RESULT a result.json; exit code 1 on a difference
import { readFile } from "node:fs/promises";
import { mended, mutants } from "./mutants.mjs";

const [name, file] = process.argv.slice(2);
if (name === "list") {
  console.log(Object.keys(mutants).join("\n"));
  process.exit();
}
const mutant = name === "mended" ? { fails: {} } : mutants[name];
const { requirements } = JSON.parse(await readFile(file, "utf8"));

// Only what needs a control plane is not tested.
const expected = new Map(requirements.map(({ id, profile }) => [id, profile === "agent-server" ? "passed" : "skipped"]));
for (const id of [...Object.keys(mended.fails), ...Object.keys(mutant.fails)]) expected.set(id, "failed");
for (const id of mutant.blocks ?? []) expected.set(id, "blocked");

const actual = new Map(requirements.map(({ id, verdict }) => [id, verdict]));
// Invariants are judged on all exchanges: they may fail, or be blocked or without evidence, beside the requirement that a mutant breaks.
const beside = (id) => name !== "mended" && id.includes("-INVARIANT-") && !(id in mutant.fails);
const mayFail = mutant.mayFail ?? [];
const differences = [...expected]
  .filter(([id, verdict]) => actual.get(id) !== verdict && !beside(id) && !mayFail.includes(id))
  .map(([id, verdict]) => `${id}: expected ${verdict}, got ${actual.get(id) ?? "no verdict"}`);
if (!requirements.some(({ verdict }) => verdict === "passed")) differences.push("no requirement passed");

console.log(differences.length > 0 ? differences.join("; ") : Object.keys(mutant.fails).join(", ") || "conformant");
process.exit(differences.length > 0 ? 1 : 0);
