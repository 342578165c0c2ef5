package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// otherServers returns the equivalent mutants that rows cannot express.
func otherServers() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "ids-are-numbers", Place: "JSON", Differs: "thread_id and run_id are numbers", Apply: numberedIDs},
		{
			Name: "one-run-at-a-time", Longest: true,
			Differs: "the agent server executes one run at a time; runs of all threads wait for each other",
			Apply:   agents(func(o *agentserver.Options) { o.Workers = 1 }),
		},
		{
			Name:    "three-runs-at-a-time",
			Differs: "the agent server executes three runs at a time; other runs are pending",
			Apply:   agents(func(o *agentserver.Options) { o.Workers = 3 }),
		},
		{
			Name:    "runs-start-late",
			Differs: "the agent server executes ten runs at a time, and each starts up to 700 ms after it was accepted",
			Apply: agents(func(o *agentserver.Options) {
				var n atomic.Int64
				o.Workers = 10
				o.Starts = func(ctx context.Context, _ string) {
					pause(ctx, time.Duration(n.Add(1)*270%700)*time.Millisecond)
				}
			}),
		},
		{
			Name: "only-two-users", Differs: "no user with the identity of another and no blocked token is configured",
			Apply: func(o *reference.Options) {
				o.WrapFixtures = append(o.WrapFixtures, func(s *fixtures.Set) { s.Users, s.BlockedToken = s.Users[:2], "" })
			},
		},
		{
			Name:    "lists-follow-builds-late",
			Differs: "for 100 ms, lists show a revision that was DEPLOYED as DEPLOYING",
			Apply:   compose(func(o *reference.Options) { o.Pace = 70 * time.Millisecond }, around(showLate)),
		},
		{
			Name: "earlier-deployed-revisions-become-skipped", Apply: around(skipEarlier),
			Differs: "once a later revision is DEPLOYED, earlier DEPLOYED revisions are SKIPPED",
		},
		{
			Name: "dropped-joins-cancel", Differs: "a run is canceled if a client drops its join", Apply: around(cancelIfDropped),
			Also: map[string]string{"AS-RUN-11": "the interface does not state that the run completes"},
		},
		{
			Name: "branded-words", Apply: speaking(branded),
			Differs: "the neutral words of the interface are replaced by a vendor's names",
		},
		{
			Name: "branded-words-self-hosted", Edition: selfHosted, Apply: speaking(branded),
			Differs: "the neutral words of the interface are replaced by a vendor's names, self-hosted",
		},
	}
}

// cancelIfDropped cancels a run if the client of a join closes the connection.
func cancelIfDropped(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(w, r)
	path, isJoin := strings.CutSuffix(r.URL.Path, "/join")
	if !isJoin || r.Context().Err() == nil {
		return
	}
	cancel := r.Clone(context.WithoutCancel(r.Context()))
	cancel.Method, cancel.URL.Path, cancel.URL.RawPath = http.MethodPost, path+"/cancel", ""
	deviate.Capture(next, cancel)
}

// showLate shows revisions in lists as DEPLOYING for some time after they were DEPLOYED. Filters by status use the same
// status.
func showLate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	const late = 100 * time.Millisecond
	response := deviate.Capture(next, r)
	var list map[string]any
	isList := deviate.OperationOf(r).ID == "list-revisions" && response.Status == http.StatusOK &&
		json.Unmarshal(response.Body, &list) == nil
	if !isList {
		response.Send(w)
		return
	}
	filter := r.URL.Query().Get("status")
	rows, _ := list["resources"].([]any)
	list["resources"] = slices.DeleteFunc(rows, func(row any) bool {
		revision, _ := row.(map[string]any)
		updated, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(revision["updated_at"]))
		if revision["status"] != "DEPLOYED" || time.Since(updated) >= late {
			return false
		}
		revision["status"] = "DEPLOYING"
		return filter != "" && !strings.Contains(filter, "DEPLOYING")
	})
	response.Body, _ = json.Marshal(list) // the body was valid JSON before
	response.Send(w)
}

// skipEarlier shows each DEPLOYED revision before the last one as SKIPPED. Filters by status use the same status.
func skipEarlier(w http.ResponseWriter, r *http.Request, next http.Handler) {
	response := deviate.Capture(next, r)
	operation, query := deviate.OperationOf(r).ID, r.URL.Query()
	isRevision, isList := operation == "get-revision", operation == "list-revisions"
	if !isRevision && !isList || response.Status != http.StatusOK {
		response.Send(w)
		return
	}
	whole := func(query url.Values) (rows []any) {
		list := r.Clone(r.Context())
		if isRevision {
			list.URL.Path = path.Dir(r.URL.Path)
		}
		list.URL.RawQuery = query.Encode()
		var all struct{ Resources []any }
		_ = json.Unmarshal(deviate.Capture(next, list).Body, &all) // after an error, the list is empty
		return all.Resources
	}
	statuses, isEarlier := map[any]any{}, false
	for _, row := range whole(url.Values{"limit": {"100"}}) { // the newest comes first
		revision, _ := row.(map[string]any)
		statuses[revision["id"]] = revision["status"]
		if revision["status"] == "DEPLOYED" {
			if isEarlier {
				statuses[revision["id"]] = "SKIPPED"
			}
			isEarlier = true
		}
	}
	var shown map[string]any
	_ = json.Unmarshal(response.Body, &shown) // the body was valid JSON before
	rows, _ := shown["resources"].([]any)
	if wanted := query.Get("status"); isList && wanted != "" {
		query.Del("status")
		limit, offset := cmp.Or(query.Get("limit"), "20"), query.Get("offset")
		query.Del("offset")
		query.Set("limit", "100")
		rows = slices.DeleteFunc(whole(query), func(row any) bool {
			revision, _ := row.(map[string]any)
			return !slices.Contains(strings.Split(wanted, ","), fmt.Sprint(statuses[revision["id"]]))
		})
		from, _ := strconv.Atoi(offset)
		size, _ := strconv.Atoi(limit)
		from = min(from, len(rows))
		rows = rows[from:min(from+size, len(rows))]
		shown["offset"] = from + len(rows)
	}
	for _, row := range append(slices.Clone(rows), shown) {
		revision, _ := row.(map[string]any)
		if status, isKnown := statuses[revision["id"]]; isKnown {
			revision["status"] = status
		}
	}
	if isList {
		shown["resources"] = rows
	}
	response.Body, _ = json.Marshal(shown)
	response.Send(w)
}

// agents returns a layer that changes the options of agent servers.
func agents(change func(*agentserver.Options)) Layer {
	return func(o *reference.Options) { o.WrapAgent = append(o.WrapAgent, change) }
}

var (
	idsInResponse    = regexp.MustCompile(`"(thread_id|run_id)":"([^"]+)"`)
	numbersInRequest = regexp.MustCompile(`\d{16}`)
)

// numberedIDs replaces the IDs of threads and runs by numbers of 16 digits in responses, and back in requests.
func numberedIDs(o *reference.Options) {
	var known sync.Map // IDs by number
	ids := func(text, quote string) string {
		return numbersInRequest.ReplaceAllStringFunc(text, func(number string) string {
			if id, ok := known.Load(number); ok {
				return quote + id.(string) + quote
			}
			return number
		})
	}
	around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		sent, _ := io.ReadAll(r.Body)
		body := ids(string(sent), `"`)
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = ids(r.URL.Path, ""), ""
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		response := deviate.Capture(next, r)
		response.Body = idsInResponse.ReplaceAllFunc(response.Body, func(member []byte) []byte {
			found := idsInResponse.FindSubmatch(member)
			sum := fnv.New64a()
			_, _ = sum.Write(found[2])                              // never returns an error
			number := strconv.FormatUint(sum.Sum64()>>12|1<<51, 10) // 2^51 to 2^52-1: 16 digits
			known.Store(number, string(found[2]))
			return []byte(`"` + string(found[1]) + `":` + number)
		})
		response.Send(w)
	})(o)
}

// branded contains a vendor's names for the neutral words of the interface.
var branded = map[string]string{
	"git_host": "kilnhub", "external_container": "kiln_image", "internal_container": "kiln_bundle",
	"graph_config_path": "kiln_config_path", "graph_auth_user": "kiln_auth_user",
}

// speaking returns a layer that replaces the neutral words of the interface. The server no longer accepts the original
// words.
func speaking(words map[string]string) Layer {
	renamed := func(place, from, to string) []string {
		return []string{
			place + ".[source=" + from + "].source = " + to,
			"rename " + place + ".source_revision_config " + from + " " + to,
		}
	}
	var removed, requests, responses []string
	for original, theirs := range words {
		removed = append(removed, renamed("request", original, "not_"+original)...)
		requests = append(requests, renamed("request", theirs, original)...)
		responses = append(responses, renamed("each.*", original, theirs)...)
	}
	return compose(
		func(o *reference.Options) {
			o.WrapFixtures = append(o.WrapFixtures, func(set *fixtures.Set) { set.Vocabulary = words })
		},
		changing([]string{"create-deployment or update-deployment"}, slices.Concat(removed, requests)...),
		changing([]string{"every control-plane"}, responses...),
	)
}
