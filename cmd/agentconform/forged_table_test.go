package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reports"
)

// forgedFile is one file of somebody else, the command that it is given to, and what is right then.
type forgedFile struct {
	command, name string
	file          func(*testing.T, *scene) string // with {target}, {agent} and {foreign} in place of addresses
	code          int
	says          []string // parts of what is printed
	asks          []string // requests that are right
	silent        bool     // no request at all
}

func text(s string) func(*testing.T, *scene) string {
	return func(*testing.T, *scene) string { return s }
}

// resultWith is a result with one thing forged.
func resultWith(change func(*reports.Result)) func(*testing.T, *scene) string {
	return func(t *testing.T, s *scene) string { return s.result(t, change) }
}

// entry is a line of a ledger, with some members changed.
func entry(changed ...any) string {
	e := map[string]any{"run": "r", "target": "{target}", "kind": "deployment", "id": "d", "address": "{target}", "created_by": "x"}
	for i := 0; i < len(changed); i += 2 {
		e[changed[i].(string)] = changed[i+1]
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// thread is a line about a thread.
func thread(changed ...any) string {
	return entry(append([]any{"kind", "thread", "id", "t", "owner", "users.0", "deployment", "named", "address", "{agent}"}, changed...)...)
}

// forgedFiles are made when they are asked for: the processes that tests start are this program too, and begin without
// them.
func forgedFiles() []forgedFile {
	nested := strings.Repeat("[", 100_000)
	return append(rowsOfID("a slash", "d/../../v1/secrets"), []forgedFile{
		// replay: a result says which scenarios are run, and nothing else.
		{command: "replay", name: "another target and agent server", code: exitIncomplete, asks: []string{"POST /v2/deployments"}, says: []string{"CP-LIST-1"}, file: resultWith(func(r *reports.Result) {
			r.Target.ControlPlane, r.Target.AgentServer = "{foreign}", "{foreign}/agent"
		})},
		{command: "replay", name: "requests of somebody else", code: exitIncomplete, file: resultWith(func(r *reports.Result) {
			r.Exchanges = reports.Record(nil, reports.Exchange{Scenario: "x", Method: "DELETE", URL: "{foreign}/v2/deployments/production", Curl: "curl {foreign}",
				Request: reports.Message{Body: `{"source_config":{"repo_url":"{foreign}"},"secrets":[{"name":"A","value":"$AGENTCONFORM_CREDENTIALS_API_KEY"}]}`}})
			r.Findings[0].Curl = "curl -X DELETE {foreign}"
		})},
		{command: "replay", name: "a connection of somebody else", code: exitIncomplete, file: resultWith(func(r *reports.Result) {
			r.Target.Connection = &reports.Connection{Proxy: "{foreign}"}
		})},
		{command: "replay", name: "things to remove", code: exitIncomplete, file: resultWith(func(r *reports.Result) {
			r.Ledger = []reports.LedgerEntry{{Kind: "deployment", ID: "production", Address: "{foreign}"}, {Kind: "thread", ID: "t", Address: "{foreign}"}}
		})},
		{command: "replay", name: "a scenario that is not there", code: exitIncomplete, says: []string{"this version has no scenario"}, file: resultWith(func(r *reports.Result) {
			r.Requirements[0].Scenarios[0].Name = "removes everything"
		})},
		{command: "replay", name: "a run that wrote nothing", code: exitIncomplete, file: resultWith(func(r *reports.Result) { r.Run.ReadOnly = true })},
		{command: "replay", name: "no findings", code: exitUsage, silent: true, says: []string{"nothing to replay"}, file: resultWith(func(r *reports.Result) { r.Findings = nil })},
		{command: "replay", name: "an exchange that is not there", code: exitUsage, silent: true, file: resultWith(func(r *reports.Result) { r.Findings[0].Exchange = 7 })},

		// clean: a ledger says what is removed at the configured addresses, and at those which the control plane names now.
		{command: "clean", name: "our own deployment and thread", file: text(entry() + thread()), asks: []string{"DELETE /v2/deployments/d", "GET /v2/deployments/named", "DELETE /threads/t"}, says: []string{"2 of 2 removed"}},
		{command: "clean", name: "another control plane", file: text(entry("target", "{foreign}", "address", "{foreign}")), code: exitUsage, silent: true, says: []string{"but the target is {target}"}},
		{command: "clean", name: "an address beside the target", file: text(entry("address", "{foreign}")), asks: []string{"DELETE /v2/deployments/d"}},
		{command: "clean", name: "a thread at a foreign address", file: text(thread("address", "{foreign}")), code: exitIncomplete, says: []string{"is not what {target} names", "0 of 1 removed"}},
		{command: "clean", name: "a thread at a longer address", file: text(thread("address", "{agent}.elsewhere")), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{command: "clean", name: "a thread at an address with a user", file: text(thread("address", "http://x@{foreign}")), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{command: "clean", name: "a thread at a path of the target", file: text(thread("address", "{target}")), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{command: "clean", name: "a thread of a deployment that is gone", file: text(thread("deployment", "gone")), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{command: "clean", name: "a thread of no deployment", file: text(thread("deployment", "")), code: exitUsage, silent: true, says: []string{"but the target is"}},
		{command: "clean", name: "an owner that is nobody", file: text(thread("owner", "users.99999999999999999999")), asks: []string{"DELETE /threads/t"}},
		{command: "clean", name: "a kind that is no kind", file: text(entry("kind", "organization")), silent: true, says: []string{"nothing to remove"}},
		{command: "clean", name: "a run of a thread", file: text(entry("kind", "run", "thread", "t", "address", "{foreign}")), silent: true, says: []string{"nothing to remove"}},
		{command: "clean", name: "a deployment as the id of a thread", file: text(thread("id", "x%2f..%2fy?z#a")), asks: []string{"DELETE /threads/x%252f..%252fy%3Fz%23a"}},
		{command: "clean", name: "no ledger", file: text("hello\nworld\n"), code: exitUsage, silent: true, says: []string{"is not a ledger entry"}},
		{command: "clean", name: "deep nesting", file: text(nested + "\n" + entry()), code: exitIncomplete, asks: []string{"DELETE /v2/deployments/d"}, says: []string{"cannot be read"}},
		{command: "clean", name: "thousands of lines that cannot be read", file: text(entry() + strings.Repeat("x\n", 5000)), code: exitUsage, silent: true, says: []string{"more than 1000 lines"}},
		{command: "clean", name: "a line that goes on", file: text(entry("id", strings.Repeat("x", 2<<20)) + entry()), code: exitIncomplete, asks: []string{"DELETE /v2/deployments/d"}},
	}...)
}

// rowsOfID puts an id that is no segment of a path where a file has ids.
func rowsOfID(name, id string) (rows []forgedFile) {
	damaged := forgedFile{command: "clean", code: exitIncomplete, asks: []string{"DELETE /v2/deployments/d"}, says: []string{"cannot be read"}}
	for where, file := range map[string]string{"deployment": entry("id", id), "thread": thread("id", id), "deployment of a thread": thread("deployment", id)} {
		if id == "" && where == "deployment of a thread" {
			continue // it is of none
		}
		damaged.name, damaged.file = name+" in the id of a "+where, text(file+entry())
		rows = append(rows, damaged)
	}
	for where, change := range map[string]func(*reports.Result){
		"finding":                  func(r *reports.Result) { r.Findings[0].ID = id },
		"requirement":              func(r *reports.Result) { r.Requirements[0].ID = id },
		"requirement of a finding": func(r *reports.Result) { r.Findings[0].Requirement = id },
	} {
		rows = append(rows, forgedFile{command: "replay", name: name + " in the id of a " + where, file: resultWith(change), code: exitUsage, silent: true, says: []string{"is no id"}})
	}
	return rows
}
