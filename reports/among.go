package reports

import (
	"slices"
	"strings"
)

// Among tells whether an ID is in a list of IDs. A star at the end of one stands for any rest: "CP-AUTH-*".
func Among(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(each string) bool {
		family, all := strings.CutSuffix(each, "*")
		return id == each || all && strings.HasPrefix(id, family)
	})
}
