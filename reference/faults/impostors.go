package faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Impostor is a server that keeps nothing of the interface. Whatever it answers, it must never be found conformant.
type Impostor struct {
	Name    string // "everything-is-not-found"
	Is      string // what it is, in a sentence
	Handler func() http.Handler
}

// Impostors returns the servers that are wrong altogether.
func Impostors() []Impostor {
	return []Impostor{
		{"everything-is-not-found", "a server that answers 404 to everything", always(http.StatusNotFound, `{"detail":"Not Found"}`)},
		{"everything-is-an-empty-object", "a server that answers 200 with {} to everything", always(http.StatusOK, `{}`)},
		{"everything-is-null", "a server that answers 200 with null to everything", always(http.StatusOK, `null`)},
		{"everything-is-an-empty-list", "a server that answers 200 with an empty page to everything", always(http.StatusOK, `{"resources":[],"offset":0}`)},
		{"everything-fails", "a server that answers 500 to everything", always(http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)},
		{"everything-is-unauthorized", "a server that answers 401 to everything", always(http.StatusUnauthorized, `{"detail":"Unauthorized"}`)},
		{"everything-is-invalid", "a server that answers 422 to everything", always(http.StatusUnprocessableEntity,
			`{"detail":[{"loc":["query","limit","offset","status","remote_reconciled","deployment_id"],"msg":"no","type":"no"}]}`)},
		{"everything-is-no-content", "a server that answers 204 to everything", always(http.StatusNoContent, ``)},
		{"an-echo", "a server that answers with the body of the request", echo},
		{"a-web-site", "a web site that answers everything with its front page", website},
		{"everything-is-too-much", "a server that asks to come back later (429), whatever is asked", tooMuch},
		{"a-recording", "a server that replays one recorded answer for each operation, whatever the id", recording},
		{"a-redirect-loop", "a server that redirects everything to itself", redirectLoop},
		{"an-endless-body", "a server whose answers do not end", endless},
		{"a-slow-drip", "a server that sends a byte now and then", drip},
		{"a-hang-up", "a server that closes every connection without an answer", hangUp},
		{"deep-nesting", "a server that answers with arrays a hundred thousand levels deep", always(http.StatusOK, strings.Repeat("[", 100_000))},
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

func tooMuch() http.Handler {
	return serving(func(w http.ResponseWriter, _ *http.Request) { busy(w, http.StatusTooManyRequests, "0") })
}

// The recorded answers: well-formed, and always about the same deployment and revision.
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

// endlessLimit bounds the endless body, for a client that does not.
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

func drip() http.Handler {
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

func hangUp() http.Handler {
	return serving(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}
