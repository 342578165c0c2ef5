package hostile

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reference/deviate"
)

// paging are lists without an end, and positions that lead nowhere.
func paging() []Mode {
	offset := func(name, does string, value any) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: field("list-revisions", "offset", value)}
	}
	return []Mode{
		offset("offset-stands", "has the offset 0 on each page", 0),
		offset("offset-negative", "has a negative offset", -1),
		offset("offset-vast", "has an offset beyond 64 bits", json.Number("99999999999999999999999")),
		offset("offset-largest", "has the largest offset of 64 bits", math.MaxInt64),
		offset("offset-fraction", "has an offset with a fraction", 0.5),
		offset("offset-text", "has a string as offset", "1; DROP TABLE"),
		{Name: "pages-without-end", Does: "has a full page of new revisions at each offset", Verdict: NonConformant, Layer: changed("list-revisions", newPage)},
		{Name: "pages-repeat", Does: "has the first page at each offset", Verdict: NonConformant,
			Layer: on("list-revisions", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				q := r.URL.Query()
				q.Del("offset")
				r.URL.RawQuery = q.Encode()
				next.ServeHTTP(w, r)
			})},
		{Name: "list-grows", Does: "lists one more revision at each read", Verdict: NonConformant,
			Layer: fields("list-revisions", func(list map[string]any) {
				resources, _ := list["resources"].([]any)
				if len(resources) > 0 {
					for range serial.Add(1) % 50 {
						resources = append(resources, renewed(resources[0]))
					}
				}
				list["resources"] = resources
			})},
		{Name: "threads-without-end", Does: "has a full page of new threads at each offset", Verdict: NonConformant,
			Layer: changed("list-threads", func(_ *http.Request, a *deviate.Answer) {
				var threads []any
				for range 100 {
					threads = append(threads, map[string]any{"thread_id": uuid.NewString()})
				}
				a.Body = encoded(threads)
			})},
	}
}

// newPage fills a page with copies of its first revision under new ids.
func newPage(r *http.Request, a *deviate.Answer) {
	edit(a, func(list map[string]any) {
		resources, _ := list["resources"].([]any)
		limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil {
			limit = 20
		}
		for len(resources) > 0 && len(resources) < limit {
			resources = append(resources, renewed(resources[0]))
		}
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		list["resources"], list["offset"] = resources, offset+len(resources)
	})
}

// renewed is a copy of a row under a new id.
func renewed(row any) any {
	object, _ := row.(map[string]any)
	same := map[string]any{}
	for name, value := range object {
		same[name] = value
	}
	same["id"] = uuid.NewString()
	return same
}

// turnsByID returns a function that counts how often an object with an id was answered: the values that one object has in succession do
// not depend on what else is read in between.
func turnsByID() (turnOf func(object map[string]any) int64) {
	var turns sync.Map
	return func(object map[string]any) int64 {
		turn, _ := turns.LoadOrStore(fmt.Sprint(object["id"]), new(atomic.Int64))
		return turn.(*atomic.Int64).Add(1)
	}
}

// moving are values that are others at each read.
func moving() []Mode {
	turnOf := turnsByID()
	each := func(name, operation, member string, value func(turn int64) any) Mode {
		return Mode{Name: name, Does: "has another " + member + " in each answer to " + operation, Verdict: NonConformant,
			Layer: fields(operation, func(object map[string]any) { object[member] = value(turnOf(object)) })}
	}
	id := func(int64) any { return uuid.NewString() }
	statuses := []string{"CREATING", "DEPLOYED", "BUILD_FAILED", "QUEUED", "DEPLOYED", "UNKNOWN", "SKIPPED"}
	return []Mode{
		each("deployment-id-moves", "get-deployment", "id", id),
		each("latest-revision-moves", "get-deployment", "latest_revision_id", id),
		each("revision-id-moves", "get-revision", "id", id),
		each("run-id-moves", "get-run", "run_id", id),
		each("source-moves", "get-revision", "source", func(turn int64) any { return []string{"git_host", "external_container"}[turn%2] }),
		each("status-moves", "get-revision", "status", func(turn int64) any { return statuses[turn%int64(len(statuses))] }),
		each("new-status-each-time", "get-revision", "status", func(int64) any { return fmt.Sprint("STATUS_", serial.Add(1)) }),
		{Name: "listed-ids-move", Does: "has other ids at each read of a list", Verdict: NonConformant, Layer: rows(func(_ int, row map[string]any) { row["id"] = id(0) })},
		{Name: "new-field-each-time", Does: "has a field with another name in each answer", Verdict: Conformant, Because: "any further field is allowed",
			Layer: always(changing(func(_ *http.Request, a *deviate.Answer) {
				edit(a, func(object map[string]any) { object[fmt.Sprint("x", serial.Add(1))] = uuid.NewString() })
			}))},
	}
}
