package client

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
)

// maxAddress bounds the address of a request, in bytes. Servers take a few thousand.
const maxAddress = 8 << 10

// unusable says why a request cannot be sent: what the target gave as an id or an address leads elsewhere, or has no
// bounds. It is "" for any other request. The suite itself sends no such path.
func unusable(r exchange.Request) string {
	if size := len(r.Base) + len(r.Path); size > maxAddress {
		return fmt.Sprintf("not sent: the target gave an id or an address that makes a URL of %d bytes; at most %d are sent",
			size, maxAddress)
	}
	for segment := range strings.SplitSeq(r.Path, "/") {
		if segment == "." || segment == ".." {
			return fmt.Sprintf("not sent: the target gave %q as an id, which leads to another path", segment)
		}
	}
	return ""
}
