package faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// NullImplementation is a server that implements nothing of the interface. The suite must never report it as conformant.
type NullImplementation struct {
	Name    string // "everything-is-not-found"
	Is      string // what a client observes, in a sentence
	Handler func() http.Handler
}

// NullImplementations returns all null implementations.
func NullImplementations() []NullImplementation {
	return []NullImplementation{
		{"everything-is-not-found", "every request gets 404", always(http.StatusNotFound, `{"detail":"Not Found"}`)},
		{"everything-is-an-empty-object", "every request gets 200 with {}", always(http.StatusOK, `{}`)},
		{"everything-is-null", "every request gets 200 with null", always(http.StatusOK, `null`)},
		{"everything-is-an-empty-list", "every request gets 200 with an empty page", always(http.StatusOK, `{"resources":[],"offset":0}`)},
		{"everything-fails", "every request gets 500", always(http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)},
		{"everything-is-unauthorized", "every request gets 401", always(http.StatusUnauthorized, `{"detail":"Unauthorized"}`)},
		{"everything-is-invalid", "every request gets 422", always(http.StatusUnprocessableEntity,
			`{"detail":[{"loc":["query","limit","offset","status","remote_reconciled","deployment_id"],"msg":"no","type":"no"}]}`)},
		{"everything-is-no-content", "every request gets 204", always(http.StatusNoContent, ``)},
		{"echo", "every request gets 200 with its own body", echo},
		{"web-site", "every request gets 200 with an HTML page", website},
		{"everything-is-rate-limited", "every request gets 429", rateLimited},
		{"recorded-answers", "every operation gets one recorded answer, whatever the id", recording},
		{"redirect-loop", "every request is redirected to the same address", redirectLoop},
		{"endless-body", "every request gets a body that does not end", endless},
		{"slow-body", "every request gets one byte per 100 ms", slowBody},
		{"closed-connection", "every connection is closed without an answer", closeConnection},
		{"deep-nesting", "every request gets 100,000 nested arrays", always(http.StatusOK, strings.Repeat("[", 100_000))},
	}
}

func writeJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = io.WriteString(w, text) // the client may be gone
	}
}

func serving(f http.HandlerFunc) http.Handler { return f }

func always(status int, text string) func() http.Handler {
	return func() http.Handler {
		return serving(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, text) })
	}
}

func echo() http.Handler {
	return serving(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		writeJSON(w, http.StatusOK, string(text))
	})
}

func website() http.Handler {
	return serving(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Welcome</title><h1>It works</h1><script>{"id":"x"}</script>`)
	})
}

func rateLimited() http.Handler {
	return serving(func(w http.ResponseWriter, _ *http.Request) { busy(w, http.StatusTooManyRequests, "0") })
}

// The recorded answers: valid, and always about the same deployment and revision.
const (
	recordedRevision = `{"id":"3f0c1f9e-3c5e-4a53-9b6e-0d3f9f3b7a11","created_at":"2025-01-02T03:04:05Z",
		"updated_at":"2025-01-02T03:05:05Z","status":"DEPLOYED","source":"git_host",
		"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json","image_uri":null,"repo_commit_sha":null}}`
	recordedDeployment = `{"id":"8a4f7e0a-50a5-4df6-8f62-0b7f6f0f4c22","latest_revision_id":"3f0c1f9e-3c5e-4a53-9b6e-0d3f9f3b7a11",
		"source":"git_host","source_config":{"build_on_push":false},
		"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json","image_uri":null,"repo_commit_sha":null}}`
	recordedList = `{"resources":[` + recordedRevision + `],"offset":1}`
)

func recording() http.Handler {
	return serving(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case createDeployment.is(r):
			writeJSON(w, http.StatusCreated, recordedDeployment)
		case listRevisions.is(r):
			writeJSON(w, http.StatusOK, recordedList)
		case getRevision.is(r):
			writeJSON(w, http.StatusOK, recordedRevision)
		default:
			writeJSON(w, http.StatusOK, recordedDeployment)
		}
	})
}

func redirectLoop() http.Handler {
	return serving(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	})
}

// endlessLimit bounds the endless body, in case the client does not.
const endlessLimit = 64 << 20

func endless() http.Handler {
	block := strings.Repeat(" ", 1<<16)
	return serving(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range endlessLimit / len(block) {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	})
}

func slowBody() http.Handler {
	return serving(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for range 600 {
			if _, err := fmt.Fprint(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	})
}

func closeConnection() http.Handler {
	return serving(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}
