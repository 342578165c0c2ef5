package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
)

// maxAddress is the maximum length of the address of a request in bytes. Servers accept a few thousand.
const maxAddress = 8 << 10

// invalidAddress returns the reason why a request cannot be sent, or "": an ID or an address from the target changes the
// path, or is too long. The suite itself creates no such paths.
func invalidAddress(r exchange.Request) string {
	if size := len(r.Base) + len(r.Path); size > maxAddress {
		return fmt.Sprintf("not sent: the target gave an id or an address that makes a URL of %d bytes; at most %d are sent",
			size, maxAddress)
	}
	for segment := range strings.SplitSeq(r.Path, "/") {
		if !r.Dotted && (segment == "." || segment == "..") {
			return fmt.Sprintf("not sent: the target gave %q as an id, which leads to another path", segment)
		}
	}
	return ""
}

// hasDotSegments reports whether curl would shorten the path of a URL.
func hasDotSegments(url string) bool {
	segments := strings.Split(strings.ReplaceAll(strings.ToLower(url), "%2e", "."), "/")
	return slices.Contains(segments, ".") || slices.Contains(segments, "..")
}
