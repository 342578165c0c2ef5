package evidence

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// noteOwnRequest notes what is wrong with a request of the suite, and the ids that its answer gives. It returns what the
// contract says against the request.
func (c *Collector) noteOwnRequest(id int, o *observed) (against []spec.Violation) {
	for _, given := range o.Given {
		c.given[given] = true
	}
	against = c.given.without(slices.Clone(o.Against), o.Path)
	if o.Wrong { // on purpose
		return against
	}
	for _, v := range against {
		c.mistakes = append(c.mistakes, fmt.Sprintf("exchange %d: our request for %s breaks the contract at %q: expected %s, sent %s", id, v.Operation, v.Pointer, v.Expected, v.Actual))
	}
	return against
}

// OwnMistakes returns what is wrong with our own requests.
func (c *Collector) OwnMistakes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.mistakes)
}

// givenIDs are ids that are no UUIDs and that the target has given to what it created. A request that carries one is no mistake
// of the suite: the answer that gave the id is judged.
type givenIDs map[string]bool

// maxGiven and maxGivenID bound what is kept of ids that are no UUIDs.
const maxGiven, maxGivenID = 1000, 8 << 10

// givenBy are such ids in an answer.
func (w *recorder) givenBy(a *client.Answer) (ids []string) {
	if a.Request.Side != spec.ControlPlane || !a.OK() || !a.IsJSON() {
		return nil
	}
	body := gjson.ParseBytes(a.Body)
	for _, path := range []string{"id", "latest_revision_id", "resources.#.id", "resources.#.latest_revision_id"} {
		found := body.Get(path)
		for _, id := range append(found.Array(), found) { // what is no string is sent as it is written
			if text := id.String(); id.Exists() && !isUUID(text) && len(text) <= maxGivenID && len(ids) < maxGiven {
				ids = append(ids, w.redact.Text(text))
			}
		}
	}
	return ids
}

// isUUID tells whether a text is a UUID as the contract has it, with hyphens.
func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// without leaves out what the contract says about such ids in the path of a request.
func (g givenIDs) without(found []spec.Violation, path string) []spec.Violation {
	carries := slices.ContainsFunc(strings.Split(path, "/"), func(segment string) bool {
		id, err := url.PathUnescape(segment)
		return err == nil && g[id]
	})
	if !carries {
		return found
	}
	return slices.DeleteFunc(found, func(v spec.Violation) bool { return strings.HasPrefix(v.Pointer, "/path/") })
}
