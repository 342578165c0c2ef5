package suite

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// half has the numbers of responses of a half of the interface.
type half struct {
	side     spec.Side
	address  string
	statuses map[int]int // the number of responses with each status
	pages    int         // the number of responses that are HTML pages
}

// halves returns the halves that may be judged.
func (r *run) halves() []half {
	var all []half
	for _, side := range r.target.Sides() {
		address := r.target.Config.Target
		if side == spec.AgentServer {
			address = r.target.AgentAddress()
		}
		statuses, pages := r.target.Collector.Statuses(side, addressOf(r.target, side))
		all = append(all, half{side, r.target.Redact.Text(address), statuses, pages})
	}
	return all
}

func (h half) total() (n int) {
	for _, count := range h.statuses {
		n += count
	}
	return n
}

// status returns the common status of all responses. It returns 0 if there is none.
func (h half) status() int {
	if len(h.statuses) != 1 {
		return 0
	}
	return slices.Collect(maps.Keys(h.statuses))[0]
}

// sameResponses describes the responses of a half that is not a server of the interface, with the remedy: every response
// has the same status, or most are HTML pages. It names the half if the other half has different responses. It returns ""
// if there is no such half.
func sameResponses(halves []half) string {
	var responding []half
	areEqual := true // all responses have the same status
	for _, h := range halves {
		if h.total() == 0 {
			continue
		}
		responding = append(responding, h)
		areEqual = areEqual && h.status() != 0 && h.status() == responding[0].status()
	}
	if text := describePages(responding); text != "" {
		return text
	}
	for _, h := range responding {
		of := " of the " + strings.ReplaceAll(string(h.side), "-", " ")
		if areEqual || len(responding) == 1 {
			of = ""
		}
		if text := h.describe(of, areEqual); text != "" {
			return text
		}
	}
	return ""
}

// describePages describes the responses of several halves if most responses of each are HTML pages, and else returns "".
func describePages(halves []half) string {
	pages, total := 0, 0
	var addresses []string
	for _, h := range halves {
		if h.pages*2 <= h.total() || h.remedyFor(h.status()) != "" {
			return ""
		}
		pages, total = pages+h.pages, total+h.total()
		addresses = append(addresses, fmt.Sprintf("%s (%s)", h.address, addressKey(h.side)))
	}
	if len(halves) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d responses are HTML pages: check that %s are the base URLs, with their path prefixes", pages, total,
		strings.Join(addresses, " and "))
}

// describe describes the responses of a half that is not a server of the interface, or returns "". A server of the
// interface refuses requests without credentials, so not all of many responses can have the same status. If areEqual is
// set, all responses of both halves have the same status, and their number does not matter. of names the half in the
// text, or is "".
func (h half) describe(of string, areEqual bool) string {
	const many = 20
	status := h.status()
	isSame := status != 0 && (areEqual || h.total() >= many)
	always := fmt.Sprintf("every response%s had status %d: ", of, status)
	base := fmt.Sprintf("check that %s (%s) is the base URL, with its path prefix", h.address, addressKey(h.side))
	switch {
	case isSame && h.remedyFor(status) != "":
		return always + h.remedyFor(status)
	case h.pages*2 > h.total():
		return fmt.Sprintf("%d of %d responses%s are HTML pages: %s", h.pages, h.total(), of, base)
	case isSame && (areEqual || status == http.StatusNotFound):
		return always + base + "; agentconform doctor looks for it"
	}
	return ""
}

// remedyFor returns the remedy for a half that returns the same status for every request, or "" if its address may be
// wrong.
func (h half) remedyFor(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "check credentials and users"
	case status == http.StatusTooManyRequests:
		return "check the target's rate limit and load"
	case status >= 300 && status < 400:
		return "set " + addressKey(h.side) + " to the URL that it redirects to"
	case status >= 500:
		return "check the target's log; if a gateway or a proxy responds, start the server behind it, or correct " +
			addressKey(h.side)
	}
	return ""
}
