package evidence

import (
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// givenIDs are ids that are no UUIDs and that the target has given to what it created. A request that carries one is no mistake
// of the suite: the answer that gave the id is judged.
type givenIDs map[string]bool

// givenBy are such ids in an answer.
func (c *Collector) givenBy(a *client.Answer) (ids []string) {
	if a.Request.Side != spec.ControlPlane || !a.OK() || !a.IsJSON() {
		return nil
	}
	body := gjson.ParseBytes(a.Body)
	for _, path := range []string{"id", "latest_revision_id", "resources.#.id", "resources.#.latest_revision_id"} {
		found := body.Get(path)
		for _, id := range append(found.Array(), found) {
			if id.Type == gjson.String && !isUUID(id.Str) && len(id.Str) <= maxGivenID && len(ids) < maxGiven {
				ids = append(ids, c.redact.Text(id.Str))
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
