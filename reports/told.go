package reports

import (
	"slices"
	"strings"
)

// Tells tells whether the requirement with the ID is one of those that tell the same as this one.
func (q *Requirement) Tells(id string) bool { return Among(q.ToldBy, id) }

// Among tells whether an ID is in a list of IDs. A star at the end of one stands for any rest: "CP-AUTH-*".
func Among(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(each string) bool {
		family, all := strings.CutSuffix(each, "*")
		return id == each || all && strings.HasPrefix(id, family)
	})
}
