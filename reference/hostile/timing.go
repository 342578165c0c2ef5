package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// removal is how long a run may try to remove what it has created, in seconds, beyond the bound of all.
const removal = 32

// timing are answers that do not come, or come late.
func timing() []Mode {
	never := func(operation, does string) Mode {
		return Mode{Name: "no-answer-to-" + operation, Does: does, Verdict: NonConformant, Layer: on(operation, silent)}
	}
	return []Mode{
		never("list-revisions", "does not answer lists"),
		never("create-deployment", "does not answer creation"),
		never("get-revision", "does not answer polls"),
		never("update-deployment", "does not answer updates"),
		never("create-thread", "does not answer the creation of threads"),
		never("create-run", "does not answer the creation of runs"),
		never("join-run", "does not answer joins"),
		never("get-state", "does not answer states"),
		{Name: "no-answer-to-delete", Does: "does not answer DELETE", Verdict: Conformant,
			Because: "DELETE is no part of the interface; the run says what it has left", Layer: on("delete-deployment", silent), Seconds: removal},
		{Name: "no-answer-at-all", Does: "answers nothing", Verdict: Incomplete, Because: "nothing was seen of the target", Layer: always(silent)},
		{Name: "headers-only", Does: "sends headers of lists and no body", Verdict: NonConformant, Layer: on("list-revisions", stalling("{"))},
		{Name: "stalls-in-state", Does: "stalls in the body of states", Verdict: NonConformant, Layer: on("get-state", stalling(`{"values":`))},
		{Name: "stalls-in-large-body", Does: "stalls after 2 MiB of lists", Verdict: NonConformant, Layer: both(spoiled, on("list-revisions", stalling(strings.Repeat(" ", 2<<20))))},
		{Name: "drips", Does: "sends lists one byte per 100 ms", Verdict: NonConformant, Layer: on("list-revisions", dripping)},
		{Name: "everything-late", Does: "answers each request after 900 ms", Verdict: Incomplete, Because: "--timeout comes before the end, and nothing failed",
			Layer: always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if pause(r, 900*time.Millisecond) {
					next.ServeHTTP(w, r)
				}
			})},
		{Name: "never-deployed", Does: "stays in BUILDING", Verdict: NonConformant, Because: "the interface promises DEPLOYED for what can be built",
			Layer: both(field("get-revision", "status", "BUILDING"), rows(func(_ int, row map[string]any) { row["status"] = "BUILDING" }))},
	}
}

// pause waits, and tells whether the client is still there.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// stalling sends the beginning of a body, and no more.
func stalling(beginning string) answering {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(beginning)) // the client may be gone
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func dripping(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	for pause(r, 100*time.Millisecond) {
		if _, err := fmt.Fprint(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}
