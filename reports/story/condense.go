package story

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// group has the events of one step.
type group []*event

func (g group) contains(e *event) bool { return slices.Contains(g, e) }

// isShown reports whether g is the step that shows the violation.
func (t *teller) isShown(g group) bool { return t.shown != nil && g.contains(t.shown) }

// last returns the event whose response the step shows.
func (g group) last() *event { return g[len(g)-1] }

// condense returns the steps of the story. It omits reads of the set-up that the finding does not need, and joins polls and
// similar requests.
func (t *teller) condense(before *event) []group {
	var steps []group
	for _, e := range t.needed(before) {
		if n := len(steps); n > 0 && t.joins(steps[n-1], e, before) {
			steps[n-1] = append(steps[n-1], e)
			continue
		}
		steps = append(steps, group{e})
	}
	return t.joinSimilar(t.joinSimilar(steps, 1, 5), 2, 3)
}

// joins reports whether an event repeats the request of a step, and got the same status.
func (t *teller) joins(g group, e, before *event) bool {
	last := g.last()
	return e != t.shown && last != t.shown && e != before && last != before &&
		e.isSame(last) && e.Status == last.Status && (e.part == last.part || !e.isOK())
}

// needed returns the events that the story shows: all that are not set-up, and of the set-up
//
//   - writes, waits, and reads until a revision is settled,
//   - reads of known objects that failed, each once,
//   - reads whose response a later read replaces: they have the value before.
func (t *teller) needed(before *event) []*event {
	previous := map[*event]bool{}
	for i, e := range t.events {
		if e.part == reports.SetUp && e != t.shown {
			continue
		}
		for _, earlier := range slices.Backward(t.events[:i]) {
			if earlier.isSame(e) && earlier.Response.Body != e.Response.Body {
				previous[earlier] = true
				break
			}
		}
	}
	var kept []*event
	isSettled := map[string]bool{} // by id of the revision
	for _, e := range t.events {
		keeps := e.part != reports.SetUp || e == t.shown || e == before || previous[e] || e.Method != "GET" || isWait[e.Operation]
		switch {
		case keeps:
		case !e.isOK():
			keeps = t.areKnown(e.ids) && !slices.ContainsFunc(kept, func(k *event) bool { return k.isSame(e) && k.Status == e.Status })
		case e.Operation == "get-revision":
			keeps = !isSettled[e.ids["revision"]]
		}
		if e.Operation == "get-revision" && IsSettled(statusOf(e)) {
			isSettled[e.ids["revision"]] = true
		}
		if keeps {
			kept = append(kept, e)
		}
	}
	return kept
}

func (t *teller) areKnown(ids map[string]string) bool {
	for kind, id := range ids {
		if o := t.objects[key(id)]; o == nil || o.kind != kind {
			return false
		}
	}
	return true
}

// isWait contains the reads that wait for the end of a run.
var isWait = map[string]bool{"join-run": true, "join-run-stream": true}

// statusOf returns the status of the revision or run in a response.
func statusOf(e *event) string { return e.response.Get("status").String() }

// IsSettled reports whether a revision with the status is neither created, built nor deployed any more.
func IsSettled(status string) bool {
	return status == "DEPLOYED" || status == "SKIPPED" || status == "INTERRUPTED" || strings.HasSuffix(status, "_FAILED")
}

// joinSimilar joins sequences of size steps that are repeated at least times times in a row. Each step of a joined
// sequence gets the requests of all repetitions.
func (t *teller) joinSimilar(steps []group, size, times int) []group {
	var joined []group
	for i := 0; i < len(steps); {
		n := 1
		for i+(n+1)*size <= len(steps) && t.areSimilar(steps[i:i+size], steps[i+n*size:i+(n+1)*size]) {
			n++
		}
		if n < times {
			joined = append(joined, steps[i])
			i++
			continue
		}
		for k := range size {
			var all group
			for j := range n {
				all = append(all, steps[i+j*size+k]...)
			}
			joined = append(joined, all)
		}
		i += n * size
	}
	return joined
}

func (t *teller) areSimilar(a, b []group) bool {
	for i := range a {
		x, y := a[i].last(), b[i].last()
		if t.isShown(a[i]) || t.isShown(b[i]) || x.Operation == "" || x.Operation != y.Operation ||
			x.caller != y.caller || x.Status != y.Status {
			return false
		}
	}
	return true
}
