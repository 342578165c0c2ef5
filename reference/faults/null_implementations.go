package faults

import (
	"io"
	"net/http"

	"github.com/agentconform/agentconform/reference/deviate"
)

// NullImplementation is a server that implements nothing of the interface. The suite must never report it as conformant.
type NullImplementation struct {
	Name  string // such as "everything-is-not-found"
	Is    string // what a client observes, in a sentence
	Serve http.HandlerFunc
}

// NullImplementations returns all null implementations.
func NullImplementations() []NullImplementation {
	return []NullImplementation{
		{"everything-is-not-found", "every request gets 404", always(404, `{"detail":"Not Found"}`)},
		{"everything-is-an-empty-object", "every request gets 200 with {}", always(200, `{}`)},
		{"everything-is-null", "every request gets 200 with null", always(200, `null`)},
		{"everything-is-an-empty-list", "every request gets 200 with an empty page", always(200, `{"resources":[],"offset":0}`)},
		{"everything-fails", "every request gets 500", always(500, `{"detail":"Internal Server Error"}`)},
		{"everything-is-unauthorized", "every request gets 401", always(401, `{"detail":"Unauthorized"}`)},
		{"everything-is-invalid", "every request gets 422", always(422,
			`{"detail":[{"loc":["query","limit","offset","status","remote_reconciled","deployment_id"],"msg":"no","type":"no"}]}`)},
		{"everything-is-no-content", "every request gets 204", always(204, ``)},
		{"echo", "every request gets 200 with its own body", echo},
		{"web-site", "every request gets 200 with an HTML page", website},
		{"everything-is-rate-limited", "every request gets 429", busy},
		{"recorded-answers", "every operation gets one recorded response, for any ID", recorded},
		{"redirect-loop", "every request is redirected to the same address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}},
		{"closed-connection", "every connection is closed without a response", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}},
	}
}

func writeJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = io.WriteString(w, text) // the client may have closed the connection
	}
}

// always returns a handler that sends the same response to every request.
func always(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, text) }
}

func echo(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	writeJSON(w, http.StatusOK, string(text))
}

// website returns an HTML page.
func website(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!doctype html><title>Welcome</title><h1>It works</h1><script>{"id":"x"}</script>`)
}

// busy refuses every request.
func busy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "0")
	writeJSON(w, http.StatusTooManyRequests, `{"detail":"Try again later"}`)
}

// recorded returns valid responses that are always about the same deployment and revision.
func recorded(w http.ResponseWriter, r *http.Request) {
	const config = `"source":"git_host",
		"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json","image_uri":null,"repo_commit_sha":null}`
	const revision = `{"id":"3f0c1f9e-3c5e-4a53-9b6e-0d3f9f3b7a11","created_at":"2025-01-02T03:04:05Z",
		"updated_at":"2025-01-02T03:05:05Z","status":"DEPLOYED",` + config + `}`
	const deployment = `{"id":"8a4f7e0a-50a5-4df6-8f62-0b7f6f0f4c22","latest_revision_id":"3f0c1f9e-3c5e-4a53-9b6e-0d3f9f3b7a11",
		"source_config":{"build_on_push":false},` + config + `}`
	switch deviate.OperationOf(r).ID {
	case "create-deployment":
		writeJSON(w, http.StatusCreated, deployment)
	case "list-revisions":
		writeJSON(w, http.StatusOK, `{"resources":[`+revision+`],"offset":1}`)
	case "get-revision":
		writeJSON(w, http.StatusOK, revision)
	default:
		writeJSON(w, http.StatusOK, deployment)
	}
}
